"""``hyperhop eval WebQSP-paths``: relation paths ranked from the question's text alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hyperhop.cli.eval.output import Files, show_table
from hyperhop.cli.report import busy
from hyperhop.evaluate import rank_paths
from hyperhop.evaluate.comparison import path_scores_figure, path_scores_table


def rank(
    dataset: str,
    folder: Path | None,
    planners: Sequence[str],
    files: Files,
    *,
    part: str | None,
    fold: int,
    encoder: str,
    limit: int | None,
) -> None:
    """Rank once for each planner, print what it came to and write the files."""
    runs = []
    for planner in planners:
        with busy(f"ranking {dataset}, {planner}", "questions") as told:
            runs.append(
                rank_paths(
                    folder,
                    part or "validation",
                    fold=fold if part == "train" else None,
                    planner=planner,
                    encoder=encoder,
                    limit=limit,
                    progress=told,
                )
            )
    table = path_scores_table(runs)
    show_table(table)
    files.write({"runs": [run.to_dict() for run in runs]}, table, path_scores_figure(table))
