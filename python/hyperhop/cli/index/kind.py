"""Whether an input holds triples or passages."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from hyperhop.graph import MalformedLine, UnreadableFile
from hyperhop.graph.read.open import opened, suffixes
from hyperhop.help.corpus import TEXT, TEXTS
from hyperhop.help.rows import JSON, SUFFIXES, first_value

EITHER = ".txt"
OF_TRIPLES = (".tsv", ".csv", ".nt", ".arrow", ".feather", ".ipc")


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
    if suffix == EITHER:
        return _of_text(source)
    if suffix in TEXTS or suffix == JSON:
        return Decision(Kind.PASSAGES, suffix)
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
        first = first_value(source)
    except (MalformedLine, UnreadableFile):
        first = None  # reading triples tells what is wrong, if anything is
    if isinstance(first, str):
        return Decision(Kind.PASSAGES, "its rows are texts")
    key = next((name for name in TEXT if isinstance(first, dict) and name in first), None)
    if key is None:
        return Decision(Kind.TRIPLES, "its rows have no text")
    return Decision(Kind.PASSAGES, f"its rows have {key!r}")
