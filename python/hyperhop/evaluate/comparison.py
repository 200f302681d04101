"""Runs side by side: a table of scores, and accuracy against latency."""

from collections.abc import Sequence
from typing import Any

from hyperhop.evaluate.path_ranking import PathScores
from hyperhop.evaluate.plots import Figure
from hyperhop.evaluate.scores import Scores
from hyperhop.evaluate.tables import Column, Table

_COLUMNS = (
    Column("planner", "planner"),
    Column("hits_at_1", "hits@1", ".3f"),
    Column("interval", "95 %", ".3f"),
    Column("f1", "F1", ".3f"),
    Column("set_exact", "sets", ".3f"),
    Column("path_hit_at_1", "path@1", ".3f"),
    Column("median", "ms", ".2f"),
)

_PATH_COLUMNS = (
    Column("planner", "planner"),
    Column("hit_at_1", "hit@1", ".3f"),
    Column("interval_at_1", "95 %", ".3f"),
    Column("hit_at_3", "hit@3", ".3f"),
    Column("interval_at_3", "95 %", ".3f"),
)


def scores_table(runs: Sequence[Scores]) -> Table:
    """One row a run, as they come; all should be of the same questions."""
    first = runs[0]
    title = f"{first.benchmark}, {first.part} of {first.split}, seed {first.seed}"
    notes = [
        f"{first.n:,} questions about {first.units:,} facts, encoder {first.settings['encoder']}. "
        "95 %: bootstrap interval of hits@1 over facts. sets: exact answer sets; path@1: gold path "
        "first. ms: median of a question."
    ]
    return Table(
        title, _COLUMNS, [_row(run) for run in runs], [*notes, *filter(None, [first.note])]
    )


def latency_figure(runs: Sequence[Scores]) -> Figure:
    """Hits@1 against the median time of a question (logarithmic), one point a run."""
    table = scores_table(runs)
    return Figure(
        *(table.title, table.rows, "points", "median", "hits_at_1"),
        *("milliseconds a question (median)", "hits@1"),
        name="planner",
        log_x=True,
    )


def path_scores_table(runs: Sequence[PathScores]) -> Table:
    """One row a ranking of relation paths, as they come; all of the same questions."""
    first = runs[0]
    fold = "" if first.fold is None else f", fold {first.fold}"
    rows = [{**run.to_dict(), "planner": run.settings["planner"]} for run in runs]
    note = (
        f"{first.n:,} questions with a gold path, encoder {first.settings['encoder']}; "
        f"{first.candidates:,} paths are ranked for each, {first.from_train:,} of them known from "
        f"training; {first.covered:.1%} of the questions have a gold path among them. 95 %: "
        "bootstrap intervals over questions."
    )
    return Table(f"{first.benchmark}, {first.part}{fold}", _PATH_COLUMNS, rows, [note])


def path_scores_figure(table: Table) -> Figure:
    """Hit@1 of each planner."""
    return Figure(table.title, table.rows, "bars", "planner", "hit_at_1", "planner", "hit@1")


def _row(run: Scores) -> dict[str, Any]:
    return {
        "planner": run.settings["planner"],
        **{name: getattr(run, name) for name in ("hits_at_1", "interval", "f1", "set_exact")},
        "path_hit_at_1": run.path_hit_at_1,
        "median": run.milliseconds["total"][0],
    }
