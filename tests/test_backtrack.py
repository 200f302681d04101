"""Paths behind targets: valid, complete, in a total order, alike in every batch shape."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference_backtrack as reference
from hyperhop import flow

# Few values, so that ties are the normal case; some flow leaks, some relations are shut.
MASS = st.sampled_from([0.0, 0.0, 0.125, 0.25, 0.5, 1.0])
ATTENTION = st.sampled_from([0.0, 0.25, 0.5, 0.5, 1.0])


@st.composite
def histories(draw, most_nodes=6, most_edges=14):
    """A multigraph and what a flow was at each hop; nothing ties the flow to the graph."""
    nodes, relations = draw(st.integers(1, most_nodes)), draw(st.integers(1, 3))
    edge = st.tuples(*(st.integers(0, bound - 1) for bound in (nodes, relations, nodes)))
    edges = draw(st.lists(edge, max_size=most_edges))
    hops = draw(st.integers(0, 3))
    dtype = draw(st.sampled_from([np.float32, np.float64]))

    def arrays(values, size, count):
        lists = st.lists(values, min_size=size, max_size=size)
        return [np.array(draw(lists), dtype) for _ in range(count)]

    return (
        nodes,
        relations,
        edges,
        arrays(MASS, nodes, hops + 1),
        arrays(ATTENTION, relations, hops),
    )


def graph_of(nodes, relations, edges):
    columns = np.array(edges, np.int64).reshape(-1, 3).T
    return flow.FlowGraph(*columns, nodes, relations)


def rows(traced):
    """(target, entities, relations) of each path."""
    return [
        (int(target), tuple(entities.tolist()), tuple(relations.tolist()))
        for target, entities, relations in zip(
            traced.target, traced.entities, traced.sequences, strict=True
        )
    ]


@given(histories(), st.sampled_from(["pi", "pi*beta"]))
def test_greedy_matches_the_reference(history, score):
    nodes, relations, edges, flows, betas = history
    traced = flow.backtrack(graph_of(nodes, relations, edges), flows, betas, range(nodes), 1, score)
    with_beta = score == "pi*beta"
    paths = [reference.greedy(edges, flows, betas, v, with_beta) for v in range(nodes)]
    assert rows(traced) == [(v, *path) for v, path in enumerate(paths) if path]
    assert traced.unreached.tolist() == [v for v, path in enumerate(paths) if not path]
    assert traced.score.dtype == flows[0].dtype
    assert traced.entities.shape == (len(traced), len(betas) + 1)


@given(histories(), st.sampled_from(["pi", "pi*beta"]), st.integers(1, 12))
def test_best_matches_all_paths(history, score, k):
    nodes, relations, edges, flows, betas = history
    graph = graph_of(nodes, relations, edges)
    traced = flow.backtrack(graph, flows, betas, range(nodes), k, score, method="best")
    paths = reference.all_paths(edges, flows, betas, score == "pi*beta")[-1]
    expected = [(v, path) for v in range(nodes) for path in paths.get(v, [])[:k]]
    assert rows(traced) == [(v, *path[1:]) for v, path in expected]
    assert traced.score.tolist() == [flows[0].dtype.type(path[0]) for _, path in expected]
    assert traced.unreached.tolist() == [v for v in range(nodes) if v not in paths]


@given(histories(most_nodes=5), st.integers(1, 6))
def test_best_is_a_prefix_and_never_scores_below_greedy(history, k):
    nodes, relations, edges, flows, betas = history
    graph = graph_of(nodes, relations, edges)
    all_rows = {}
    for target, *path in rows(flow.backtrack(graph, flows, betas, range(nodes), 1000)):
        all_rows.setdefault(target, []).append(path)
    for size in range(1, k + 1):
        best = flow.backtrack(graph, flows, betas, range(nodes), size, method="best")
        assert rows(best) == [
            (target, *path) for target, paths in all_rows.items() for path in paths[:size]
        ]
    best = flow.backtrack(graph, flows, betas, range(nodes), method="best")
    greedy = flow.backtrack(graph, flows, betas, range(nodes))
    assert np.array_equal(best.target, greedy.target)
    assert (best.score >= greedy.score).all()


@pytest.mark.parametrize("score", ["pi", "pi*beta"])
@pytest.mark.parametrize("seed", range(10))
def test_faithful_over_multigraphs_with_a_strong_content_bias(seed, score):
    """Theorem 3: what a flow holds has a path from its start, whatever the content says."""
    rng = np.random.default_rng(seed)
    nodes, relations, edges = 40, 4, 120
    src, dst = rng.integers(0, nodes, edges), rng.integers(0, nodes, edges)
    src[:10] = dst[:10]  # self loops
    relation = rng.integers(0, relations, edges)
    src[10:30], dst[10:30] = src[30:50], dst[30:50]  # parallel edges, some of them repeated
    graph = flow.FlowGraph(src, relation, dst, nodes, relations)
    start = np.zeros(nodes)
    start[rng.integers(0, nodes, 2)] = 0.5
    flows, betas = [start], []
    for _ in range(4):
        betas.append(rng.random(relations))
        rho = rng.normal(scale=50, size=nodes)
        flows.append(flow.hop(graph, flows[-1], betas[-1], rho=rho, gate=1.0, reachable_only=True))
    held = np.flatnonzero(flows[-1] > 0)
    facts = set(zip(src.tolist(), relation.tolist(), dst.tolist(), strict=True))
    for k in (1, 5):
        traced = flow.backtrack(graph, flows, betas, held, k, score)
        assert traced.unreached.size == 0
        assert np.array_equal(np.unique(traced.target), np.arange(held.size))
        assert np.array_equal(traced.entities[:, -1], held[traced.target])
        for _, entities, path in rows(traced):
            assert start[entities[0]] > 0
            for hop, fact in enumerate(zip(entities, path, entities[1:], strict=False)):
                assert fact in facts
                assert flows[hop][fact[0]] > 0
    nowhere = np.flatnonzero(flows[-1] == 0)
    assert len(flow.backtrack(graph, flows, betas, nowhere, 1, score)) == 0


def test_the_leaked_mass_of_the_papers_form_never_makes_a_path():
    # 0 -> 1; 2 -> 3 -> 1: eps leaks mass to 2 and 3, so that greedy alone would step there.
    graph = flow.FlowGraph([0, 1, 2, 3], [0, 0, 0, 0], [1, 1, 3, 1], 4, 1)
    beta = np.ones(1)
    flows = [np.array([1.0, 0, 0, 0]), np.array([0, 0.1, 0.3, 0.6]), np.array([0, 0.2, 0.1, 0.7])]
    traced = flow.backtrack(graph, flows, [beta, beta], [1, 3, 2, -1])
    assert rows(traced) == [(0, (0, 1, 1), (0, 0))]
    assert traced.unreached.tolist() == [1, 2]


def test_parallel_edges_name_the_relation_of_the_largest_attention():
    graph = flow.FlowGraph([0, 0, 0, 1], [2, 0, 1, 0], [2, 2, 2, 2], 3, 3)
    flows = [np.array([0.4, 0.6, 0]), np.array([0, 0, 1.0])]
    beta = np.array([0.25, 0.5, 0.5])
    assert rows(flow.backtrack(graph, flows, [beta], [2])) == [(0, (0, 2), (1,))]
    # The paper's argmax of the flow alone steps over an edge that hardly took part.
    assert rows(flow.backtrack(graph, flows, [beta], [2], score="pi")) == [(0, (1, 2), (0,))]
    both = flow.backtrack(graph, flows, [beta], [2], k=9)
    assert both.entities.tolist() == [[0, 2], [1, 2]]
    assert both.score.tolist() == [math.log(0.4 * 0.5), math.log(0.6 * 0.25)]


def test_products_that_underflow_still_make_a_path():
    for dtype, tiny in ((np.float32, 1e-44), (np.float64, 1e-320)):
        graph = flow.FlowGraph([0], [0], [1], 2, 1)
        flows, beta = np.array([[tiny, 0], [0, 1]], dtype), np.array([tiny], dtype)
        traced = flow.backtrack(graph, flows, [beta], [1])
        assert rows(traced) == [(0, (0, 1), (0,))]
        assert np.isfinite(traced.score).all()


def batch(rng, graphs, nodes, hops, relations, dtype):
    """Graphs of their own sizes, their flows and attentions, some without an edge or a node."""
    parts = []
    for _ in range(graphs):
        size = int(rng.integers(0, nodes))
        edges = int(rng.integers(0, 4 * nodes)) if size else 0
        columns = [
            rng.integers(0, bound, edges) for bound in (max(size, 1), relations, max(size, 1))
        ]
        flows = [np.where(rng.random(size) < 0.4, 0, rng.random(size)) for _ in range(hops + 1)]
        betas = [rng.random(relations) for _ in range(hops)]
        parts.append((size, columns, *([a.astype(dtype) for a in one] for one in (flows, betas))))
    return parts


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 4])
def test_packed_graphs_equal_each_alone(dtype, k):
    relations, hops = 3, 3
    parts = batch(np.random.default_rng(k), 9, 20, hops, relations, dtype)
    offsets = np.concatenate([[0], np.cumsum([part[0] for part in parts])])
    columns = [
        np.concatenate(
            [part[1][i] + (0 if i == 1 else at) for part, at in zip(parts, offsets, strict=False)]
        )
        for i in range(3)
    ]
    packed = flow.FlowGraph(*columns, offsets[-1], relations)
    flows = [np.concatenate([part[2][hop] for part in parts]) for hop in range(hops + 1)]
    betas = [np.stack([part[3][hop] for part in parts]) for hop in range(hops)]
    order = np.random.default_rng(1).permutation(offsets[-1])  # targets of graphs in any order
    results = [
        flow.backtrack(packed, flows, betas, order, k, segments=offsets, threads=threads)
        for threads in (1, 3)
    ]
    assert rows(results[0]) == rows(results[1])
    by_target = {}
    for (target, *path), score in zip(rows(results[0]), results[0].score, strict=True):
        by_target.setdefault(int(order[target]), []).append((*path, score))
    for (size, own, own_flows, own_betas), at in zip(parts, offsets, strict=False):
        graph = flow.FlowGraph(*own, size, relations)
        alone = flow.backtrack(graph, own_flows, own_betas, range(size), k)
        for target in range(size):
            expected = [
                (tuple(node + at for node in path[0]), path[1], score)
                for (t, *path), score in zip(rows(alone), alone.score, strict=True)
                if t == target
            ]
            assert by_target.get(target + at, []) == expected


@pytest.mark.parametrize("k", [1, 4])
def test_lanes_equal_each_alone(k):
    rng = np.random.default_rng(2)
    size, relations, lanes, hops = 30, 3, 5, 3
    graph = flow.FlowGraph(
        *(rng.integers(0, bound, 90) for bound in (size, relations, size)), size, relations
    )
    flows = [
        np.where(rng.random((size, lanes)) < 0.4, 0, rng.random((size, lanes)))
        for _ in range(hops + 1)
    ]
    betas = [rng.random((relations, lanes)) for _ in range(hops)]
    targets = rng.integers(-1, size, (lanes, 7))
    together = flow.backtrack(graph, flows, betas, targets, k)
    expected, unreached = [], []
    for lane in range(lanes):
        alone = flow.backtrack(
            graph,
            [one[:, lane] for one in flows],
            [one[:, lane] for one in betas],
            targets[lane],
            k,
        )
        expected += [(target + 7 * lane, *path) for target, *path in rows(alone)]
        unreached += (alone.unreached + 7 * lane).tolist()
    assert rows(together) == expected
    assert together.unreached.tolist() == unreached


def test_empty_work():
    graph = flow.FlowGraph([], [], [], 0, 0)
    traced = flow.backtrack(graph, [np.zeros(0)], [], [])
    assert len(traced) == 0
    assert traced.entities.shape == (0, 1)
    graph = flow.FlowGraph([], [], [], 2, 0)
    traced = flow.backtrack(graph, [np.array([0, 1.0])], [], [1, 0, -1], k=3)
    assert rows(traced) == [(0, (1,), ())]
    assert traced.unreached.tolist() == [1]
    lanes = flow.backtrack(graph, [np.zeros((2, 0))], [], np.zeros((0, 4), np.int64))
    assert len(lanes) == 0


def test_nan_carries_no_flow_and_dtypes_widen():
    graph = flow.FlowGraph([0, 1], [0, 0], [2, 2], 3, 1)
    flows = [np.array([np.nan, 0.5, 0], np.float16), np.zeros(3, np.float32)]
    traced = flow.backtrack(graph, flows, [np.ones(1, np.float16)], [2])
    assert rows(traced) == [(0, (1, 2), (0,))]
    assert traced.score.dtype == np.float32
    assert flow.backtrack(graph, flows, [np.ones(1)], [2]).score.dtype == np.float64
    assert flow.backtrack(graph, flows, [np.full(1, np.nan)], [2]).unreached.tolist() == [0]


@pytest.mark.needs("torch")
def test_takes_tensors():
    import torch

    graph = flow.FlowGraph([0], [0], [1], 2, 1)
    traced = flow.backtrack(
        graph, [torch.tensor([1.0, 0]), torch.tensor([0, 1.0])], [torch.ones(1)], torch.tensor([1])
    )
    assert rows(traced) == [(0, (0, 1), (0,))]


GRAPH = ([0, 1], [0, 0], [1, 2], 3, 1)
FLOWS, BETAS = [np.ones(3)] * 3, [np.ones(1)] * 2


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"flows": FLOWS[:2]}, ValueError, "flows must be one more than betas, got 2 and 2"),
        (
            {"flows": [np.ones(3), np.ones(2), np.ones(3)]},
            ValueError,
            r"flows\[1\] must have shape",
        ),
        ({"betas": [np.ones(1), np.ones(2)]}, ValueError, r"betas\[1\] must have shape \(1,\)"),
        ({"flows": [np.ones(3, int)] * 3}, TypeError, r"flows\[0\] must be .* got dtype int64"),
        ({"targets": [3]}, ValueError, "targets must be node ids below 3, or -1 for none, got 3"),
        ({"targets": [-2]}, ValueError, "got -2"),
        ({"targets": [0.5]}, TypeError, "targets must be integers, got dtype float64"),
        ({"k": 0}, ValueError, "k must be at least 1, got 0"),
        ({"k": 1.5}, TypeError, "k must be an int, got float"),
        ({"score": "beta"}, ValueError, "score must be 'pi' or 'pi\\*beta', got 'beta'"),
        ({"method": "viterbi"}, ValueError, "method must be 'greedy', 'best' or None"),
        ({"k": 2, "method": "greedy"}, ValueError, "'greedy' finds one path a target, got k = 2"),
        ({"segments": [0, 2]}, ValueError, "segments must run from 0 to 3"),
        ({"segments": [0, 1, 3]}, ValueError, "segments must not cut an edge"),
        ({"segments": [0, 3]}, ValueError, r"betas\[0\] must have shape \(1, 1\), got \(1,\)"),
        (
            {"flows": [np.ones((3, 2))] * 3, "targets": [[0], [1]]},
            ValueError,
            r"betas\[0\] must have shape \(1, 2\)",
        ),
        (
            {"flows": [np.ones((3, 2))] * 3, "betas": [np.ones((1, 2))] * 2},
            ValueError,
            r"targets must have shape \(2, K\), a row a lane, got \(1,\)",
        ),
    ],
)
def test_bad_arguments(changes, error, message):
    arguments = {"flows": FLOWS, "betas": BETAS, "targets": [2]} | changes
    with pytest.raises(error, match=message):
        flow.backtrack(flow.FlowGraph(*GRAPH), **arguments)
