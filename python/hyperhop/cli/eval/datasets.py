"""``hyperhop eval --list``."""

from __future__ import annotations

from pathlib import Path

from hyperhop.cli.report import show_rows
from hyperhop.evaluate import benchmarks, passages, path_ranking


def show_datasets(folder: Path | None) -> None:
    """Print every dataset and whether its files are there."""
    rows = [("dataset", f"files in {folder}" if folder else "files (no folder named)")]
    for name in [*benchmarks.names(), path_ranking.NAME, *passages.names()]:
        found = folder is not None and _is_here(name, folder)
        rows.append((name, "found" if found else "not found"))
    show_rows(rows)


def _is_here(name: str, folder: Path) -> bool:
    if name == path_ranking.NAME:
        return path_ranking.is_here(folder)
    if name in passages.names():
        return passages.is_here(name, folder)
    return benchmarks.is_here(name, folder)
