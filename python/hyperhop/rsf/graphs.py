"""From a knowledge graph to the graphs that flows run on: symbols, and balls around topics."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hyperhop.flow import FlowGraph
from hyperhop.graph import KnowledgeGraph, Subgraph
from hyperhop.graph.walks import Hubs
from hyperhop.text import Verbalizer

Ids = npt.NDArray[np.int32]
Nodes = npt.NDArray[np.int64]

# No relation's symbol can be called so: a backslash there only stands before "^" or another one.
STAY = "\\STAY"
STAY_TEXT = "stay here"
MAX_EDGES = 1_000_000  # facts of one ball


class FlowRelations:
    """The 2 R + 1 symbols of flows over a graph with R relation ids.

    Symbol r is relation r along its edges, R + r against them, 2 R is STAY: a step that goes from
    every node to itself, apart from real self loops. Ids do not depend on the two switches.

    Args:
        kg: the graph.
        inverse: whether flow also goes against edges.
        stay: whether flow may stay where it is.

    Attributes:
        num_relations: R.
        num_symbols: 2 R + 1.
        stay_id: 2 R, the symbol STAY.
        names: the symbols' names: those of `kg.symbols`, then STAY.
    """

    def __init__(self, kg: KnowledgeGraph, inverse: bool = True, stay: bool = True) -> None:
        self.inverse, self.stay = bool(inverse), bool(stay)
        self.num_relations = kg.num_relation_ids
        self.stay_id = 2 * self.num_relations
        self.num_symbols = self.stay_id + 1
        self.names = [*kg.symbols, STAY]

    def texts(self, verbalizer: Verbalizer | None = None) -> list[str]:
        """Each symbol in words, for an encoder; `verbalizer` brings labels."""
        words = Verbalizer() if verbalizer is None else verbalizer
        return [*map(words.relation, self.names[:-1]), STAY_TEXT]

    def edges(self, heads: Ids, relations: Ids, tails: Ids, num_nodes: int) -> tuple[Ids, Ids, Ids]:
        """Facts as edges (src, symbol, dst), int32: along, against, and STAY of each node."""
        src, symbols, dst = [heads], [relations], [tails]
        if self.inverse:
            src.append(tails)
            symbols.append(relations + np.int32(self.num_relations))
            dst.append(heads)
        if self.stay:
            nodes = np.arange(num_nodes, dtype=np.int32)
            src.append(nodes)
            symbols.append(np.full(num_nodes, self.stay_id, np.int32))
            dst.append(nodes)
        return np.concatenate(src), np.concatenate(symbols), np.concatenate(dst)


@dataclass(frozen=True, eq=False)
class Ball:
    """The neighbourhood of a question's topics: one graph of a `FlowBatch`.

    Attributes:
        graph: its edges, between nodes and by symbol of `FlowRelations`.
        entities: int64 (n,), entity ids, ascending; node i is entities[i].
        topics: int64, nodes of the topics, ascending.
        hubs: ids of entities of which not every edge was followed, because that was asked for.
        truncated: `max_edges` cut it.
    """

    graph: FlowGraph
    entities: Nodes
    topics: Nodes
    hubs: Ids
    truncated: bool

    def nodes_of(self, entities: npt.ArrayLike) -> Nodes:
        """Nodes of those entity ids that are here, in the order given. O(m log n)."""
        wanted = np.asarray(entities, np.int64).reshape(-1)
        places = np.searchsorted(self.entities, wanted)
        inside = places < len(self.entities)
        inside[inside] = self.entities[places[inside]] == wanted[inside]
        return places[inside].astype(np.int64)


def balls(
    kg: KnowledgeGraph,
    relations: FlowRelations,
    topics: Iterable[int | str | Sequence[int | str]],
    radius: int,
    *,
    max_degree: int | None = None,
    hubs: Hubs = "sample",
    max_edges: int = MAX_EDGES,
    threads: int | None = None,
) -> list[Ball]:
    """The ball around the topics of each question, over threads.

    Args:
        kg: the graph.
        relations: its symbols; without inverse ones a ball only grows from head to tail.
        topics: of each question a name or an id, or several of them.
        radius: entities at most this many edges from a topic, with all edges between them. It
            need not be the number of hops: with a smaller one flow stays closer to the topic.
        max_degree, hubs, max_edges: bounds, see `KnowledgeGraph.subgraph`.
        threads: None for the default.

    Nodes are in order of entity id, so edges are summed in the order of the whole graph. Raises as
    `KnowledgeGraph.subgraph` does. Time and memory as the edges of the balls.
    """
    found = kg.subgraph_batch(
        topics,
        radius,
        "both" if relations.inverse else "out",
        max_degree=max_degree,
        hubs=hubs,
        max_edges=max_edges,
        threads=threads,
    )
    return [_ball(relations, one) for one in found]


def whole_graph(kg: KnowledgeGraph, relations: FlowRelations) -> FlowGraph:
    """All facts as one flow graph, for lanes: node i is entity id i, retired ids have no facts."""
    heads, symbols, tails = kg.triple_ids()
    edges = relations.edges(heads, symbols, tails, kg.num_entity_ids)
    return FlowGraph(*edges, kg.num_entity_ids, relations.num_symbols)


def _ball(relations: FlowRelations, found: Subgraph) -> Ball:
    order = np.argsort(found.entities, kind="stable")
    node = np.empty(len(order), np.int32)
    node[order] = np.arange(len(order), dtype=np.int32)
    edges = relations.edges(
        node[found.heads], found.relations, node[found.tails], found.num_entities
    )
    return Ball(
        FlowGraph(*edges, found.num_entities, relations.num_symbols),
        found.entities[order].astype(np.int64),
        np.unique(node[found.topics]).astype(np.int64),
        found.hubs,
        found.truncated,
    )
