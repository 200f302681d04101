"""Hypothesis strategies for flows: multigraphs with parallel edges and self loops, and the flows of
the three shapes over them."""

import numpy as np
from hypothesis import strategies as st

from hyperhop.flow import FlowGraph
from strategies import seeds

dtypes = st.sampled_from([np.float32, np.float64])
# None, one, few, around a vector's and a node block's length.
node_counts = st.sampled_from([0, 1, 2, 5, 17, 63, 64, 65, 1023, 1025, 2100])


def random_graph(rng, num_nodes, num_edges, num_relations, hub=False):
    """Few nodes make self loops and parallel edges; a hub takes half of the edges, both ways."""
    if num_nodes == 0 or num_relations == 0:
        num_edges = 0
    src, dst = rng.integers(0, max(num_nodes, 1), (2, num_edges))
    if hub:
        src[::4], dst[2::4] = num_nodes // 2, num_nodes // 2
    relation = rng.integers(0, max(num_relations, 1), num_edges)
    return FlowGraph(src, relation, dst, num_nodes, num_relations)


def pack(graphs):
    """The graphs side by side, and their segments."""
    segments = np.cumsum([0] + [g.num_nodes for g in graphs])
    columns = [
        np.concatenate([g.src + start for g, start in zip(graphs, segments, strict=False)]),
        np.concatenate([g.relation for g in graphs]),
        np.concatenate([g.dst + start for g, start in zip(graphs, segments, strict=False)]),
    ]
    return FlowGraph(*columns, int(segments[-1]), graphs[0].num_relations), segments


@st.composite
def graphs(draw, num_relations=None):
    rng = np.random.default_rng(draw(seeds))
    relations = draw(st.sampled_from([1, 3, 40])) if num_relations is None else num_relations
    nodes = draw(node_counts)
    edges = draw(st.sampled_from([0, 1, 7, 300, 5000]))
    return random_graph(rng, nodes, edges, relations, draw(st.booleans()))


def random_flow(rng, g, dtype, shape=()):
    """pi, beta, rho, gate and an incoming gradient; `shape` is () or (B,)."""
    pi = rng.random((g.num_nodes, *shape))
    pi[rng.random(pi.shape) < 0.3] = 0
    return (
        pi.astype(dtype),
        rng.random((g.num_relations, *shape)).astype(dtype),
        rng.normal(scale=3, size=pi.shape).astype(dtype),
        rng.random(shape).astype(dtype),
        rng.normal(size=pi.shape).astype(dtype),
    )
