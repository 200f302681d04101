"""What a model reasons over at once: packed subgraphs, or many flows over one graph."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hyperhop.flow import FlowGraph

Ids = Sequence[int] | npt.NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class FlowBatch:
    """G questions with the graph, or graphs, they are asked over.

    Two shapes. Packed: each question has a subgraph of its own, all in one `graph`, and `segments`
    says which nodes are whose. Lanes: all questions share `graph`, `segments` is None and a flow is
    a column. `pack` and `lanes` make them.

    Attributes:
        graph: FlowGraph with V nodes.
        start: float32 (V,) or, in lanes, (V, G): where the flows begin (pi of hop 0), uniform over
            a question's topic nodes.
        segments: int64 (G + 1,), first node of each question's subgraph, or None.
        entities: int64 (V,), row of the text table that holds a node's text, or None: node v has
            row v.
        targets: int64 (n,), the nodes that answer, question by question, or None if nobody knows.
        target_offsets: int64 (G + 1,), where each question's targets begin, or None as `targets`.
    """

    graph: FlowGraph
    start: npt.NDArray[np.float32]
    segments: npt.NDArray[np.int64] | None = None
    entities: npt.NDArray[np.int64] | None = None
    targets: npt.NDArray[np.int64] | None = None
    target_offsets: npt.NDArray[np.int64] | None = None

    @property
    def size(self) -> int:
        """G, the number of questions."""
        if self.segments is None:
            return int(self.start.shape[1])
        return len(self.segments) - 1

    @classmethod
    def pack(
        cls,
        graphs: Sequence[FlowGraph],
        starts: Sequence[Ids],
        entities: Sequence[Ids] | None = None,
        targets: Sequence[Ids] | None = None,
    ) -> "FlowBatch":
        """Subgraphs side by side: question i starts at nodes `starts[i]` of `graphs[i]`.

        `entities[i]` has the text row of each node of `graphs[i]`, `targets[i]` the nodes of it
        that answer, possibly none. A question without a start has no flow.

        Raises ValueError where counts differ, a node is not in its graph, or graphs differ in their
        number of relations.
        """
        _same_count("pack", len(graphs), starts=starts, entities=entities, targets=targets)
        if not graphs:
            raise ValueError("FlowBatch.pack: needs at least one graph")
        segments = np.zeros(len(graphs) + 1, np.int64)
        np.cumsum([graph.num_nodes for graph in graphs], out=segments[1:])
        start = np.zeros(segments[-1], np.float32)
        for number, (graph, nodes) in enumerate(zip(graphs, starts, strict=True)):
            inside = _nodes("pack", "starts", number, nodes, graph.num_nodes)
            start[segments[number] + inside] = 1 / max(inside.size, 1)
        rows = None
        if entities is not None:
            for number, (graph, ids) in enumerate(zip(graphs, entities, strict=True)):
                if len(ids) != graph.num_nodes:
                    raise ValueError(
                        f"FlowBatch.pack: entities[{number}] must have {graph.num_nodes} entries, "
                        f"one a node, got {len(ids)}"
                    )
            rows = np.concatenate([np.asarray(ids, np.int64) for ids in entities])
        sizes = [graph.num_nodes for graph in graphs]
        found, offsets = _ragged("pack", targets, sizes, segments)
        return cls(_joined(graphs, segments), start, segments, rows, found, offsets)

    @classmethod
    def lanes(
        cls,
        graph: FlowGraph,
        starts: Sequence[Ids],
        entities: Ids | None = None,
        targets: Sequence[Ids] | None = None,
    ) -> "FlowBatch":
        """Flows over one graph: question i starts at nodes `starts[i]`, `targets[i]` answer it.

        Raises ValueError where counts differ or a node is not in the graph.
        """
        _same_count("lanes", len(starts), targets=targets)
        if not starts:
            raise ValueError("FlowBatch.lanes: needs at least one start")
        start = np.zeros((graph.num_nodes, len(starts)), np.float32)
        for number, nodes in enumerate(starts):
            inside = _nodes("lanes", "starts", number, nodes, graph.num_nodes)
            start[inside, number] = 1 / max(inside.size, 1)
        rows = None
        if entities is not None:
            rows = np.asarray(entities, np.int64)
            if rows.shape != (graph.num_nodes,):
                raise ValueError(
                    f"FlowBatch.lanes: entities must have shape ({graph.num_nodes},), "
                    f"got {rows.shape}"
                )
        sizes = [graph.num_nodes] * len(starts)
        found, offsets = _ragged("lanes", targets, sizes, np.zeros(len(starts), np.int64))
        return cls(graph, start, None, rows, found, offsets)


def _same_count(function: str, count: int, **parts: Sequence[Ids] | None) -> None:
    for name, part in parts.items():
        if part is not None and len(part) != count:
            raise ValueError(
                f"FlowBatch.{function}: {name} must have {count} entries, one a question, "
                f"got {len(part)}"
            )


def _nodes(function: str, name: str, number: int, ids: Ids, count: int) -> npt.NDArray[np.int64]:
    """Distinct node ids, each inside a graph of `count` nodes."""
    given = np.asarray(ids)
    if given.size and not np.issubdtype(given.dtype, np.integer):
        raise TypeError(
            f"FlowBatch.{function}: {name}[{number}] must hold integers, got {given.dtype}"
        )
    nodes = np.unique(given.astype(np.int64))
    if nodes.size and (nodes[0] < 0 or nodes[-1] >= count):
        outside = nodes[0] if nodes[0] < 0 else nodes[-1]
        raise ValueError(
            f"FlowBatch.{function}: {name}[{number}] must hold nodes from 0 to {count - 1}, "
            f"got {outside}"
        )
    return nodes


def _ragged(
    function: str,
    lists: Sequence[Ids] | None,
    sizes: Sequence[int],
    first: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64] | None, npt.NDArray[np.int64] | None]:
    """Targets of all questions end to end, counted from each question's first node."""
    if lists is None:
        return None, None
    parts = [
        _nodes(function, "targets", number, ids, size) + first[number]
        for number, (ids, size) in enumerate(zip(lists, sizes, strict=True))
    ]
    offsets = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([part.size for part in parts], out=offsets[1:])
    return np.concatenate(parts), offsets


def _joined(graphs: Sequence[FlowGraph], segments: npt.NDArray[np.int64]) -> FlowGraph:
    if len(graphs) == 1:
        return graphs[0]  # whoever asks one question need not sort its edges twice
    relations = {graph.num_relations for graph in graphs}
    if len(relations) > 1:
        raise ValueError(
            f"FlowBatch.pack: graphs must have one number of relations, got {sorted(relations)}"
        )
    first = np.repeat(segments[:-1], [graph.num_edges for graph in graphs])
    return FlowGraph(
        np.concatenate([graph.src for graph in graphs]) + first,
        np.concatenate([graph.relation for graph in graphs]),
        np.concatenate([graph.dst for graph in graphs]) + first,
        int(segments[-1]),
        relations.pop(),
    )
