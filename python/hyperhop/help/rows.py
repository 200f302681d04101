"""Rows of named values: JSON Lines, a list in a JSON file, Parquet."""

import json
import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from hyperhop._extras import optional
from hyperhop.graph import MalformedLine, UnreadableFile
from hyperhop.graph.read.open import BOM, opened, opened_raw, suffixes

JSON_LINES = (".jsonl", ".ndjson")
JSON = ".json"
PARQUET = (".parquet", ".pq")
SUFFIXES = (*JSON_LINES, JSON, *PARQUET)

Skip = Callable[[MalformedLine | UnreadableFile], object]


class Row(NamedTuple):
    """One row, where it stands and what such places are called: "line", "item" or "row"."""

    number: int
    unit: str
    value: Any


def read_rows(
    path: str | os.PathLike[str], expected: str = "JSON", skip: Skip | None = None
) -> Iterator[Row]:
    """The rows of a file, by its suffix; numbers from 1, of JSON Lines those of the lines.

    Blank lines are passed over. A line that is no JSON is told to `skip` and left out; without
    `skip` it raises MalformedLine, which says what was `expected`. Raises UnreadableFile where the
    file is of another form, ImportError for Parquet without the extra `arrow`. Memory: one line, a
    batch of a table, or all of a JSON file.
    """
    name = os.fspath(path)
    kind = suffixes(name)[0]
    if kind in JSON_LINES:
        return _json_lines(name, expected, skip)
    if kind == JSON:
        return _json(name)
    if kind in PARQUET:
        return _parquet(name)
    raise UnreadableFile(f"{name} is no file of rows: expected one of {', '.join(SUFFIXES)}")


def first_value(path: str | os.PathLike[str]) -> Any:
    """What the first row holds, its names folded; None without rows."""
    first = next(iter(read_rows(path)), None)
    value = None if first is None else first.value
    return folded(value) if isinstance(value, dict) else value


def holds_list(path: str | os.PathLike[str]) -> bool:
    """Whether a JSON file begins like a list, not like an object."""
    with opened(os.fspath(path), None) as (stream, _):
        start = next((line for line in stream if line.removeprefix(BOM).strip()), b"")
    return start.removeprefix(BOM).lstrip().startswith(b"[")


def folded(row: dict[Any, Any]) -> dict[str, Any]:
    """The row with its names as they are looked for: in lower case, without white space."""
    return {str(key).strip().casefold(): value for key, value in row.items()}


def _json_lines(name: str, expected: str, skip: Skip | None) -> Iterator[Row]:
    with opened(name, None) as (stream, _):
        for number, line in enumerate(stream, 1):
            data = line.removeprefix(BOM) if number == 1 else line
            if not data.strip():
                continue
            try:
                value = json.loads(data.decode("utf-8"))
            except (ValueError, RecursionError) as error:
                malformed = MalformedLine(name, number, expected, f"no JSON: {error}")
                if skip is None:
                    raise malformed from None
                skip(malformed)
                continue
            yield Row(number, "line", value)


def _json(name: str) -> Iterator[Row]:
    with opened(name, None) as (stream, _):
        data = stream.read()
    try:
        content = json.loads(data.removeprefix(BOM))
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(f"{name} is not JSON: {error}") from None
    if not isinstance(content, list):
        hint = "; read_openie reads it" if isinstance(content, dict) and "docs" in content else ""
        raise UnreadableFile(f"{name} holds no list of rows{hint}")
    for number, value in enumerate(content, 1):
        yield Row(number, "item", value)


def _parquet(name: str) -> Iterator[Row]:
    pa = optional("pyarrow", "reading Parquet", "arrow")
    parquet = optional("pyarrow.parquet", "reading Parquet", "arrow")
    with opened_raw(name) as raw:
        number = 0
        try:
            for batch in parquet.ParquetFile(raw).iter_batches():
                for value in batch.to_pylist():
                    number += 1
                    yield Row(number, "row", value)
        except pa.ArrowException as error:
            raise UnreadableFile(f"{name} cannot be read as Parquet: {error}") from None
