"""Several planners that agree on one plan."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hyperhop.evidence import PlannerCall
from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners.protocol import Planner, Plans, Span, Start, plan_all, ranked


class MixturePlanner:
    """The weighted sum of what planners say.

    Useful where they know different things: `MixturePlanner([(EmbeddingPlanner(...), 1.0),
    (MemoryPlanner(...), 0.5)])` follows the words of a question, and what was asked before.
    """

    def __init__(self, planners: Sequence[tuple[Planner, float]]) -> None:
        """ValueError without planners, and unless weights are finite and not negative."""
        if not planners:
            raise ValueError("MixturePlanner: needs a planner")
        for planner, weight in planners:
            if not 0 <= weight < float("inf"):
                raise ValueError(
                    f"MixturePlanner: a weight must be finite and 0 or more, got {weight} for "
                    f"{planner.name!r}"
                )
        self.planners = list(planners)

    @property
    def name(self) -> str:
        """The planners' names and weights."""
        return " + ".join(f"{weight:g} {planner.name}" for planner, weight in self.planners)

    def plan(self, question: str, mention: Span | None, candidates: Candidates) -> Plans:
        """All candidates; one that a planner does not list gets nothing from it."""
        return self.plan_all(question, [Start(question, mention, candidates)])[0]

    def plan_all(self, question: str, starts: Sequence[Start]) -> list[Plans]:
        """`plan` from several topics at once, each planner asked once."""
        scores = [np.zeros(len(start.candidates)) for start in starts]
        calls: list[PlannerCall] = []
        for planner, weight in self.planners:
            planned = plan_all(planner, question, starts)
            for total, plans in zip(scores, planned, strict=True):
                total[plans.sequences] += weight * plans.weights
            calls += planned[0].calls if planned else ()
        return [
            replace(ranked(total, start.candidates), calls=tuple(calls))
            for total, start in zip(scores, starts, strict=True)
        ]
