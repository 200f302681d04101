"""Several planners that agree on one plan."""

from collections.abc import Sequence

import numpy as np

from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners.protocol import Planner, Plans, Span, ranked


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
        scores = np.zeros(len(candidates))
        for planner, weight in self.planners:
            plans = planner.plan(question, mention, candidates)
            scores[plans.sequences] += weight * plans.weights
        return ranked(scores, candidates)
