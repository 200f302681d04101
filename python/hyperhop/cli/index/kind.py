"""Whether an input holds triples or passages."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from hyperhop._extras import optional
from hyperhop.graph.read.open import BOM, opened, suffixes

TEXT = ".txt"
OF_TRIPLES = (".tsv", ".csv", ".nt")
OF_PASSAGES = (".md", ".json")
OF_ROWS = (".jsonl", ".ndjson")
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
TEXT_COLUMN = "text"


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
    if suffix in OF_ROWS:
        return _of_json_lines(source)
    if suffix in (*PARQUET, *ARROW):
        return _of_columns(_columns(source, suffix))
    raise ValueError(
        f"the name of {source} does not tell what it holds: say --passages, or --triples with a "
        "--delimiter"
    )


def _of_text(source: Path) -> Decision:
    """Two tabs in the first line are a triple; text rarely has them."""
    if _first_line(source).count(b"\t") == 2:
        return Decision(Kind.TRIPLES, "two tabs in its first line")
    return Decision(Kind.PASSAGES, "no triple in its first line")


def _of_json_lines(source: Path) -> Decision:
    try:
        row = json.loads(_first_line(source))
    except (ValueError, RecursionError):
        return Decision(Kind.TRIPLES, "no text in its first line")  # whose reader names the fault
    return _of_columns(list(row) if isinstance(row, dict) else [])


def _of_columns(names: list[str]) -> Decision:
    if TEXT_COLUMN in names:
        return Decision(Kind.PASSAGES, f"it has {TEXT_COLUMN!r}")
    return Decision(Kind.TRIPLES, f"it has no {TEXT_COLUMN!r}")


def _first_line(source: Path) -> bytes:
    """The first line that is not blank, without a byte order mark."""
    with opened(str(source), None) as (stream, _):
        for line in stream:
            line = line.removeprefix(BOM)
            if line.strip():
                return line.rstrip(b"\r\n")
    return b""


def _columns(source: Path, suffix: str) -> list[str]:
    arrow = optional("pyarrow", "reading a table", "arrow")
    dataset = optional("pyarrow.dataset", "reading a table", "arrow")
    form = "parquet" if suffix in PARQUET else "ipc"
    try:
        return list(dataset.dataset(str(source), format=form).schema.names)
    except arrow.ArrowException:
        return []  # the reader of triples names the fault
