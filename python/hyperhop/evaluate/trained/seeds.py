"""One model for each of several seeds, trained and then asked like any other system."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hyperhop.evaluate.coverage import Coverage
from hyperhop.evaluate.harness import evaluate_system
from hyperhop.evaluate.plots import Figure
from hyperhop.evaluate.studies.study import Study
from hyperhop.evaluate.tables import Column, Table
from hyperhop.evaluate.trained.context import Setting, TrainedContext, Training
from hyperhop.rsf import RSF

_COLUMNS = (
    Column("set", "set"),
    Column("seed", "seed"),
    Column("hits_at_1", "hits@1", ".3f"),
    Column("interval", "95 %", ".3f"),
    Column("hits_at_5", "hits@5", ".3f"),
    Column("hits_at_10", "hits@10", ".3f"),
    Column("path_hit_at_1", "path@1", ".3f"),
    Column("median", "ms", ".2f"),
    Column("epochs", "epochs", "d"),
    Column("training_seconds", "train s", ",.0f"),
)
_HITS = ("hits_at_1", "hits_at_5", "hits_at_10", "path_hit_at_1")


def train_seeds(context: TrainedContext, seeds: Sequence[int]) -> Study:
    """Train a model for each seed, save it, load it again and ask it all questions of the part.

    A row for each set and seed, and one with the means over seeds. In the context's folder each
    model lies in `seeds/seed-N`, finished results in `seeds/result.json`.
    """
    settings = [Setting(f"seed {seed}", {"seed": seed}) for seed in seeds]
    runs = context.each("seeds", settings, _ask)
    rows = []
    for name in [one.name for one in context.sets.sets]:
        rows_of = [
            _row(run["scores"][name], str(seed), run) for run, seed in zip(runs, seeds, strict=True)
        ]
        rows += rows_of if len(seeds) == 1 else [*rows_of, _mean(rows_of)]
    notes = (
        "95 %: bootstrap interval over facts. path@1: a gold relation path first, STAY left out. "
        "ms: median of a question asked by itself. train s: all epochs, dev questions included.",
    )
    table = Table(f"RSF on {context.title}", _COLUMNS, rows, notes)
    singles = [row for row in rows if row["seed"] != "mean"]
    figure = Figure(*(table.title, singles, "bars", "set", "hits_at_1", "set", "hits@1"), by="seed")
    about = {**context.about, "scores": [run["scores"] for run in runs]}
    return Study("seeds", "table 1, retrieval alone", about, table, figure)


def _ask(training: Training) -> dict[str, Any]:
    with TemporaryDirectory() as spare:
        folder = training.folder or Path(spare)
        training.workspace.save(folder, training.trained)
        system = RSF.load(folder)
        context = training.context
        return {
            "scores": {
                one.name: evaluate_system(
                    *(one, system, context.part),
                    limit=context.limit,
                    more=Coverage(system),
                    settings=training.workspace.settings.to_dict(),
                ).to_dict()
                for one in context.sets.sets
            },
            **training.measured(),
        }


def _row(scores: Mapping[str, Any], seed: str, run: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "set": scores["benchmark"],
        "seed": seed,
        **{name: scores[name] for name in (*_HITS, "interval")},
        "median": scores["milliseconds"]["total"][0],
        "epochs": run["epochs"],
        "training_seconds": run["seconds"],
    }


def _mean(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    means = {
        name: sum(row[name] for row in rows) / len(rows)
        for name in _HITS
        if rows[0][name] is not None
    }
    return {"set": rows[0]["set"], "seed": "mean", **means}
