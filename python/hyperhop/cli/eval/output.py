"""The files that results are written to."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from hyperhop.cli.report import console
from hyperhop.evaluate import plots, tables


@dataclass(frozen=True)
class Files:
    """Where to write the same results, in four forms, and records; None leaves one out."""

    json: Path | None = None
    markdown: Path | None = None
    latex: Path | None = None
    plot: Path | None = None
    records: Path | None = None

    def check(self) -> None:
        """Before anything is measured: whether each can be written.

        Raises what `plots.check_file` raises, OSError, and ValueError for two forms in one file.
        """
        if self.plot is not None:
            plots.check_file(self.plot)
        all_five = (self.json, self.markdown, self.latex, self.plot, self.records)
        named = [path for path in all_five if path is not None]
        for path in named:
            if not path.parent.is_dir():
                raise FileNotFoundError(2, "its folder does not exist", str(path))
            if path.is_dir():
                raise IsADirectoryError(21, "is a folder, expected a file", str(path))
            if not os.access(path if path.exists() else path.parent, os.W_OK):
                raise PermissionError(13, "cannot be written", str(path))
            if named.count(path) > 1:
                raise ValueError(f"{path} is named twice: give each form its own file")

    def write(
        self, everything: Mapping[str, Any], table: tables.Table, figure: plots.Figure
    ) -> None:
        """Write what was asked for, but for records, which `evaluate` writes."""
        if self.json is not None:
            text = json.dumps(everything, indent=1, ensure_ascii=False)
            self.json.write_text(f"{text}\n", encoding="utf-8")
        if self.markdown is not None:
            self.markdown.write_text(tables.markdown(table), encoding="utf-8")
        if self.latex is not None:
            self.latex.write_text(tables.latex(table), encoding="utf-8")
        if self.plot is not None:
            plots.draw(figure, self.plot)


def show_table(described: tables.Table) -> None:
    """Print a table of results with its title and notes."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="")
    for column in described.columns:
        table.add_column(column.head, justify="right" if column.form else "left", no_wrap=True)
    for row in described.cells():
        table.add_row(*row)
    out, wide = console(), console()
    wide.width = sys.maxsize  # a number is never cut: a narrow terminal breaks the lines
    wide.width = max(out.width, wide.measure(table).maximum)
    out.print(described.title, "", sep="\n")
    wide.print(table)
    for note in described.notes:
        out.print(note)
