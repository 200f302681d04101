"""The walks that PathHD follows from a topic: the same rules for sequences and for paths."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop.graph import KnowledgeGraph, PathSet
from hyperhop.graph.sequences import Sequences
from hyperhop.graph.walks import Hubs, Rules, expand_paths, find_sequences
from hyperhop.paths import Paths


class Walks:
    """`KnowledgeGraph.sequences` and `.paths` with their arguments, see there, given once."""

    def __init__(
        self,
        kg: KnowledgeGraph,
        max_hops: int,
        inverse: bool,
        simple: bool,
        return_to_topic: bool,
        beam: int | None,
        cap: int,
        path_cap: int,
        max_degree: int | None,
        hubs: Hubs,
        mediators: npt.NDArray[np.bool_] | None,
    ) -> None:
        self.kg, self.path_cap = kg, path_cap
        self._inverse, self._simple, self._beam, self._cap = inverse, simple, beam, cap
        self._of_rules = (max_hops, return_to_topic, max_degree, hubs, mediators)
        self._rules = Rules("PathHD", kg, *self._of_rules)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_rules"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        self._rules = Rules("PathHD", self.kg, *self._of_rules)  # compiled, so it does not pickle

    def sequences(self, topics: Sequence[int], threads: int | None = None) -> list[Sequences]:
        """All relation sequences that exist from each topic."""
        return find_sequences(self._rules, topics, self._beam, self._cap, self._inverse, threads)

    def paths(self, topic: int, sequences: Paths) -> PathSet:
        """Entity paths along some of them."""
        return expand_paths(self._rules, [topic], [sequences], self.path_cap, self._simple, 1)[0]
