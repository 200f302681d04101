"""The planner that is told the answer: what is left to lose once the plan is right."""

from collections.abc import Iterable

import numpy as np

from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners.examples import Example, checked
from hyperhop.pathhd.planners.protocol import Plans, Span, ranked


class GoldPlanner:
    """Plans the paths that a question was given with, for ablations; others it knows nothing of."""

    def __init__(self, examples: Iterable[Example]) -> None:
        self._paths: dict[str, set[tuple[str, ...]]] = {}
        for example in checked(examples):
            self._paths.setdefault(example.question, set()).add(tuple(example.relations))

    @property
    def name(self) -> str:
        """Recorded with every result."""
        return "gold"

    def plan(self, question: str, mention: Span | None, candidates: Candidates) -> Plans:
        """All candidates: the gold paths weigh 1, the others 0. O(N)."""
        scores = np.zeros(len(candidates))
        for path in self._paths.get(question, ()):
            index = candidates.find(path)
            if index is not None:
                scores[index] = 1.0
        return ranked(scores, candidates)
