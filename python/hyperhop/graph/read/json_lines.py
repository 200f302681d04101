"""JSON Lines: an object or an array of three on each line."""

import json
from typing import Any

from hyperhop.graph.read.columns import Columns, need_columns
from hyperhop.graph.read.open import BOM, Progress, opened
from hyperhop.graph.read.report import Intake, shortened

SUFFIXES = (".jsonl", ".ndjson")
_BATCH_ROWS = 4096


def read_json_lines(
    name: str, columns: Columns | None, skip_bad: bool, progress: Progress | None
) -> Intake:
    """Triples of a file of JSON Lines; the first object tells the keys if `columns` does not."""
    expected = "an object with a head, a relation and a tail, or an array of the three"
    intake = Intake(name, "JSON Lines", "line", expected, skip_bad=skip_bad)
    batch: list[list[str]] = []
    numbers: list[int] = []
    with opened(name, progress) as (stream, report):

        def flush() -> None:
            intake.check(intake.builder.add_rows(batch, numbers))
            batch.clear()
            numbers.clear()
            report()

        for number, line in enumerate(stream, 1):
            if number == 1:
                line = line.removeprefix(BOM)
            if line.isspace() or not line:
                continue
            try:
                value = _value(line)
                if columns is None and isinstance(value, dict) and len(value) >= 3:
                    columns = need_columns(list(value), None, f"{name}, line {number}")
                row = _row(value, columns)
            except (_BadRow, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
                flush()
                text = line.decode("utf-8", "backslashreplace").rstrip()
                intake.reject(number, f"{_reason(error)} in {shortened(text)}")
                continue
            batch.append(row)
            numbers.append(number)
            if len(batch) == _BATCH_ROWS:
                flush()
        flush()
    return intake


class _BadRow(ValueError):
    """A line of JSON that is not a triple."""


def _value(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise
    except ValueError:  # Python's own limit, against inputs that take quadratic time
        raise _BadRow("a whole number of too many digits") from None


def _row(value: Any, columns: Columns | None) -> list[str]:
    if isinstance(value, list):
        if len(value) != 3:
            raise _BadRow(f"{len(value)} values")
        named = zip(("value 1", "value 2", "value 3"), value, strict=True)
    elif isinstance(value, dict) and columns is not None:
        head, relation, tail = map(value.get, columns)
        are_text = type(head) is type(relation) is type(tail) is str
        if are_text and head and relation and tail:  # the usual line
            return [head, relation, tail]
        absent = [column for column in columns if column not in value]
        if absent:
            raise _BadRow(f"no {absent[0]!r}")
        named = zip(columns, (value[column] for column in columns), strict=True)
    else:
        raise _BadRow(_kind(value))
    return [_text(column, entry) for column, entry in named]


def _text(column: str, value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise _BadRow(f"{column} is {_kind(value)}")
    if not value:
        raise _BadRow(f"{column} is empty")
    return value


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    kinds = {bool: "true or false", list: "an array", dict: "an object", str: "a string"}
    return kinds.get(type(value), "a number")


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON ({error.msg} at character {error.pos + 1})"
    if isinstance(error, UnicodeDecodeError):
        return f"invalid UTF-8 at byte {error.start + 1}"
    return str(error) if isinstance(error, _BadRow) else "JSON that is too deep"
