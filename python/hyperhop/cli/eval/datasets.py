"""``hyperhop eval --list``."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from hyperhop.cli.report import show_rows
from hyperhop.evaluate import benchmarks, path_ranking
from hyperhop.evaluate.benchmarks import is_here


def show_datasets(folder: Path | None) -> None:
    """Print every dataset and whether its files are there."""
    rows = [("dataset", f"files in {folder}" if folder else "files (no folder named)")]
    for name in [*benchmarks.names(), path_ranking.NAME]:
        known = path_ranking.is_here if name == path_ranking.NAME else partial(is_here, name)
        found = folder is not None and known(folder)
        rows.append((name, "found" if found else "not found"))
    show_rows(rows)
