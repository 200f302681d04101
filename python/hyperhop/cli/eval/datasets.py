"""``hyperhop eval --list``."""

from __future__ import annotations

from pathlib import Path

from hyperhop.cli.report import show_rows
from hyperhop.evaluate import benchmarks


def show_datasets(folder: Path | None) -> None:
    """Print every dataset and whether its files are there."""
    rows = [("dataset", f"files in {folder}" if folder else "files (no folder named)")]
    for name in benchmarks.names():
        found = folder is not None and benchmarks.is_here(name, folder)
        rows.append((name, "found" if found else "not found"))
    show_rows(rows)
