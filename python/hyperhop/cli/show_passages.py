"""How passages and HyperNodes look on a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from hyperhop._lines import on_one_line
from hyperhop.cli.report import console
from hyperhop.cli.show import closing_lines, counted, reading_lines
from hyperhop.evidence import Answer, Evidence, EvidenceHyperNode, EvidencePassage

HYPERNODES_SHOWN = 5
TEXT_LINES = 2
NARROWEST = 20  # columns of text that are kept on the narrowest screen
FOUND = {"path": "facts", "dense": "text"}


def show_passages(answer: Answer, evidence: Evidence, explain: bool) -> None:
    """Print an answer, its passages, with `explain` its HyperNodes and how it was found.

    Passages that the answer cites are marked.
    """
    print(on_one_line(answer.text))
    screen = console()
    screen.print()
    screen.print(passage_table(evidence.passages, answer.citations, screen.width))
    if explain:
        screen.print()
        screen.print(hypernode_table(evidence.hypernodes[:HYPERNODES_SHOWN]))
        if len(evidence.hypernodes) > HYPERNODES_SHOWN:
            print(f"... {len(evidence.hypernodes)} HyperNodes in all (--json lists them)")
    print("\n".join(closing_lines(answer, evidence)).removeprefix("\n"))
    if explain:
        print("\n".join([*_scoring_lines(evidence), *reading_lines(answer, evidence)]))


def passage_table(passages: Sequence[EvidencePassage], cited: Collection[int], width: int) -> Table:
    """Number, mark if cited, what found it, score; title, id and the beginning of the text."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("cited", no_wrap=True)
    table.add_column("found by", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("passage", ratio=1, overflow="fold")
    room = TEXT_LINES * max(width - 36, NARROWEST)
    for number, passage in enumerate(passages):
        table.add_row(
            str(number + 1),
            "*" if number in cited else "",
            FOUND[passage.found],
            f"{passage.score:.3f}",
            _shown(passage, room),
        )
    return table


def hypernode_table(hypernodes: Sequence[EvidenceHyperNode]) -> Table:
    """Distance from the question, the facts, and the numbers of the passages that state them."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("distance", justify="right", no_wrap=True)
    table.add_column("HyperNode", ratio=1, overflow="fold")
    table.add_column("passages", no_wrap=True)
    for node in hypernodes:
        facts = "\n".join(on_one_line(" - ".join(triple)) for triple in node.triples)
        numbers = ", ".join(str(place + 1) for place in node.passages)
        table.add_row(f"{node.distance:.3f}", facts, numbers)
    return table


def _shown(passage: EvidencePassage, room: int) -> Text:
    name = passage.id if passage.title is None else f"{passage.title}  ({passage.id})"
    text = textwrap.shorten(passage.text, room, placeholder=" ...")
    return Text.assemble((on_one_line(name), "bold"), "\n", on_one_line(text) or "(no text)")


def _scoring_lines(evidence: Evidence) -> list[str]:
    scoring = evidence.scoring
    if scoring is None:
        return []
    encoded = counted(scoring.encoder_calls, "HyperNode")
    return [
        "",
        f"Scored by {scoring.scorer}: {encoded} encoded for this question, "
        f"{scoring.cache_hits} encoded before",
    ]
