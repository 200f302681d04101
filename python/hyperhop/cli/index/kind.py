"""Whether an input holds triples or passages."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from hyperhop.graph import MalformedLine, UnreadableFile
from hyperhop.graph.read.open import opened, suffixes
from hyperhop.help.rows import SUFFIXES, columns

TEXT = ".txt"
OF_TRIPLES = (".tsv", ".csv", ".nt")
OF_PASSAGES = (".md", ".json")
TEXT_KEY = "text"


class Kind(StrEnum):
    """What an input holds."""

    TRIPLES = "triples"
    PASSAGES = "passages"


class Decision(NamedTuple):
    """What an input holds, and what tells so."""

    kind: Kind
    why: str


def kind_of(source: Path) -> Decision:
    """Decide by name, and where the name leaves it open by the first row or the columns.

    Raises FileNotFoundError, ValueError where nothing tells, and ImportError where a table needs
    the extra `arrow`.
    """
    if source.is_dir():
        return Decision(Kind.PASSAGES, "a folder")
    if not source.exists():
        raise FileNotFoundError(f"there is no file or folder {source}")
    suffix = suffixes(source.name)[0]
    if suffix in OF_TRIPLES:
        return Decision(Kind.TRIPLES, suffix)
    if suffix in OF_PASSAGES:
        return Decision(Kind.PASSAGES, suffix)
    if suffix == TEXT:
        return _of_text(source)
    if suffix in SUFFIXES:
        return _of_rows(source)
    raise ValueError(
        f"the name of {source} does not tell what it holds: say --passages, or --triples with a "
        "--delimiter"
    )


def _of_text(source: Path) -> Decision:
    """Two tabs in the first line are a triple; prose rarely has them."""
    with opened(str(source), None) as (stream, _):
        first = next((line for line in stream if line.strip()), b"")
    if first.count(b"\t") == 2:
        return Decision(Kind.TRIPLES, "two tabs in its first line")
    return Decision(Kind.PASSAGES, "no triple in its first line")


def _of_rows(source: Path) -> Decision:
    try:
        named = TEXT_KEY in columns(source)
    except (MalformedLine, UnreadableFile):
        named = False  # reading triples tells what is wrong, if anything is
    if named:
        return Decision(Kind.PASSAGES, f"its rows have {TEXT_KEY!r}")
    return Decision(Kind.TRIPLES, f"its rows have no {TEXT_KEY!r}")
