"""What was planned from one topic."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.clauses import Clause
from hyperhop.pathhd.planners.protocol import Plans

Ids = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Planned:
    """The sequences that exist from a topic and their order for what a question says of it.

    `hubs` are the hubs met (those on paths are among them).
    """

    entity: int
    clause: Clause
    candidates: Candidates
    hubs: Ids
    plans: Plans

    @property
    def weight(self) -> float:
        """That of the best plan; -inf without one."""
        return float(self.plans.weights[0]) if len(self.plans) else -np.inf


@dataclass(frozen=True)
class Scored:
    """Planned and scored: a score for each candidate, and how to make the query hypervector."""

    planned: Planned
    scores: npt.NDArray[np.float64]
    encode: Callable[[], npt.NDArray[np.float32]]  # planes; only explanations need them
