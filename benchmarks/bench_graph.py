"""Balls around a topic, and entity paths grouped by their relation sequence.

Every library holds the same graph: a million facts, power-law degrees, relations that depend on the
type of their head, and no two facts between the same pair of entities, so that libraries without
parallel edges can hold it too.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness import Baseline, Case, installed
from hyperhop import KnowledgeGraph
from hyperhop._core import TripleBuilder

RELATIONS, TYPES = 30, 10
BALL_EDGES = 5_000


@dataclass
class Csr:
    """Edges by head, or by tail: what the baselines get ready made."""

    offsets: np.ndarray
    relations: np.ndarray
    neighbours: np.ndarray

    def rows(self, nodes):
        """Numbers of all edges of these nodes, and the place of each edge's node among them."""
        starts, ends = self.offsets[nodes], self.offsets[nodes + 1]
        sizes = ends - starts
        edges = np.arange(sizes.sum()) + np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
        return edges, np.repeat(np.arange(len(nodes)), sizes)


@dataclass
class Graph:
    kg: KnowledgeGraph
    out: Csr
    into: Csr
    heads: np.ndarray  # by edge of `out`

    @property
    def entities(self):
        return len(self.out.offsets) - 1

    @cached_property
    def igraph(self):
        import igraph

        edges = np.column_stack([self.heads, self.out.neighbours])
        return igraph.Graph(n=self.entities, edges=edges, directed=True)

    @cached_property
    def networkx(self):
        import networkx

        library = networkx.DiGraph()
        library.add_edges_from(zip(self.heads.tolist(), self.out.neighbours.tolist(), strict=True))
        return library


