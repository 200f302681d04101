"""Flow held as active nodes: the dense hop's values, only active nodes' edges, damaged stores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperhop import KnowledgeGraph, flow
from hyperhop.graph import DamagedStore


def random_graph(rng, nodes, relations, edges):
    columns = [rng.integers(0, bound, edges) for bound in (nodes, relations, nodes)]
    return flow.FlowGraph(*columns, nodes, relations)


def facts(rng, entities=60, relations=4, count=150):
    """A graph with self loops, parallel relations and hubs."""
    heads, tails = (np.minimum(rng.geometric(0.08, count), entities) for _ in range(2))
    names = rng.integers(0, relations, count)
    return KnowledgeGraph.from_triples(
        {(f"e{h:03}", f"r{r}", f"e{t:03}") for h, r, t in zip(heads, names, tails, strict=True)}
    )


def flow_graph(kg, inverse, stay):
    """The edges of a FactGraph, copied."""
    n, count = kg.num_entity_ids, kg.num_relation_ids
    heads, relations, tails = (np.array(column) for column in zip(*kg_ids(kg), strict=True))
    columns = [(heads, relations, tails)]
    if inverse:
        columns.append((tails, relations + count, heads))
    if stay:
        columns.append((np.arange(n), np.full(n, 2 * count), np.arange(n)))
    src, relation, dst = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    return flow.FlowGraph(src, relation, dst, n, 2 * count + 1)


def kg_ids(kg):
    for head, relation, tail in kg.triples():
        yield kg.entity_id(head), kg.relation_id(relation), kg.entity_id(tail)


def some_flow(rng, nodes, active, dtype):
    pi = np.zeros(nodes, dtype)
    pi[rng.choice(nodes, active, replace=False)] = rng.random(active)
    return pi / max(pi.sum(), 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(seed=st.integers(0, 10**6), active=st.integers(0, 30), edges=st.integers(0, 400))
def test_propagates_with_the_bits_of_the_dense_kernel(dtype, seed, active, edges):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 30, 5, edges)
    pi, beta = some_flow(rng, 30, active, dtype), rng.random(5).astype(dtype)
    beta[0] = 0
    sparse = flow.propagate_sparse(graph, flow.SparseFlow.from_dense(pi), beta)
    assert sparse.values.dtype == dtype
    assert (np.diff(sparse.nodes) > 0).all()
    assert (sparse.values > 0).all()
    assert np.array_equal(sparse.dense(), flow.propagate(graph, pi, beta))


@pytest.mark.parametrize("active", [1, 40, 4000])  # sorted sums, or an array of all
def test_sums_are_alike_sorted_and_in_an_array(active):
    rng = np.random.default_rng(active)
    graph = random_graph(rng, 5000, 5, 20_000)
    pi, beta = some_flow(rng, 5000, active, np.float32), rng.random(5).astype(np.float32)
    for _ in range(2):  # the second time with memory that was given back
        sparse = flow.propagate_sparse(graph, flow.SparseFlow.from_dense(pi), beta)
        assert np.array_equal(sparse.dense(), flow.propagate(graph, pi, beta))


@pytest.mark.parametrize("inverse", [True, False])
@pytest.mark.parametrize("stay", [True, False])
def test_walks_a_knowledge_graph_as_its_edges_would_be(inverse, stay):
    rng = np.random.default_rng(7)
    kg = facts(rng)
    edges, whole = flow.FactGraph(kg, inverse, stay), flow_graph(kg, inverse, stay)
    assert (edges.num_nodes, edges.num_relations) == (whole.num_nodes, whole.num_relations)
    pi = flow.SparseFlow.start([kg.entity_id("e001")], kg.num_entity_ids)
    dense = pi.dense()
    for _ in range(4):
        beta = rng.random(edges.num_relations).astype(np.float32)
        rho = rng.normal(scale=3, size=kg.num_entity_ids).astype(np.float32)
        assert np.array_equal(
            flow.propagate_sparse(edges, pi, beta).dense(), flow.propagate(whole, dense, beta)
        )
        pi = flow.hop_sparse(edges, pi, beta, rho, 0.7)
        dense = pi.dense()
    assert len(pi) > 10


@given(seed=st.integers(0, 10**6), scale=st.sampled_from([0.0, 1.0, 50.0, 1e4]))
def test_hops_like_the_dense_hop(seed, scale):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 40, 3, 120)
    pi, beta = some_flow(rng, 40, 3, np.float64), rng.random(3)
    rho = rng.normal(scale=scale, size=40)
    dense = flow.hop(graph, pi, beta, rho=rho, gate=0.9, reachable_only=True)
    start = flow.SparseFlow.from_dense(pi)
    sparse = flow.hop_sparse(graph, start, beta, rho, 0.9)
    assert np.allclose(sparse.dense(), dense, rtol=1e-9, atol=1e-300)
    by_call = flow.hop_sparse(graph, start, beta, lambda nodes: rho[nodes], 0.9)
    assert np.array_equal(by_call.values, sparse.values)
    single = flow.SparseFlow(start.nodes, start.values.astype(np.float32), 40)
    narrow = flow.hop_sparse(graph, single, beta.astype(np.float32), rho, 0.9)
    assert narrow.values.dtype == np.float32
    assert np.allclose(narrow.dense(), dense, rtol=1e-4, atol=1e-30)


def test_a_dead_hop_holds_nothing():
    graph = flow.FlowGraph([0], [0], [1], 3, 1)
    pi = flow.SparseFlow.start([2], 3)
    for beta in (np.ones(1), np.zeros(1)):
        dead = flow.hop_sparse(graph, pi, beta, np.ones(3), 1.0)
        assert len(dead) == 0
        assert not dead.dense().any()
        assert len(flow.hop_sparse(graph, dead, beta)) == 0
    empty = flow.FlowGraph([], [], [], 0, 0)
    assert len(flow.hop_sparse(empty, flow.SparseFlow.start([], 0), np.zeros(0))) == 0


def test_nan_surfaces():
    graph = flow.FlowGraph([0, 1], [0, 0], [1, 2], 3, 1)
    pi = flow.SparseFlow.from_dense(np.array([np.nan, 0.5, 0]))
    assert np.isnan(flow.hop_sparse(graph, pi, np.ones(1)).values).all()


@pytest.mark.parametrize("array", ["out_offsets", "out_relations", "out_tails", "in_heads"])
@pytest.mark.parametrize("value", [-5, 2**30])
def test_a_damaged_store_is_named(tmp_path, array, value):
    kg = facts(np.random.default_rng(3))
    kg.save(tmp_path)
    path = next(tmp_path.glob(f"{array}*.npy"))
    stored = np.load(path, mmap_mode="r+")
    stored[1:-1] = value
    stored.flush()
    damaged = KnowledgeGraph.open(tmp_path)
    pi = flow.SparseFlow.start(np.arange(kg.num_entity_ids), kg.num_entity_ids)
    edges = flow.FactGraph(damaged)
    with pytest.raises(DamagedStore):
        flow.propagate_sparse(edges, pi, np.ones(edges.num_relations))


def test_a_start_is_shared_and_checked():
    start = flow.SparseFlow.start([4, 1, 4], 6)
    assert start.nodes.tolist() == [1, 4]
    assert start.values.tolist() == [0.5, 0.5]
    assert len(flow.SparseFlow.start([], 6)) == 0
    with pytest.raises(ValueError, match="ids below 6"):
        flow.SparseFlow.start([6], 6)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"beta": np.ones(2)}, ValueError, r"beta must have shape \(1,\), got \(2,\)"),
        ({"beta": np.ones(1, int)}, TypeError, "beta must be float32, float64 or float16"),
        ({"pi": flow.SparseFlow.start([1], 4)}, ValueError, "a flow over 3 nodes, got 4"),
        ({"rho": np.ones(2)}, ValueError, r"rho must have shape \(3,\), got \(2,\)"),
        ({"rho": lambda nodes: np.ones(9)}, ValueError, r"rho must have shape \(1,\), got \(9,\)"),
        (
            {"pi": flow.SparseFlow(np.array([1, 0], np.int32), np.ones(2), 3)},
            ValueError,
            "nodes must ascend and lie below 3",
        ),
    ],
)
def test_bad_arguments(changes, error, message):
    arguments = {"pi": flow.SparseFlow.start([0], 3), "beta": np.ones(1)} | changes
    with pytest.raises(error, match=message):
        flow.hop_sparse(flow.FlowGraph([0, 1], [0, 0], [1, 2], 3, 1), **arguments)
