"""Question files, plain or .gz: lines, JSON Lines and JSON, every fault with its place."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from hyperhop.graph import MalformedLine
from hyperhop.graph.read.open import BOM, opened

Value = TypeVar("Value")

_NAMES = {str: "text", int: "a whole number", list: "a list", dict: "an object"}


@dataclass(frozen=True)
class Entry:
    """One JSON object of a file; `number` counts its lines or, with unit "item", its objects."""

    values: dict[str, Any]
    source: str
    number: int
    unit: str

    def take(self, key: str, kind: type[Value], default: Value | None = None) -> Value:
        """The value of `key`; `default` where the key is missing or null.

        MalformedLine where it is of another kind, or missing without a default.
        """
        value = self.values.get(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, kind):
            raise self.wrong(f"{key!r} to be {_NAMES[kind]}", repr(value))
        return value

    def texts(self, key: str, default: list[str] | None = None) -> list[str]:
        """The list of str that stands at `key`, as `take`."""
        values = self.take(key, list, default)
        if not all(isinstance(value, str) for value in values):
            raise self.wrong(f"{key!r} to be a list of text", repr(values))
        return values

    def text_lists(self, key: str, default: list[list[str]] | None = None) -> list[list[str]]:
        """The list of lists of str that stands at `key`, as `take`."""
        values = self.take(key, list, default)
        if not all(isinstance(v, list) and all(isinstance(s, str) for s in v) for v in values):
            raise self.wrong(f"{key!r} to be a list of lists of text", repr(values))
        return values

    def inside(self, key: str, default: list[Any] | None = None) -> "list[Entry]":
        """The list of objects that stands at `key`, as `take`."""
        values = self.take(key, list, default)
        if not all(isinstance(value, dict) for value in values):
            raise self.wrong(f"{key!r} to be a list of objects", repr(values))
        return [Entry(value, self.source, self.number, self.unit) for value in values]

    def wrong(self, expected: str, found: str) -> MalformedLine:
        """The error to raise, with file and place; a long `found` is cut."""
        shown = found if len(found) <= 200 else f"{found[:200]}..."
        return MalformedLine(self.source, self.number, expected, shown, self.unit)


def located(path: str | Path) -> Path:
    """The file of this name, or that with .gz after it. FileNotFoundError without either."""
    plain = Path(path)
    packed = plain.with_name(f"{plain.name}.gz")
    if not plain.exists() and packed.exists():
        return packed
    return plain  # whose opening says that it is not there


def lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """(number, line) of every line that is not blank, without its end."""
    name = str(located(path))
    with opened(name, None) as (stream, _):
        for number, raw in enumerate(stream, 1):
            try:
                line = (raw.removeprefix(BOM) if number == 1 else raw).decode().rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise MalformedLine(name, number, "UTF-8", str(error)) from None
            if line.strip():
                yield number, line


def json_lines(path: str | Path) -> Iterator[Entry]:
    """One object a line."""
    name = str(located(path))
    for number, line in lines(path):
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise MalformedLine(name, number, "a JSON object", str(error)) from None
        yield _entry(value, name, number, "line")


def json_items(path: str | Path, key: str | None = None) -> Iterator[Entry]:
    """The objects of a JSON list, or of the list that stands at `key` of a JSON object."""
    document, name = _document(path)
    if key is not None:
        document = _entry(document, name, 1, "item").take(key, list)
    if not isinstance(document, list):
        found = type(document).__name__
        raise MalformedLine(name, 1, "a JSON list of questions", found, "item")
    for number, value in enumerate(document, 1):
        yield _entry(value, name, number, "item")


def holds_object(path: str | Path) -> bool:
    """Whether a JSON file holds an object and no list, by its first character."""
    with opened(str(located(path)), None) as (stream, _):
        return stream.read(64).removeprefix(BOM).lstrip().startswith(b"{")


def json_object(path: str | Path) -> Entry:
    """The JSON object that a file holds."""
    document, name = _document(path)
    return _entry(document, name, 1, "item")


def _document(path: str | Path) -> tuple[Any, str]:
    """What a JSON file holds, and its name."""
    name = str(located(path))
    with opened(name, None) as (stream, _):
        try:
            return json.loads(stream.read().removeprefix(BOM)), name
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
            raise MalformedLine(name, line, "JSON", str(error)) from None


def _entry(value: Any, source: str, number: int, unit: str) -> Entry:
    if not isinstance(value, dict):
        shown = repr(value)[:200]
        raise MalformedLine(source, number, "a JSON object", shown, unit)
    return Entry(value, source, number, unit)
