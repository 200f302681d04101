"""How the numbers of a saved directory look on a terminal."""

from __future__ import annotations

from typing import Any

from rich import filesize
from rich.table import Table

from hyperhop._lines import on_one_line
from hyperhop.cli.report import console


def show_table(columns: list[str], rows: list[list[Any]]) -> None:
    """Print a table of names and numbers; a name that is too long for the screen ends in "…"."""
    cells = [[on_one_line(name), *(f"{n:,}" for n in numbers)] for name, *numbers in rows]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    widths = [max(len(row[place]) for row in [columns, *cells]) for place in range(1, len(columns))]
    screen = console()
    # Numbers are never shortened: what they leave of the screen is the names'.
    room = max(screen.width - sum(width + 2 for width in widths), len("..."))
    table.add_column(columns[0], no_wrap=True, overflow="ellipsis", max_width=room)
    for column, width in zip(columns[1:], widths, strict=True):
        table.add_column(column, justify="right", no_wrap=True, min_width=width)
    for row in cells:
        table.add_row(*row)
    screen.print()
    screen.print(table)


def setting_words(value: Any) -> str:
    """A setting on one line."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {setting_words(one)}" for name, one in value.items())
    return str(value)


def size_words(sizes: dict[str, int] | None) -> str:
    """Bytes by kind, and in all."""
    if sizes is None:
        return "not told by this system"
    parts = ", ".join(f"{kind} {filesize.decimal(size)}" for kind, size in sizes.items())
    return f"{filesize.decimal(sum(sizes.values()))} ({parts})"


def checked_words(verified: bool) -> str:
    """Whether the contents of every file were compared with their checksums."""
    return "verified" if verified else "not verified (--verify reads every file)"
