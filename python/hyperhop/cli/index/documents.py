"""Passages into a directory that HELP asks."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from hyperhop.cli.index.extraction import Asking, extracted
from hyperhop.cli.report import busy, say
from hyperhop.cli.vectors import forget, kept
from hyperhop.graph import store as stores
from hyperhop.graph.read.open import suffixes
from hyperhop.help import HELP, Extraction, Passage, read_openie, read_passages, store
from hyperhop.help.given import given_triples, holds_triples, is_openie
from hyperhop.help.index import Storage
from hyperhop.help.rows import SUFFIXES
from hyperhop.help.settings import RetrievalSettings
from hyperhop.text import encoder_for, encoder_settings


@dataclass(frozen=True)
class Documents:
    """How passages are read, where their triples come from, and how they are encoded.

    With `asking` a language model extracts the triples; without, and without `no_triples`, they
    are read from `given`, or from the input itself. `cutting` are arguments of `read_passages`,
    `retrieval` of HELP.
    """

    encoder: str | None
    given: Path | None
    asking: Asking | None
    no_triples: bool
    cutting: dict[str, Any]
    synonyms: float | None
    storage: Storage
    retrieval: dict[str, Any]
    skip_bad: bool


def index_documents(source: Path, directory: Path, why: str, wanted: Documents) -> None:
    """Make a directory of passages and their triples; `why` says what told that it holds them.

    What can be refused is refused before anything is extracted or encoded.
    """
    stores.meta_to_replace(directory, store.KIND)
    RetrievalSettings(**wanted.retrieval)
    encoder = encoder_for(None, wanted.encoder)
    with busy(f"reading {source}"):
        passages, found = _read(source, wanted)
    if not passages:
        raise ValueError(f"{source} holds no passage")
    if wanted.asking is not None:
        say(f"{source}: {len(passages):,} passages")
        found = extracted(passages, directory, wanted.asking)
        if found is None:
            return
    elif wanted.given is not None:
        found = _given(wanted.given, passages, wanted.skip_bad)
    elif found is None and not wanted.no_triples:
        raise typer.BadParameter(
            f"{source} holds {len(passages):,} passages without triples, along which HELP finds "
            "its way: name a language model that extracts them (--llm URL), a file that holds them "
            "(--triples-from FILE), or say --no-triples for plain vector search"
        )
    settings = encoder_settings(encoder)
    forget(settings)
    with busy("encoding passages and triples", "texts") as told:
        system = HELP.build(
            passages,
            None if wanted.no_triples else found,
            kept(encoder),
            storage=wanted.storage,
            synonyms=wanted.synonyms,
            progress=told,
            **wanted.retrieval,
        )
    with busy(f"saving {directory}"):
        system.save(directory)
    index = system.index
    bare = int((index.triple_counts == 0).sum())
    print(f"{source}: passages ({why})")
    print(
        f"{directory}: {index.num_passages:,} passages ({bare:,} without triples), "
        f"{index.num_triples:,} triples, {index.num_entities:,} entities, "
        f"{index.num_relations:,} relations"
    )
    if wanted.synonyms is not None:
        print(f"{len(index.links):,} pairs of entities linked as synonyms")
    print(f'Ask it: hyperhop ask {shlex.quote(str(directory))} "your question"')


def _read(source: Path, wanted: Documents) -> tuple[list[Passage], Extraction | None]:
    """The passages, and their triples if the input has them."""
    if not source.is_dir() and is_openie(source):
        extraction = read_openie(source)
        _say_losses(source, extraction)
        return [one.passage for one in extraction.passages], extraction
    skip = say_left_out if wanted.skip_bad else None
    passages = read_passages(source, **wanted.cutting, skip=skip)
    rows = not source.is_dir() and suffixes(source.name)[0] in SUFFIXES
    if not rows or not passages or not holds_triples(source):
        return passages, None
    extraction = given_triples(source, passages, lambda fault: None).extraction
    _say_losses(source, extraction)
    return passages, extraction


def say_left_out(fault: Exception) -> None:
    """Tell of a row or a file that was left out."""
    say(f"left out: {fault}")


def _say_losses(path: Path, extraction: Extraction) -> None:
    """Tell what could not be used of triples that a file gives."""
    failed = extraction.failed
    if failed:
        say(
            f"{path}: {len(failed):,} passages without usable triples, first {failed[0].id!r}: "
            f"{failed[0].reason}"
        )
    report = extraction.report()
    for what, counts in (("mended", report.mended), ("dropped", report.dropped)):
        if counts:
            listed = ", ".join(f"{reason} ({count:,})" for reason, count in counts.items())
            say(f"{path}: {what} {listed}")


def _given(path: Path, passages: Sequence[Passage], skip_bad: bool) -> Extraction:
    given = given_triples(path, passages, say_left_out if skip_bad else None)
    say(f"{path}: triples of {given.matched:,} of {len(passages):,} passages")
    if given.unknown:
        say(f"{path}: {given.unknown:,} entries are about no passage, and were left out")
    _say_losses(path, given.extraction)
    return given.extraction
