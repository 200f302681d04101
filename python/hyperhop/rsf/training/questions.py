"""Examples made ready for a model: graphs, starts, targets and the vectors of their texts."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hyperhop.flow import FlowGraph
from hyperhop.graph import KnowledgeGraph, UnknownEntity
from hyperhop.rsf.batch import FlowBatch
from hyperhop.rsf.graphs import Ball, FlowRelations, balls
from hyperhop.rsf.training.examples import Example

Ids = npt.NDArray[np.int64]
Reading = Callable[[Ids], Any]  # what a model reads of the questions of these rows

_KEPT_EDGES = 20_000_000  # of balls, about half a gigabyte; others are made again when needed
_AT_ONCE = 256


class Questions(Protocol):
    """Questions made ready for a model.

    Attributes:
        answerable: bool (n,), which of them have a topic, and a target where they are asked.
    """

    answerable: npt.NDArray[np.bool_]

    def batch(self, rows: Ids) -> tuple[FlowBatch, Any]:
        """Some of them, with targets, and the question input of the model."""


class InLanes:
    """Each question as a flow over the whole graph, whose node i is entity id i."""

    def __init__(
        self, kg: KnowledgeGraph, graph: FlowGraph, examples: Sequence[Example], reading: Reading
    ) -> None:
        self._graph, self._reading = graph, reading
        self._starts = [known(kg, example.topics) for example in examples]
        self._targets = [known(kg, example.answers) for example in examples]
        self.answerable = _answerable(self._starts, self._targets)

    def batch(self, rows: Ids) -> tuple[FlowBatch, Any]:
        """See `Questions`."""
        starts, targets = ([of[i] for i in rows.tolist()] for of in (self._starts, self._targets))
        return FlowBatch.lanes(self._graph, starts, None, targets), self._reading(rows)


class Packed:
    """Each question on the ball around its topics, which questions with the same topics share."""

    def __init__(
        self,
        kg: KnowledgeGraph,
        relations: FlowRelations,
        radius: int,
        examples: Sequence[Example],
        reading: Reading,
    ) -> None:
        """Makes every ball once, and keeps them as long as they have few edges in all."""
        self._kg, self._relations, self._radius, self._reading = kg, relations, radius, reading
        self._topics = [tuple(known(kg, example.topics).tolist()) for example in examples]
        self._kept: dict[tuple[int, ...], Ball] = {}
        self._starts: list[Ids] = []
        self._targets: list[Ids] = []
        room = _KEPT_EDGES
        for first in range(0, len(examples), _AT_ONCE):
            last = min(first + _AT_ONCE, len(examples))
            for ball, place in zip(
                self._balls(range(first, last)), range(first, last), strict=True
            ):
                self._starts.append(ball.topics)
                self._targets.append(ball.nodes_of(known(kg, examples[place].answers)))
                if self._topics[place] not in self._kept and ball.graph.num_edges <= room:
                    self._kept[self._topics[place]] = ball
                    room -= ball.graph.num_edges
        self.answerable = _answerable(self._starts, self._targets)

    def batch(self, rows: Ids) -> tuple[FlowBatch, Any]:
        """See `Questions`."""
        numbers = rows.tolist()
        chosen = self._balls(numbers)
        packed = FlowBatch.pack(
            [ball.graph for ball in chosen],
            [self._starts[i] for i in numbers],
            [ball.entities for ball in chosen],
            [self._targets[i] for i in numbers],
        )
        return packed, self._reading(rows)

    def _balls(self, numbers: Sequence[int]) -> list[Ball]:
        """The balls of these questions, from those that are kept or made now."""
        topics = [self._topics[i] for i in numbers]
        missing = [one for one in dict.fromkeys(topics) if one not in self._kept]
        made = balls(self._kg, self._relations, missing, self._radius) if missing else []
        found = {**self._kept, **dict(zip(missing, made, strict=True))} if made else self._kept
        return [found[one] for one in topics]


def known(kg: KnowledgeGraph, names: Sequence[str]) -> Ids:
    """Ids of the names that the graph has. O(n log V)."""
    found = []
    for name in names:
        try:
            found.append(kg.entity_id(name))
        except UnknownEntity:
            continue
    return np.array(found, np.int64)


def _answerable(starts: Sequence[Ids], targets: Sequence[Ids]) -> npt.NDArray[np.bool_]:
    both = zip(starts, targets, strict=True)
    return np.array([len(start) > 0 and len(target) > 0 for start, target in both], np.bool_)
