"""Triples of passages, asked of a language model: what it will cost first, then how far it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from hyperhop.cli.reader import opened_chat
from hyperhop.cli.report import busy, say
from hyperhop.help import Extraction, Passage, estimate, extract

SHARES_TOLD = 10  # lines on how far it is, where there is no terminal to draw a bar on


@dataclass(frozen=True)
class Asking:
    """Which language model is asked, and how."""

    llm: str | None
    model: str | None
    calls: int
    concurrency: int | None
    prices: tuple[float, float] | None
    estimate_only: bool
    skip_failed: bool


def extracted(passages: Sequence[Passage], directory: Path, asking: Asking) -> Extraction | None:
    """Ask for the triples of all passages; what is finished is recorded in `directory`.

    None where only the estimate was wanted. Raises ValueError where passages failed, unless they
    are to be skipped; where all did, in any case.
    """
    with opened_chat(asking.llm, asking.model) as chat:
        expected = estimate(
            passages,
            calls=asking.calls,
            prices=asking.prices,
            directory=directory,
            model=chat,
        )
        recorded = f"; {expected.resumed:,} are finished in {directory}" if expected.resumed else ""
        if asking.estimate_only:
            print(f"{expected}{recorded}")
            return None
        say(f"{expected}{recorded}")
        finished = expected.resumed
        try:
            with busy(f"extracting with {chat.name}", "passages") as draw:
                tell = _in_shares(draw)

                def progress(done: int, of: int) -> None:
                    nonlocal finished
                    finished = done
                    tell(done, of)

                extraction = extract(
                    passages,
                    chat,
                    calls=asking.calls,
                    directory=directory,
                    concurrency=asking.concurrency,
                    progress=progress,
                )
        except KeyboardInterrupt:
            say(
                f"{finished:,} of {len(passages):,} passages are finished and recorded in "
                f"{directory}: the same command goes on from there"
            )
            raise
    for line in str(extraction.report()).splitlines():
        say(line)
    _check(extraction, directory, asking.skip_failed)
    return extraction


def prices_of(text: str | None) -> tuple[float, float] | None:
    """IN,OUT as two numbers. Raises typer.BadParameter."""
    if text is None:
        return None
    try:
        read, written = map(float, text.split(","))
    except ValueError:
        read = written = -1.0
    if not (0 <= read < float("inf") and 0 <= written < float("inf")):
        raise typer.BadParameter(f"--prices expects two numbers IN,OUT, got {text!r}")
    return read, written


def _in_shares(draw: Callable[[int, int], None]) -> Callable[[int, int], None]:
    """Also say it in lines, where nothing is drawn."""
    told = 0

    def tell(done: int, of: int) -> None:
        nonlocal told
        draw(done, of)
        share = done * SHARES_TOLD // max(of, 1)
        if share > told and done < of and not sys.stderr.isatty():
            say(f"{done:,} of {of:,} passages")
        told = share

    return tell


def _check(extraction: Extraction, directory: Path, skip_failed: bool) -> None:
    failed = extraction.failed
    if not failed:
        return
    first = f"first {failed[0].id!r}: {failed[0].reason}"
    if len(failed) == len(extraction.passages):
        raise ValueError(f"the extraction failed for every passage, {first}")
    if not skip_failed:
        raise ValueError(
            f"the extraction failed for {len(failed):,} of {len(extraction.passages):,} passages, "
            f"{first}; the same command asks for them again (the others are recorded in "
            f"{directory}), --skip-bad indexes them without triples"
        )
    say(f"indexed without triples: {len(failed):,} passages, {first}")