def cases(quick: bool, threads: int) -> list[Case]:
    edges = 100_000 if quick else 1_000_000
    dense, sparse = make_graph(edges // 10, edges), make_graph(edges * 7 // 10, edges)
    paths = 100_000 if quick else 1_000_000
    return [
        ball_case(dense, "10 facts an entity", threads),
        ball_case(sparse, "1.4 facts an entity", threads),
        within_case(dense, "10 facts an entity"),
        within_case(sparse, "1.4 facts an entity"),
        paths_case(dense, paths, threads),
    ]


def make_graph(entities, edges, seed=0):
    rng = np.random.default_rng(seed)

    order = rng.permutation(entities)
    weights = np.cumsum(np.arange(1, entities + 1) ** -0.5)

    def drawn():
        return order[np.searchsorted(weights, rng.random(edges) * weights[-1])].astype(np.int64)

    pairs = np.unique(drawn() * entities + drawn())
    heads, tails = np.divmod(pairs, entities)
    per_type = RELATIONS // TYPES
    relations = heads % TYPES * per_type + rng.integers(0, per_type, len(pairs))
    builder = TripleBuilder(False)
    ids = builder.intern_entities(*_names("e", entities))
    relation_ids = builder.intern_relations(*_names("r", RELATIONS))
    builder.add_ids(ids[heads], relation_ids[relations], ids[tails])
    kg = KnowledgeGraph(builder.build())
    out = Csr(*(np.array(kg._arrays[f"out_{name}"]) for name in ("offsets", "relations", "tails")))
    into = Csr(*(np.array(kg._arrays[f"in_{name}"]) for name in ("offsets", "relations", "heads")))
    return Graph(kg, out, into, np.repeat(np.arange(len(out.offsets) - 1), np.diff(out.offsets)))


def _names(letter, count):
    blob = "".join(f"{letter}{i:08}" for i in range(count)).encode()
    return np.frombuffer(blob, np.uint8), np.arange(count + 1, dtype=np.int64) * 9


def ball_case(graph, shape, threads):
    """The one ball that all libraries know: grown along the edges, with the edges inside it."""
    topic, hops = _topic(graph, "out", True)

    def ours():
        return graph.kg.subgraph(topic, hops, "out")

    def edges_of(ball):
        return _triples(ball.entities[ball.heads], ball.relations, ball.entities[ball.tails])

    ball = ours()
    others = [
        Baseline("numpy frontier", _numpy_ball(graph, topic, hops)),
        Baseline("scipy CSR frontier", _scipy_ball(graph, topic, hops)),
        Baseline("igraph neighborhood, induced", _igraph_ball(graph, topic, hops)),
        Baseline("PyG k_hop_subgraph", _pyg_ball(graph, topic, hops, threads)),
    ]
    if 2 * graph.entities < len(graph.heads):  # networkx takes long to hold the larger one
        others.append(
            Baseline("networkx ego_graph", _networkx_ball(graph, topic, hops), strawman=True)
        )

    def check():
        inside = np.zeros(graph.entities, bool)
        inside[_reached(graph, topic, hops)] = True
        assert np.array_equal(np.sort(ball.entities), np.flatnonzero(inside))
        kept = inside[graph.heads] & inside[graph.out.neighbours]
        exact = _triples(graph.heads[kept], graph.out.relations[kept], graph.out.neighbours[kept])
        assert np.array_equal(edges_of(ball), exact)
        for other in others:
            if other.run:
                entities, edges = other.run()
                assert entities == len(ball.entities)
                assert edges == len(exact)

    size = f"{hops} hops out, {ball.num_entities:,} entities, {ball.num_edges:,} edges, {shape}"
    return Case("k-hop ball", size, ours, others, check, bytes=8.0 * _edges_read(graph, ball))


def within_case(graph, shape):
    """Only the edges that the search walks, both ways."""
    topic, hops = _topic(graph, "both", False)

    def ours():
        return graph.kg.subgraph(topic, hops, induced=False)

    numpy_within = _numpy_within(graph, topic, hops)
    ball = ours()

    def check():
        heads, relations, tails = numpy_within()
        exact = _triples(heads, relations, tails)
        found = _triples(ball.entities[ball.heads], ball.relations, ball.entities[ball.tails])
        assert np.array_equal(found, exact)

    size = (
        f"{hops} hops both ways, {ball.num_entities:,} entities, {ball.num_edges:,} edges, {shape}"
    )
    others = [Baseline("numpy frontier", numpy_within)]
    return Case("k-hop edges", size, ours, others, check, bytes=8.0 * ball.num_edges)


def paths_case(graph, count, threads):
    """All walks of one to three hops from a topic, in the order of `PathSet`."""
    topic = _path_topic(graph, count)

    def ours():
        return graph.kg.paths(topic, 3, cap=100 * count)

    found = ours()
    total = len(found)
    few = total // 20
    others = [
        Baseline("numpy join, sorted by sequence", lambda: _numpy_paths(graph, topic, 3)),
        Baseline("duckdb join, in no order", _duckdb_paths(graph, topic, threads)),
        Baseline("networkx walk, in no order", _networkx_paths(graph, topic), strawman=True),
        Baseline(
            "igraph get_all_simple_paths",
            _igraph_paths(graph, topic, few),
            share=few / total,
            strawman=True,
        ),
    ]

    def check():
        assert not found.truncated
        assert np.array_equal(found.entities, _numpy_paths(graph, topic, 3))
        lengths = np.repeat(found.sequences.lengths, np.diff(found.offsets))
        exact = [int((lengths == length).sum()) for length in (1, 2, 3)]
        for other in others[1:3]:
            assert other.run is None or other.run() == exact
        assert others[3].run is None or others[3].run() == few

    size = f"{total:,} of 1-3 hops, {len(found.sequences):,} sequences"
    return Case("paths", size, ours, others, check, bytes=float(found.entities.nbytes))


def _topic(graph, direction, induced):
    """A topic and a radius whose ball has about BALL_EDGES edges."""
    best = None
    for hops in (1, 2, 3, 4):
        for topic in range(0, graph.entities, graph.entities // 150):
            ball = graph.kg.subgraph(topic, hops, direction, induced, max_edges=4 * BALL_EDGES)
            distance = abs(ball.num_edges - BALL_EDGES)
            if not ball.truncated and (best is None or distance < best[0]):
                best = (distance, topic, hops)
    return best[1:]


def _path_topic(graph, count):
    """The topic from which the number of walks of up to three hops is nearest to `count`."""
    walks = np.zeros(graph.entities)
    for _ in range(3):
        walks = np.bincount(graph.heads, 1 + walks[graph.out.neighbours], minlength=graph.entities)
    return int(np.abs(walks - count).argmin())


def _triples(heads, relations, tails):
    rows = np.column_stack([heads, relations, tails]).astype(np.int64)
    return rows[np.lexsort(rows.T[::-1])]


def _reached(graph, topic, hops):
    """By the definition: one bit an entity, every edge looked at in every hop."""
    inside = np.zeros(graph.entities, bool)
    inside[topic] = True
    for _ in range(hops):
        inside[graph.out.neighbours[inside[graph.heads]]] = True
    return np.flatnonzero(inside)


def _edges_read(graph, ball):
    return int((graph.out.offsets[ball.entities + 1] - graph.out.offsets[ball.entities]).sum())


def _numpy_ball(graph, topic, hops):
    """With arrays by id that are kept between calls and cleared where they were touched."""
    seen = np.zeros(graph.entities, bool)
    local = np.zeros(graph.entities, np.int32)

    def run():
        layers = [np.array([topic])]
        seen[topic] = True
        for _ in range(hops):
            edges, _ = graph.out.rows(layers[-1])
            reached = graph.out.neighbours[edges]
            reached = np.unique(reached[~seen[reached]])
            seen[reached] = True
            layers.append(reached)
        nodes = np.concatenate(layers)
        local[nodes] = np.arange(len(nodes), dtype=np.int32)
        edges, heads = graph.out.rows(nodes)
        kept = seen[graph.out.neighbours[edges]]
        edges, heads = edges[kept], heads[kept]
        tails = local[graph.out.neighbours[edges]]
        relations = graph.out.relations[edges]
        seen[nodes] = False
        assert len(heads) == len(relations) == len(tails)
        return len(nodes), len(edges)

    return run


def _numpy_within(graph, topic, hops):
    seen = np.zeros(graph.entities, bool)

    def run():
        layer = np.array([topic])
        seen[topic] = True
        nodes, parts = [layer], []
        for _ in range(hops):
            reached = []
            for side, forward in ((graph.out, True), (graph.into, False)):
                edges, place = side.rows(layer)
                here, there = layer[place], side.neighbours[edges]
                ends = (here, there) if forward else (there, here)
                parts.append(np.column_stack([ends[0], side.relations[edges], ends[1]]))
                reached.append(there[~seen[there]])
            layer = np.unique(np.concatenate(reached))
            seen[layer] = True
            nodes.append(layer)
        seen[np.concatenate(nodes)] = False
        rows = np.concatenate(parts).astype(np.int64)
        keys = (rows[:, 0] * RELATIONS + rows[:, 1]) * graph.entities + rows[:, 2]
        rows = rows[np.unique(keys, return_index=True)[1]]  # an edge may be walked both ways
        return rows[:, 0], rows[:, 1], rows[:, 2]

    return run


def _scipy_ball(graph, topic, hops):
    if not installed("scipy"):
        return None
    from scipy.sparse import csr_matrix

    shape = (graph.entities, graph.entities)
    # Relations as values, from 1, because 0 would be no edge.
    matrix = csr_matrix(
        (graph.out.relations + 1, graph.out.neighbours, graph.out.offsets), shape=shape
    )
    seen = np.zeros(graph.entities, bool)

    def run():
        layers = [np.array([topic])]
        seen[topic] = True
        for _ in range(hops):
            reached = matrix[layers[-1]].indices
            reached = np.unique(reached[~seen[reached]])
            seen[reached] = True
            layers.append(reached)
        nodes = np.concatenate(layers)
        seen[nodes] = False
        inside = matrix[nodes][:, nodes]
        return len(nodes), inside.nnz

    return run


def _igraph_ball(graph, topic, hops):
    if not installed("igraph"):
        return None
    library = graph.igraph

    def run():
        nodes = library.neighborhood(topic, order=hops, mode="out")
        inside = library.induced_subgraph(nodes, implementation="create_from_scratch")
        return inside.vcount(), inside.ecount()

    return run


def _pyg_ball(graph, topic, hops, threads):
    if not installed("torch_geometric"):
        return None
    import torch
    from torch_geometric.utils import k_hop_subgraph

    torch.set_num_threads(threads)
    edges = torch.from_numpy(np.stack([graph.heads, graph.out.neighbours.astype(np.int64)]))
    relations = torch.from_numpy(graph.out.relations)

    def run():
        nodes, inside, _, mask = k_hop_subgraph(
            topic,
            hops,
            edges,
            relabel_nodes=True,
            num_nodes=graph.entities,
            flow="target_to_source",
        )
        assert len(relations[mask]) == inside.shape[1]
        return len(nodes), inside.shape[1]

    return run


def _networkx_ball(graph, topic, hops):
    if not installed("networkx"):
        return None
    import networkx

    library = graph.networkx

    def run():
        ball = networkx.ego_graph(library, topic, radius=hops)
        return ball.number_of_nodes(), ball.number_of_edges()

    return run


def _numpy_paths(graph, topic, hops):
    """Join by join; then each length sorted by sequence, stably, so by entities inside."""
    entities = np.array([[topic]])
    keys = np.zeros(1, np.int64)
    parts = []
    for _ in range(hops):
        edges, place = graph.out.rows(entities[:, -1])
        keys = keys[place] * RELATIONS + graph.out.relations[edges]
        entities = np.column_stack([entities[place], graph.out.neighbours[edges]])
        parts.append(entities[np.argsort(keys, kind="stable")].ravel())
    return np.concatenate(parts)


def _duckdb_paths(graph, topic, threads):
    if not installed("duckdb"):
        return None
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"set threads to {threads}")
    columns = {"h": graph.heads, "r": graph.out.relations, "t": graph.out.neighbours}
    connection.register("columns", columns)
    connection.execute("create table e as select * from columns order by h, r, t")
    queries = (
        "select h, r, t from e where h = ?",
        "select a.r, a.t, b.r, b.t from e a join e b on a.t = b.h where a.h = ?",
        "select a.r, a.t, b.r, b.t, c.r, c.t "
        "from e a join e b on a.t = b.h join e c on b.t = c.h where a.h = ?",
    )

    def run():
        found = [connection.execute(query, [topic]).fetchnumpy() for query in queries]
        return [len(next(iter(each.values()))) for each in found]

    return run


def _igraph_paths(graph, topic, count):
    if not installed("igraph"):
        return None
    library = graph.igraph
    return lambda: len(library.get_all_simple_paths(topic, maxlen=3, mode="out", max_results=count))


def _networkx_paths(graph, topic):
    if not installed("networkx"):
        return None
    library = graph.networkx

    def run():
        one = [(topic, a) for a in library[topic]]
        two = [(*path, b) for path in one for b in library[path[-1]]]
        three = [(*path, c) for path in two for c in library[path[-1]]]
        return [len(one), len(two), len(three)]

    return run
