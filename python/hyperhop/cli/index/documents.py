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
from hyperhop.help.given import OPENIE, given_triples, holds_triples
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
    storage: str
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
        found = _given(wanted.given, passages)
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
    suffix = suffixes(source.name)[0]
    if suffix == OPENIE:
        extraction = read_openie(source)
        return [one.passage for one in extraction.passages], extraction
    passages = read_passages(source, **wanted.cutting)
    rows = suffix in SUFFIXES and not source.is_dir()
    if rows and passages and holds_triples(source):
        return passages, given_triples(source, passages).extraction
    return passages, None


def _given(path: Path, passages: Sequence[Passage]) -> Extraction:
    given = given_triples(path, passages)
    say(f"{path}: triples of {given.matched:,} of {len(passages):,} passages")
    if given.unknown:
        say(f"{path}: {given.unknown:,} entries are about no passage, and were left out")
    return given.extraction
