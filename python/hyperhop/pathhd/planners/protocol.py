"""What a planner must offer: which of the existing relation sequences does a question ask for?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from hyperhop.evidence import PlannerCall
from hyperhop.pathhd.candidates import Candidates

Span = tuple[int, int]


class Start(NamedTuple):
    """One topic to plan from: what is asked about it, where that names it, and what exists."""

    question: str
    mention: Span | None
    candidates: Candidates


@dataclass(frozen=True)
class Plans:
    """Candidate sequences in the order of their weights, best first.

    Attributes:
        sequences: int64 (P,), indices of candidates.
        weights: float64 (P,), descending; only their order and differences within one question
            mean something.
        calls: of language models, that these plans took; plans made together share them.
    """

    sequences: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    calls: tuple[PlannerCall, ...] = ()

    def __len__(self) -> int:
        return len(self.sequences)


@runtime_checkable
class Planner(Protocol):
    """Ranks candidate sequences for a question; deterministic.

    A planner may also have `plan_all(question, starts) -> list[Plans]`, which plans from several
    topics at once and knows the whole question.
    """

    @property
    def name(self) -> str:
        """Recorded with every result."""
        ...

    def plan(self, question: str, mention: Span | None, candidates: Candidates) -> Plans:
        """All candidates with their weights, total order: weight, then relation names.

        `mention` is where the question names its topic: (start, end) in characters, or None.
        """
        ...


def ranked(scores: npt.NDArray[np.float64], candidates: Candidates) -> Plans:
    """Plans in total order. Scores are rounded, so that sums equal but for rounding are ties."""
    rounded = np.asarray(np.round(scores, 6), np.float64)
    order = candidates.order(rounded)
    return Plans(order, rounded[order])


def plan_all(planner: Planner, question: str, starts: Sequence[Start]) -> list[Plans]:
    """Plans from each start, in order: by the planner's own `plan_all` if it has one."""
    own = getattr(planner, "plan_all", None)
    if own is not None:
        found: list[Plans] = own(question, starts)
        return found
    return [planner.plan(*start) for start in starts]
