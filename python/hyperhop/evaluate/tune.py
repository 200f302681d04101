"""Fits PathHD's calibration (eq. 5 and 6) by Hits@1 on a grid, as the paper did (appendix I.2)."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from hyperhop import ghrr
from hyperhop.evaluate.metrics import hits_at
from hyperhop.evaluate.plots import Figure
from hyperhop.evaluate.studies.context import Asked, Context
from hyperhop.evaluate.studies.hypervectors import make_codebook, plan_scores
from hyperhop.evaluate.tables import Column, Table
from hyperhop.pathhd import Calibration, Frequencies
from hyperhop.pathhd.calibration import PRESETS

Idf = Literal["paper", "normalized"]

STEPS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)  # of alpha and of beta
LAMBDAS = (0.6, 0.7, 0.8, 0.9)
_PREFERRED_LAMBDA = 0.8

_COLUMNS = (
    Column("what", "setting"),
    Column("idf", "idf"),
    Column("alpha", "alpha", ".1f"),
    Column("beta", "beta", ".1f"),
    Column("lam", "lambda", ".1f"),
    Column("hits_at_1", "hits@1", ".3f"),
)


@dataclass(frozen=True)
class Tuning:
    """What the grid came to.

    Attributes:
        best: the calibration with the most hits; alpha = beta = 0 is none at all. Of equals the one
            with the smaller alpha, then the smaller beta, then lambda nearest to 0.8, then the
            paper's IDF.
        best_hits_at_1, plain_hits_at_1: with it, and without calibration.
        surface: hits@1 by (idf, alpha, beta, lambda), every point of the grid.
        about: what was run, for JSON.
        presets: hits@1 of the paper's three settings, by (name, idf).
    """

    best: Calibration
    best_hits_at_1: float
    plain_hits_at_1: float
    surface: Mapping[tuple[Idf, float, float, float], float]
    presets: Mapping[tuple[str, Idf], float]
    about: Mapping[str, Any]

    @property
    def table(self) -> Table:
        """The best point, none, the presets, and the surface at the best lambda of each point."""
        chosen = {"alpha": self.best.alpha, "beta": self.best.beta, "lam": self.best.lam}
        rows: list[dict[str, Any]] = [
            {"what": "none", "hits_at_1": self.plain_hits_at_1},
            {"what": "best", "idf": self.best.idf, **chosen, "hits_at_1": self.best_hits_at_1},
        ]
        for (name, idf), hits in self.presets.items():
            point = dict(zip(("alpha", "beta", "lam"), PRESETS[name], strict=True))
            rows.append({"what": f"preset {name}", "idf": idf, **point, "hits_at_1": hits})
        note = (
            "The grid has alpha and beta in 0 to 0.5 and lambda in 0.6 to 0.9, for both kinds of "
            "idf. Frequencies are those of the candidates of the part train."
        )
        return Table(f"Calibration of {self.about['title']}", _COLUMNS, rows, (note,))

    def surface_table(self, idf: Idf) -> Table:
        """Hits@1 by alpha (rows) and beta (columns), the best lambda for each."""
        columns = [Column("alpha", "alpha", ".1f")]
        columns += [Column(f"beta {beta}", f"beta {beta}", ".3f") for beta in STEPS]
        rows = [
            {"alpha": alpha}
            | {
                f"beta {beta}": max(self.surface[idf, alpha, beta, lam] for lam in LAMBDAS)
                for beta in STEPS
            }
            for alpha in STEPS
        ]
        return Table(f"hits@1, idf {idf}, best lambda", columns, rows)

    def figure(self, idf: Idf) -> Figure:
        """The surface of `surface_table`: hits@1 over alpha, a line for each beta."""
        table = self.surface_table(idf)
        rows = [
            {"alpha": row["alpha"], "beta": beta, "hits_at_1": row[f"beta {beta}"]}
            for beta in STEPS
            for row in table.rows
        ]
        return Figure(
            *(f"{self.table.title}, idf {idf}", rows, "lines"),
            *("alpha", "hits_at_1", "alpha", "hits@1, best lambda"),
            by="beta",
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; `read_calibration` reads the best point out of it."""
        return {
            **self.about,
            "calibration": self.best.to_dict(),
            "hits_at_1": self.best_hits_at_1,
            "hits_at_1_without": self.plain_hits_at_1,
            "presets": [
                {"name": name, "idf": idf, "hits_at_1": hits}
                for (name, idf), hits in self.presets.items()
            ],
            "surface": [
                {"idf": idf, "alpha": alpha, "beta": beta, "lam": lam, "hits_at_1": hits}
                for (idf, alpha, beta, lam), hits in self.surface.items()
            ],
        }


