"""The walks that PathHD follows from a topic: the same rules for sequences and for paths."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hyperhop.graph import KnowledgeGraph, PathSet
from hyperhop.graph.sequences import Sequences
from hyperhop.graph.walks import Hubs
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

    def sequences(self, topic: int) -> Sequences:
        """All relation sequences that exist from a topic."""
        return self.kg.sequences(
            topic,
            self.max_hops,
            beam=self.beam,
            cap=self.cap,
            inverse=self.inverse,
            return_to_topic=self.return_to_topic,
            max_degree=self.max_degree,
            hubs=self.hubs,
            mediators=self.mediators,
        )

    def paths(self, topic: int, sequences: Paths) -> PathSet:
        """Entity paths along some of them."""
        return self.kg.paths(
            topic,
            self.max_hops,
            sequences=sequences,
            cap=self.path_cap,
            simple=self.simple,
            return_to_topic=self.return_to_topic,
            max_degree=self.max_degree,
            hubs=self.hubs,
            mediators=self.mediators,
        )
