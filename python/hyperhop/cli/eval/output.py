"""The files that results are written to."""

from __future__ import annotations

import json
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
        """Before anything is measured: errors of `plots.check_file`, OSError without a folder."""
        if self.plot is not None:
            plots.check_file(self.plot)
        for path in (self.json, self.markdown, self.latex, self.plot, self.records):
            if path is not None and not path.parent.is_dir():
                raise FileNotFoundError(2, "its folder does not exist", str(path))

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
    out = console()
    for part in (described.title, "", table, *described.notes):
        out.print(part)