def tune(context: Context) -> Tuning:
    """Try every point of the grid on the context's questions.

    Similarities are those of PathHD's default query and codebook, computed once; frequencies (eq.
    6) count the candidates of the part "train". The context should be one of dev questions.
    O(grid * candidates) and a lookup of ends for each sequence that some point puts first.
    """
    frequencies = Frequencies.count(_candidate_names(context))
    codebook = make_codebook(context, "random")
    scored = [_Scored(context, codebook, asked, frequencies) for asked in context.asked]

    def hits(idf: Idf, alpha: float, beta: float, lam: float) -> float:
        return sum(one.hit(idf, alpha, beta, lam) for one in scored) / len(context.questions)

    grid = list(product(get_args(Idf), STEPS, STEPS, LAMBDAS))
    surface = {point: hits(*point) for point in context.track(grid)}
    idf, alpha, beta, lam = max(grid, key=lambda point: (surface[point], *_preference(point)))
    presets = {
        (name, kind): hits(kind, *PRESETS[name]) for name in PRESETS for kind in get_args(Idf)
    }
    return Tuning(
        best=Calibration(alpha, beta, lam, idf, frequencies),
        best_hits_at_1=surface[idf, alpha, beta, lam],
        plain_hits_at_1=hits("paper", 0.0, 0.0, 1.0),
        surface=surface,
        presets=presets,
        about={"title": context.title, **context.about},
    )


def read_calibration(path: str | Path) -> Calibration:
    """The calibration in a file that holds `Tuning.to_dict()` as JSON.

    ValueError for a file that does not, FileNotFoundError without one.
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"calibration: {path} is not JSON: {error}") from None
    if not isinstance(found, dict) or "calibration" not in found:
        raise ValueError(f"calibration: {path} has no key 'calibration', which --tune writes")
    return Calibration.from_dict(found["calibration"])


def _preference(point: tuple[Idf, float, float, float]) -> tuple[float, float, float, bool]:
    """Higher is better where hits are equal."""
    idf, alpha, beta, lam = point
    return -alpha, -beta, -round(abs(lam - _PREFERRED_LAMBDA), 6), idf == "paper"


def _candidate_names(context: Context) -> Iterator[list[tuple[str, ...]]]:
    """The candidates of each train question; those of a topic are enumerated once."""
    known: dict[int, list[tuple[str, ...]]] = {}
    for question in context.data.train:
        topic = context.topic(question)
        if topic is None:
            yield []
            continue
        if topic not in known:
            candidates = context.candidates(topic)
            known[topic] = [tuple(candidates.relations(i)) for i in range(len(candidates))]
        yield known[topic]


class _Scored:
    """One question's candidates by their relation names, so that the first of equals wins."""

    def __init__(
        self, context: Context, codebook: ghrr.Codebook, asked: Asked, frequencies: Frequencies
    ) -> None:
        similar = plan_scores(codebook, asked)
        self._order = asked.candidates.order(np.zeros(len(similar)))
        self._similar = np.asarray(similar, np.float64)[self._order]
        self._lengths = asked.candidates.lengths[self._order].astype(np.float64)
        names = [asked.candidates.relations(index) for index in self._order.tolist()]
        self._rarity: dict[Idf, npt.NDArray[np.float64]] = {}
        for idf in get_args(Idf):
            calibration = Calibration(1.0, 0.0, 1.0, idf, frequencies)
            self._rarity[idf] = np.array([calibration.inverse_frequency(one) for one in names])
        self._context, self._asked = context, asked

    def hit(self, idf: Idf, alpha: float, beta: float, lam: float) -> bool:
        """Whether the best sequence's first end is a gold answer."""
        scores = self._similar + alpha * self._rarity[idf] - beta * lam**self._lengths
        best = int(self._order[np.argmax(scores)])
        ends = self._context.ends(self._asked, best)
        return hits_at(1, ends, self._asked.question.answers)
