"""Settings as TOML: tables of plain values."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Tables = Mapping[str, Mapping[str, Any]]


def write_toml(path: str | Path, tables: Tables) -> None:
    """Write tables of text, numbers, truth values and lists of them. TypeError for others."""
    Path(path).write_text(dump_toml(tables), encoding="utf-8", newline="\n")


def dump_toml(tables: Tables) -> str:
    """The text of `write_toml`. Floats keep every bit; None is left out: TOML has no such value."""
    parts = []
    for title, values in tables.items():
        lines = [f"[{title}]"]
        lines += [
            f"{name} = {_value(value)}" for name, value in values.items() if value is not None
        ]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def read_toml(path: str | Path) -> dict[str, dict[str, Any]]:
    """The tables of a file. ValueError where it is not TOML, or has values outside of a table."""
    try:
        with open(path, "rb") as file:
            found = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not TOML: {error}") from None
    for name, value in found.items():
        if not isinstance(value, dict):
            raise ValueError(f"{path}: expected tables only, got {name} = {value!r}")
    return found


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    raise TypeError(f"write_toml: expected text, numbers or lists, got {type(value).__name__}")
