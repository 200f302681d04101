"""The walks that PathHD follows from a topic: the same rules for sequences and for paths."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop.graph import KnowledgeGraph, PathSet
from hyperhop.graph.sequences import Sequences
from hyperhop.graph.walks import Hubs, Rules, expand_chosen, find_sequences
from hyperhop.paths import Paths


@dataclass(frozen=True)
class Walks:
    """Arguments of `KnowledgeGraph.sequences` and `KnowledgeGraph.paths`, see there."""

    kg: KnowledgeGraph
    max_hops: int
    inverse: bool
    simple: bool
    return_to_topic: bool
    beam: int | None
    cap: int
    path_cap: int
    max_degree: int | None
    hubs: Hubs
    mediators: npt.NDArray[np.bool_] | None

    @cached_property
    def _rules(self) -> Rules:
        """The rules as compiled code reads them, made once."""
        return Rules(
            "PathHD",
            self.kg,
            self.max_hops,
            self.return_to_topic,
            self.max_degree,
            self.hubs,
            self.mediators,
        )

    def __getstate__(self) -> dict[str, Any]:
        # compiled rules do not pickle
        return {name: value for name, value in self.__dict__.items() if name != "_rules"}

    def sequences(self, topic: int) -> Sequences:
        """All relation sequences that exist from a topic."""
        topics = np.array([topic], np.int32)
        return find_sequences(self._rules, topics, self.beam, self.cap, self.inverse, 1)[0]

    def paths(self, topic: int, sequences: Paths, chosen: npt.NDArray[np.int64]) -> PathSet:
        """Entity paths along some of them."""
        return expand_chosen(self._rules, topic, sequences, chosen, self.path_cap, self.simple)
