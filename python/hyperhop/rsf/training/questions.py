"""Examples made ready for a model: graphs, starts, targets and the vectors of their texts."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop.flow import FlowGraph
from hyperhop.graph import KnowledgeGraph, UnknownEntity
from hyperhop.rsf.batch import FlowBatch
from hyperhop.rsf.graphs import Ball, FlowRelations, balls
from hyperhop.rsf.training.examples import Example

Ids = npt.NDArray[np.int64]
Reading = Callable[[Ids], Any]


class Prepared:
    """Questions with where they start and where they should end; see `trainer.Questions`.

    Attributes:
        answerable: bool (n,), which have a topic, and an answer where they are asked.
    """

    def __init__(
        self,
        starts: list[Ids],
        targets: list[Ids],
        reading: Reading,
        graphs: FlowGraph | list[tuple[Ball, FlowGraph]],
    ) -> None:
        self._starts, self._targets, self._reading, self._graphs = starts, targets, reading, graphs
        self.answerable = np.array(
            [bool(len(a)) and bool(len(b)) for a, b in zip(starts, targets, strict=True)], np.bool_
        )

    def __len__(self) -> int:
        return len(self._starts)

    def batch(self, rows: Ids) -> tuple[FlowBatch, Any]:
        """The questions of these rows, packed or in lanes, and what the model reads of them."""
        numbers = rows.tolist()
        starts = [self._starts[i] for i in numbers]
        targets = [self._targets[i] for i in numbers]
        if isinstance(self._graphs, FlowGraph):
            return FlowBatch.lanes(self._graphs, starts, None, targets), self._reading(rows)
        chosen = [self._graphs[i] for i in numbers]
        return (
            FlowBatch.pack(
                [graph for _, graph in chosen],
                starts,
                [ball.entities for ball, _ in chosen],
                targets,
            ),
            self._reading(rows),
        )


def prepare_packed(
    kg: KnowledgeGraph,
    relations: FlowRelations,
    radius: int,
    examples: Sequence[Example],
    reading: Reading,
) -> Prepared:
    """Each question on the ball around its topics; questions with the same topics share it.

    A topic that the graph does not have is left out. Memory and time as the distinct balls.
    """
    topics = [_ids(kg, example.topics) for example in examples]
    distinct = list(dict.fromkeys(tuple(one.tolist()) for one in topics))
    made = {
        key: (
            ball,
            FlowGraph(ball.src, ball.symbols, ball.dst, ball.num_nodes, relations.num_symbols),
        )
        for key, ball in zip(distinct, balls(kg, relations, distinct, radius), strict=True)
    }
    graphs = [made[tuple(one.tolist())] for one in topics]
    targets = [
        ball.nodes_of(_ids(kg, example.answers))
        for (ball, _), example in zip(graphs, examples, strict=True)
    ]
    starts = [ball.topics.astype(np.int64) for ball, _ in graphs]
    return Prepared(starts, targets, reading, graphs)


def prepare_lanes(
    kg: KnowledgeGraph, graph: FlowGraph, examples: Sequence[Example], reading: Reading
) -> Prepared:
    """Each question as a flow over the whole graph, whose node i is entity id i."""
    starts = [_ids(kg, example.topics) for example in examples]
    targets = [_ids(kg, example.answers) for example in examples]
    return Prepared(starts, targets, reading, graph)


def _ids(kg: KnowledgeGraph, names: Sequence[str]) -> Ids:
    """Ids of the names that the graph has."""
    found = []
    for name in names:
        try:
            found.append(kg.entity_id(name))
        except UnknownEntity:
            continue
    return np.array(found, np.int64)
