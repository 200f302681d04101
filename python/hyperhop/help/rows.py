"""Rows of named values: JSON Lines, Parquet and Arrow."""

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

from hyperhop._extras import optional
from hyperhop.graph.errors import MalformedLine, UnreadableFile
from hyperhop.graph.read.open import BOM, opened, opened_raw, suffixes
from hyperhop.graph.read.report import shortened

JSON_LINES = (".jsonl", ".ndjson")
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
SUFFIXES = (*JSON_LINES, *PARQUET, *ARROW)

_BATCH_ROWS = 1024

Row = dict[str, Any]
Skip = Callable[[MalformedLine], object]


def read_rows(path: str | os.PathLike[str], skip: Skip | None = None) -> Iterator[tuple[int, Row]]:
    """Number and values of each row, numbers from 1 (of JSON Lines those of the lines).

    Blank lines are passed over. `skip` is told of a line that is no JSON object, which is then
    left out; without it MalformedLine is raised. Raises UnreadableFile where the file is of another
    form, ImportError for a table without the extra `arrow`. Memory: one row, or a batch of a table.
    """
    name = os.fspath(path)
    suffix, compression = suffixes(name)
    if suffix in JSON_LINES:
        return _of_json_lines(name, skip)
    if suffix in (*PARQUET, *ARROW) and not compression:
        return _of_table(name, "Parquet" if suffix in PARQUET else "Arrow")
    raise UnreadableFile(
        f"{name} is no file of rows: expected one of {', '.join(SUFFIXES)}, the first two also "
        "with .gz or .zst"
    )


def _of_json_lines(name: str, skip: Skip | None) -> Iterator[tuple[int, Row]]:
    with opened(name, None) as (stream, _):
        for number, line in enumerate(stream, 1):
            text = line.removeprefix(BOM) if number == 1 else line
            if not text.strip():
                continue
            try:
                row = json.loads(text.decode("utf-8"))
                fault = "" if isinstance(row, dict) else "another value"
            except (ValueError, RecursionError) as error:
                fault = f"no JSON ({error})"
            if not fault:
                yield number, row
                continue
            found = f"{fault} in {shortened(text.decode('utf-8', 'backslashreplace').rstrip())}"
            malformed = MalformedLine(name, number, "a JSON object", found)
            if skip is None:
                raise malformed
            skip(malformed)


def _of_table(name: str, form: str) -> Iterator[tuple[int, Row]]:
    arrow = optional("pyarrow", f"reading {form}", "arrow")
    dataset = optional("pyarrow.dataset", f"reading {form}", "arrow")
    opened_raw(name).close()  # says it where there is no such file
    try:
        table = dataset.dataset(name, format="parquet" if form == "Parquet" else "ipc")
        number = 0
        for batch in table.to_batches(batch_size=_BATCH_ROWS):
            for row in batch.to_pylist():
                number += 1
                yield number, row
    except (arrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk, not the data
        found = str(error).partition("\n")[0]
        raise UnreadableFile(f"{name} cannot be read as {form}: {found}") from None


def columns(path: str | os.PathLike[str]) -> list[str]:
    """The names that the first row has; of a table those of its columns. Empty without rows."""
    return next((list(row) for _, row in read_rows(path)), [])
