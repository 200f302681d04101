"""``hyperhop eval --study`` and ``--tune``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperhop.cli.eval.output import Files, show_table
from hyperhop.cli.report import busy
from hyperhop.evaluate import studies, tune


def repeat_study(
    name: str, dataset: str, folder: Path | None, which: Mapping[str, Any], files: Files
) -> None:
    """Run one study, print its table and write its files."""
    with busy(f"{name} on {dataset}") as told:
        study = studies.run(name, studies.Context(dataset, folder, progress=told, **which))
    show_table(study.table)
    files.write(study.to_dict(), study.table, study.figure)


def tune_calibration(
    dataset: str, folder: Path | None, which: Mapping[str, Any], files: Files
) -> None:
    """Fit the calibration, print what it came to and write its files."""
    with busy(f"tuning on {dataset}") as told:
        tuning = tune.tune(studies.Context(dataset, folder, progress=told, **which))
    show_table(tuning.table)
    for idf in ("paper", "normalized"):
        print()
        show_table(tuning.surface_table(idf))
    files.write(tuning.to_dict(), tuning.table, tuning.figure("paper"))
