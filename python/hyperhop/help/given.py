"""Triples that are given for passages, in the same file or in another one."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hyperhop.graph.read.open import suffixes
from hyperhop.help.corpus import row_id
from hyperhop.help.extracted import ExtractedPassage, Extraction, settled
from hyperhop.help.openie import read_openie
from hyperhop.help.passages import Passage
from hyperhop.help.rows import JSON, Skip, first_value, folded, holds_list, read_rows
from hyperhop.help.triples import Found, add_triples

_KEY = "triples"
_NOT_GIVEN = "the file gives it no triple"


@dataclass(frozen=True)
class GivenTriples:
    """Triples by passage, all passages in order, and how well file and passages agree.

    Attributes:
        extraction: with "empty" passages where the file gives none.
        matched: how many passages the file knows.
        unknown: how many entries of the file are about no passage.
    """

    extraction: Extraction
    matched: int
    unknown: int


def holds_triples(path: str | os.PathLike[str]) -> bool:
    """Has the first row of this file (see `read_rows`) a key "triples"?"""
    first = first_value(path)
    return isinstance(first, dict) and _KEY in first


def is_openie(path: str | os.PathLike[str]) -> bool:
    """Is it a JSON file that holds an object, as HippoRAG's OpenIE writes it?"""
    return suffixes(os.fspath(path))[0] == JSON and not holds_list(path)


def given_triples(
    path: str | os.PathLike[str], passages: Sequence[Passage], skip: Skip | None = None
) -> GivenTriples:
    """Read the triples of `passages` from a file.

    An OpenIE file of HippoRAG (.json) is matched by the passages' text with their title; rows (see
    `read_rows`) with "triples", a list of [head, relation, tail], by their id, or by their position
    where they have none, as `read_passages` does. Triples are mended, dropped and counted as those
    of a model's reply; a passage whose triples are no list has failed. Where several entries are
    about one passage, the last one counts. `skip` is as for `read_rows`.

    Raises ValueError where nothing in the file is about one of the passages, and what reading it
    raises. O(bytes of the file).
    """
    if is_openie(path):
        by = "text"
        entries = {one.passage.full_text: one for one in read_openie(path).passages}
        found = [entries.get(passage.full_text) for passage in passages]
        unknown = len(entries.keys() - {passage.full_text for passage in passages})
    else:
        by = "id"
        rows = dict(_rows(path, skip))
        found = [
            _of_row(passage, rows[passage.id]) if passage.id in rows else None
            for passage in passages
        ]
        unknown = len(rows.keys() - {passage.id for passage in passages})
    matched = sum(one is not None for one in found)
    if passages and not matched:
        raise ValueError(f"{os.fspath(path)} gives triples to none of the passages, by their {by}")
    told = [
        ExtractedPassage(passage, "empty", reason=_NOT_GIVEN)
        if one is None
        else replace(one, passage=passage)
        for passage, one in zip(passages, found, strict=True)
    ]
    return GivenTriples(Extraction(told), matched, unknown)


def _rows(path: str | os.PathLike[str], skip: Skip | None) -> Iterator[tuple[str, Any]]:
    """Id and triples of the rows that have some."""
    for position, row in enumerate(read_rows(path, skip=skip)):
        if isinstance(row.value, dict):
            keys = folded(row.value)
            if keys.get(_KEY) is not None:
                yield row_id(keys, position), keys[_KEY]


def _of_row(passage: Passage, triples: Any) -> ExtractedPassage:
    if isinstance(triples, str | Mapping) or not isinstance(triples, Sequence):
        kind = type(triples).__name__
        return ExtractedPassage(passage, "failed", reason=f"triples is no list but {kind}")
    found = Found()
    add_triples(found, triples)
    return settled(passage, found)
