"""HELP's settings, chosen on four fifths of the questions and judged on the fifth."""

import json
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop.evaluate.asking import Progress, ask_one
from hyperhop.evaluate.metrics import recall_at
from hyperhop.evaluate.passages.context import PassageContext
from hyperhop.evaluate.passages.run import PassageRun, deeper, scored
from hyperhop.evaluate.question import Question
from hyperhop.evaluate.records import Record
from hyperhop.evaluate.tables import Column, Table
from hyperhop.evaluate.trained.results import Results

FOLDS = 5
DEPTH = 5  # of recall, what is chosen by

# Of equals the first wins: defaults stand first, then what is nearer to the paper.
GRID: dict[str, tuple[Any, ...]] = {
    "scorer": ("composition",),
    "levels": (2, 1, 3),
    "n": (5, 3),
    "k": (50,),
    "quota": (4, 3, 5),
    "relevance": (10.0, 0.0, 20.0),
    "named": (0.2, 0.0, 0.3),
    "lexical": (0.0, 0.3),
    "synonyms": (None,),
}


@dataclass(frozen=True)
class PassageTuning:
    """What five folds came to.

    Attributes:
        run: the records of all questions, each by the settings that the other four fifths chose.
        chosen: these settings, of each fold, and its means: of "tuned" and "held_out" questions.
        everywhere: what all questions would choose, and its mean, which is no result.
        grid: what was tried.
    """

    run: PassageRun
    chosen: list[dict[str, Any]]
    everywhere: dict[str, Any]
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @property
    def table(self) -> Table:
        """A row a fold, and one of all questions."""
        rows = [
            {"fold": str(number), **one["settings"], "tuned": one["tuned"], "held": one["held_out"]}
            for number, one in enumerate(self.chosen)
        ]
        rows.append(
            {"fold": "all", **self.everywhere["settings"], "tuned": self.everywhere["recall@5"]}
        )
        shown = [
            {
                name: 100 * value if name in ("tuned", "held") else _text(value)
                for name, value in one.items()
            }
            for one in rows
        ]
        columns = [
            Column("fold", "fold"),
            *(Column(name, name) for name, values in self.grid.items() if len(values) > 1),
            Column("tuned", "tuned", ".1f"),
            Column("held", "held out", ".1f"),
        ]
        fixed = ", ".join(
            f"{name} {_text(values[0])}" for name, values in self.grid.items() if len(values) == 1
        )
        notes = [
            "recall@5, %: of the four fifths that chose the settings, and of the fifth that did "
            "not. Only the latter counts; what all questions choose is what a default may follow.",
            *([f"Not varied: {fixed}."] if fixed else []),
        ]
        return Table(f"Settings of help, {self.run.scores.benchmark}", columns, shown, notes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "folds": self.chosen,
            "all": self.everywhere,
            "grid": {name: list(values) for name, values in self.grid.items()},
        }


def folds(count: int, seed: int = 0) -> list[list[int]]:
    """Positions of `count` questions, shuffled by the seed and dealt to five folds."""
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return [order[fold::FOLDS] for fold in range(FOLDS)]


def tune(
    context: PassageContext,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    seed: int = 0,
    folder: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> PassageTuning:
    """Choose HELP's settings by recall@5, fold by fold.

    Every point of the grid (`GRID` if None: options of `PassageContext.help`) is asked every
    question once, in a batch; a fold's settings are those best on the other folds, of equals the
    first. Then each question is asked again by the settings of its fold, alone, for its record.
    `progress` is told (points done, of). In `folder` finished points are kept, in result.json: a
    run that was killed goes on from there when it is asked for again.

    ValueError where `folder` is of another run, for fewer than five questions, and where a question
    has no gold passages.
    """
    tried = {name: tuple(values) for name, values in (grid or GRID).items()}
    if len(context.questions) < FOLDS:
        raise ValueError(f"tune: needs at least {FOLDS} questions, got {len(context.questions)}")
    for question in context.questions:
        if not question.passages:
            raise ValueError(f"tune: question {question.id!r} has no gold passages")
    points = [dict(zip(tried, values, strict=True)) for values in product(*tried.values())]
    table = np.empty((len(points), len(context.questions)))
    done = Results(folder, {**context.about, "grid": tried})
    for place, point in enumerate(points):
        name = json.dumps(point)
        if name not in done:
            done.add(name, {"recall@5": recalls(context, point).tolist()})
        table[place] = done.parts[name]["recall@5"]
        if progress is not None:
            progress(place + 1, len(points))
    chosen = []
    records: dict[int, Record] = {}
    for held_out in folds(len(context.questions), seed):
        rest = np.setdiff1d(np.arange(table.shape[1]), held_out)
        best = _best(table[:, rest])
        chosen.append(
            {
                "settings": points[best],
                "tuned": float(table[best, rest].mean()),
                "held_out": float(table[best, held_out].mean()),
            }
        )
        asked = [context.questions[place] for place in held_out]
        records |= zip(held_out, _records(context, points[best], asked), strict=True)
    best = _best(table)
    everywhere = {"settings": points[best], "recall@5": float(table[best].mean())}
    ordered = [records[place] for place in range(len(records))]
    settings = {
        "system": "help",
        "encoder": context.encoder.name,
        "passages": 5,
        "folds": chosen,
        "seed": seed,
    }
    run = PassageRun("help", ordered, scored(context, ordered, settings))
    return PassageTuning(run, chosen, everywhere, tried)


def recalls(context: PassageContext, options: Mapping[str, Any]) -> npt.NDArray[np.float64]:
    """Recall@5 of every question by HELP with these options, float64 (questions,)."""
    system = context.help(**options)
    found = system.retrieve_batch([question.text for question in context.questions])
    return np.array(
        [
            recall_at(DEPTH, [passage.id for passage in evidence.passages], question.passages)
            for question, evidence in zip(context.questions, found, strict=True)
        ]
    )


def _text(value: Any) -> str:
    return "none" if value is None else str(value)


def _best(table: npt.NDArray[np.float64]) -> int:
    """The row of the highest mean; of those that differ by rounding alone the first."""
    means = table.mean(axis=1)
    return int(np.flatnonzero(means >= means.max() - 1e-9)[0])


def _records(
    context: PassageContext, options: Mapping[str, Any], questions: Sequence[Question]
) -> list[Record]:
    system, more = context.help(**options), deeper(context, options)
    return [ask_one(system, question, more=more) for question in questions]
