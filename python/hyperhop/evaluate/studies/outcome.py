"""What a ranking of candidates is worth, without luck among equals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hyperhop.evaluate.metrics import hits_at, set_exact
from hyperhop.evaluate.studies.context import Asked, Context

# Similarities are float32: differences below this are rounding, and such candidates tie.
TIE = 1e-5


@dataclass(frozen=True)
class Outcome:
    """Expected values of one question if candidates that tie for the first place are drawn from."""

    hits_at_1: float
    path_hit_at_1: float
    set_exact: float


def outcome(context: Context, asked: Asked, scores: npt.NDArray[np.floating]) -> Outcome:
    """Of the best candidates by `scores` (N,): a tie of n counts 1 / n each."""
    best = np.flatnonzero(scores >= scores.max() - TIE).tolist()
    gold, answers = asked.question.paths, asked.question.answers
    ends = [context.ends(asked, index) for index in best]
    return Outcome(
        mean(hits_at(1, one, answers) for one in ends),
        mean(tuple(asked.candidates.relations(index)) in gold for index in best),
        mean(set_exact(one, answers) for one in ends),
    )


def shares(context: Context, outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Means over all questions; those without candidates are misses."""
    n = len(outcomes) + context.unanswerable
    return {
        name: sum(getattr(one, name) for one in outcomes) / n
        for name in ("hits_at_1", "path_hit_at_1", "set_exact")
    }


def mean(values: Iterable[float]) -> float:
    """Mean of at least one value."""
    return float(np.mean(list(values)))
