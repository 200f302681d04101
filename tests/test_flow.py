"""FlowGraph and structural flow, on every instruction set."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyperhop as hh
import reference_flow as reference
from hyperhop import _core, flow
from hyperhop.flow import FlowGraph
from strategies import seeds
from strategies_flow import dtypes, graphs, pack, random_flow, random_graph

SMALL = FlowGraph([0, 0, 1, 1, 2], [0, 1, 0, 0, 1], [1, 1, 2, 2, 2], 3, 2)


def ids(values):
    return np.array(values, np.int64)


# --- the graph ------------------------------------------------------------------------------------


def test_a_graph_keeps_its_edges_in_the_order_given():
    src, relation, dst = ids([2, 0, 0]), np.array([1, 0, 1], np.uint8), ids([2, 2, 1])
    g = FlowGraph(src, relation, dst, np.int64(3), 2)
    src[0] = 0
    assert (g.num_nodes, g.num_relations, g.num_edges) == (3, 2, 3)
    assert type(g.num_nodes) is int
    for got, expected in ((g.src, [2, 0, 0]), (g.relation, [1, 0, 1]), (g.dst, [2, 2, 1])):
        assert got.dtype == np.int32
        assert got.tolist() == expected
        with pytest.raises(ValueError, match="read-only"):
            got[0] = 0
    assert repr(g) == "FlowGraph(3 nodes, 3 edges, 2 relations)"
    assert hh.flow.FlowGraph is FlowGraph
    with pytest.raises(AttributeError):
        g.num_edges = 4


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
def test_a_graph_can_be_copied(clone):
    other = clone(SMALL)
    pi, beta = np.array([1.0, 0.5, 0.25]), np.array([0.5, 0.25])
    assert np.array_equal(flow.propagate(other, pi, beta), flow.propagate(SMALL, pi, beta))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0], [0], [3], 3, 1), ValueError, r"dst must lie in 0\.\.2, got 3"),
        (([-1], [0], [0], 3, 1), ValueError, r"src must lie in 0\.\.2, got -1"),
        (([0], [1], [0], 3, 1), ValueError, r"relation must lie in 0\.\.0, got 1"),
        (([2**32], [0], [0], 3, 1), ValueError, r"src must lie in 0\.\.2, got 4294967296"),
        ((np.int8([5]), [0], [0], 3, 1), ValueError, r"src must lie in 0\.\.2, got 5 at edge 0"),
        (([0.0], [0], [0], 3, 1), TypeError, "src must be a 1-D array of integers, got float64"),
        (([0], [[0]], [0], 3, 1), TypeError, r"relation must be .* with shape \(1, 1\)"),
        (
            ([0, 1], [0], [0], 3, 1),
            ValueError,
            "src, relation and dst must have one length, got 2, 1 and 1",
        ),
        (([0], [0], [0], -1, 1), ValueError, "num_nodes must be 0 to 2147483647, got -1"),
        (([], [], [], 0, 2**31), ValueError, "num_relations must be 0 to 2147483647"),
        (([0], [0], [0], 3.0, 1), TypeError, "num_nodes must be an int, got float"),
        (([0], [0], [0], True, 1), TypeError, "num_nodes must be an int, got bool"),
    ],
)
def test_a_wrong_graph_is_refused(arguments, error, message):
    with pytest.raises(error, match=f"FlowGraph: {message}"):
        FlowGraph(*arguments)


# --- structural flow ------------------------------------------------------------------------------


@given(graphs(), dtypes, seeds)
def test_matches_the_reference(isa, g, dtype, seed):
    pi, beta, _, _, grad = random_flow(np.random.default_rng(seed), g, dtype)
    phi = flow.propagate(g, pi, beta)
    assert phi.dtype == dtype
    exact = reference.propagate(g, pi, beta)
    tolerance = (g.num_edges + 8) * np.finfo(dtype).eps  # one rounding an edge, at worst
    assert np.allclose(phi, exact, rtol=tolerance, atol=0)
    gradients = flow.propagate_backward(g, pi, beta, grad)
    expected = reference.propagate_backward(g, pi, beta, grad)
    # The sums of the sizes of their terms bound the rounding of sums of mixed sign.
    sizes = reference.propagate_backward(g, pi, beta, np.abs(grad))
    for got, value, size in zip(gradients, expected, sizes, strict=True):
        assert got.dtype == dtype
        assert (np.abs(got - value) <= tolerance * size).all()


def by_hand(g, pi, beta, grad):
    """The sums one edge after another, in the order that is promised."""
    phi, grad_pi = np.zeros_like(pi), np.zeros_like(pi)
    for e in np.lexsort((g.relation, g.src, g.dst)):
        phi[g.dst[e]] += pi[g.src[e]] * beta[g.relation[e]]
    for e in np.lexsort((g.relation, g.dst, g.src)):
        grad_pi[g.src[e]] += beta[g.relation[e]] * grad[g.dst[e]]
    return phi, grad_pi


@given(graphs(), dtypes, seeds)
def test_edges_are_added_in_the_promised_order(isa, g, dtype, seed):
    pi, beta, _, _, grad = random_flow(np.random.default_rng(seed), g, dtype)
    phi, grad_pi = by_hand(g, pi, beta, grad)
    assert np.array_equal(flow.propagate(g, pi, beta), phi)
    assert np.array_equal(flow.propagate_backward(g, pi, beta, grad)[0], grad_pi)


@given(graphs(), seeds)
def test_the_order_of_the_edges_given_changes_nothing(isa, g, seed):
    rng = np.random.default_rng(seed)
    pi, beta, _, _, grad = random_flow(rng, g, np.float32)
    order = rng.permutation(g.num_edges)
    other = FlowGraph(g.src[order], g.relation[order], g.dst[order], g.num_nodes, g.num_relations)
    assert np.array_equal(flow.propagate(g, pi, beta), flow.propagate(other, pi, beta))
    for a, b in zip(
        flow.propagate_backward(g, pi, beta, grad),
        flow.propagate_backward(other, pi, beta, grad),
        strict=True,
    ):
        assert np.array_equal(a, b)


@given(st.lists(graphs(num_relations=3), min_size=1, max_size=5), dtypes, seeds)
def test_packed_graphs_have_the_bits_of_each_alone(isa, parts, dtype, seed):
    rng = np.random.default_rng(seed)
    whole, segments = pack(parts)
    pi, _, _, _, grad = random_flow(rng, whole, dtype)
    beta = rng.random((len(parts), 3)).astype(dtype)
    phi = flow.propagate(whole, pi, beta, segments)
    grad_pi, grad_beta = flow.propagate_backward(whole, pi, beta, grad, segments)
    assert grad_beta.shape == beta.shape
    for i, g in enumerate(parts):
        own = slice(segments[i], segments[i + 1])
        assert np.array_equal(phi[own], flow.propagate(g, pi[own], beta[i]))
        alone = flow.propagate_backward(g, pi[own], beta[i], grad[own])
        assert np.array_equal(grad_pi[own], alone[0])
        assert np.array_equal(grad_beta[i], alone[1])


@given(graphs(), dtypes, st.sampled_from([0, 1, 2, 7, 8, 16, 19, 33]), seeds)
def test_lanes_have_the_bits_of_each_alone(isa, g, dtype, lanes, seed):
    pi, beta, _, _, grad = random_flow(np.random.default_rng(seed), g, dtype, (lanes,))
    phi = flow.propagate(g, pi, beta)
    grad_pi, grad_beta = flow.propagate_backward(g, pi, beta, grad)
    assert phi.shape == grad_pi.shape == pi.shape
    assert grad_beta.shape == beta.shape
    for b in range(lanes):
        assert np.array_equal(phi[:, b], flow.propagate(g, pi[:, b], beta[:, b]))
        alone = flow.propagate_backward(g, pi[:, b], beta[:, b], grad[:, b])
        assert np.array_equal(grad_pi[:, b], alone[0])
        assert np.array_equal(grad_beta[:, b], alone[1])


@given(graphs(), dtypes, st.sampled_from([0, 1, 2, 7, 16, 19]), seeds)
def test_one_beta_of_all_lanes_has_the_bits_of_its_copies(isa, g, dtype, lanes, seed):
    pi, *_ = random_flow(np.random.default_rng(seed), g, dtype, (lanes,))
    beta = random_flow(np.random.default_rng(seed), g, dtype)[1]
    shared = np.broadcast_to(beta[:, None], (len(beta), lanes))
    expected = flow.propagate(g, pi, np.ascontiguousarray(shared))
    assert np.array_equal(flow.propagate(g, pi, shared), expected)
    out = np.empty_like(pi)
    assert np.array_equal(flow.propagate(g, pi, shared[::-1][::-1], out=out), expected)
    with pytest.raises(ValueError, match=r"beta must have shape \("):
        flow.propagate(g, pi, np.broadcast_to(beta[:1, None], (len(beta) + 1, lanes)))


@pytest.mark.parametrize("shape", [(), (5,)])
@pytest.mark.parametrize("factor", [1, 2**17])
def test_ids_that_fill_a_word_and_more(isa, shape, factor):
    """13 bits of nodes; relations of 4 bits, or of 20, which with them need a word of 64."""
    nodes, relations = 2**13, 8
    few = random_graph(np.random.default_rng(3), nodes, 40_000, relations)
    last = factor * relations - 1
    spread = last - np.arange(relations) * factor  # falls, so that the order of sums changes
    g = FlowGraph(few.src, spread[few.relation], few.dst, nodes, last + 1)
    pi, beta, *_, grad = random_flow(np.random.default_rng(4), few, np.float32, shape)
    wide = np.zeros((last + 1, *shape), np.float32)
    wide[spread] = beta
    known = flow.propagate(few, pi, beta)
    assert np.allclose(flow.propagate(g, pi, wide), known, rtol=1e-5, atol=1e-6)
    grad_pi, grad_beta = flow.propagate_backward(g, pi, wide, grad)
    known_pi, known_beta = flow.propagate_backward(few, pi, beta, grad)
    assert np.allclose(grad_pi, known_pi, rtol=1e-4, atol=1e-5)
    assert np.allclose(grad_beta[spread], known_beta, rtol=1e-4, atol=1e-3)
    unused = np.ones(last + 1, bool)
    unused[spread] = False
    assert not grad_beta[unused].any()


@pytest.fixture(scope="module")
def large():
    """Several edge blocks, one of them a hub's alone, on many relations."""
    return random_graph(np.random.default_rng(0), 20_000, 400_000, 50, hub=True)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_threads_change_nothing(isa, large, shape):
    rng = np.random.default_rng(1)
    pi, beta, _, _, grad = random_flow(rng, large, np.float32, shape)
    phi = flow.propagate(large, pi, beta, threads=1)
    gradients = flow.propagate_backward(large, pi, beta, grad, threads=1)
    for threads in (2, 5):
        assert np.array_equal(flow.propagate(large, pi, beta, threads=threads), phi)
        again = flow.propagate_backward(large, pi, beta, grad, threads=threads)
        assert all(np.array_equal(a, b) for a, b in zip(again, gradients, strict=True))


def test_a_large_graph_packed_twice_has_the_bits_of_one(isa, large):
    pi, beta, _, _, grad = random_flow(np.random.default_rng(2), large, np.float32)
    whole, segments = pack([FlowGraph([], [], [], 7, 50), large, large])
    many = np.concatenate([np.zeros(7, np.float32), pi, pi])
    grads = np.concatenate([np.zeros(7, np.float32), grad, grad])
    betas = np.stack([beta, beta, beta])
    grad_pi, grad_beta = flow.propagate_backward(whole, many, betas, grads, segments)
    alone = flow.propagate_backward(large, pi, beta, grad)
    assert not grad_beta[0].any()
    for i in (1, 2):
        assert np.array_equal(grad_beta[i], alone[1])
        assert np.array_equal(grad_pi[segments[i] : segments[i + 1]], alone[0])
    expected = reference.propagate_backward(large, pi, beta, grad)[1]
    assert np.allclose(alone[1], expected, rtol=1e-4, atol=0.05)


def test_the_same_bits_on_every_isa(large):
    pi, beta, _, _, grad = random_flow(np.random.default_rng(3), large, np.float32)
    before, seen = _core.isa(), set()
    for name in _core.isas():
        _core.select_isa(name)
        arrays = [flow.propagate(large, pi, beta), *flow.propagate_backward(large, pi, beta, grad)]
        seen.add(b"".join(array.tobytes() for array in arrays))
    _core.select_isa(before)
    assert len(seen) == 1


def test_special_values(isa):
    beta = np.array([1.0, 0.5])
    phi = flow.propagate(SMALL, np.array([np.nan, 1, 0]), beta)
    assert np.isnan(phi).tolist() == [False, True, False]
    assert phi[2] == 2
    phi = flow.propagate(SMALL, np.array([1.0, 1, 1]), np.array([1.0, np.inf]))
    assert phi.tolist() == [0, np.inf, np.inf]
    grad_pi, grad_beta = flow.propagate_backward(
        SMALL, np.array([1.0, 1, 1]), beta, np.array([0, np.nan, 1])
    )
    assert np.isnan(grad_pi).tolist() == [True, False, False]
    assert np.isnan(grad_beta).tolist() == [True, True]


@pytest.mark.parametrize("lanes", [(), (4,)])
def test_nothing_at_all(lanes):
    for g in (
        FlowGraph([], [], [], 0, 0),
        FlowGraph([], [], [], 0, 3),
        FlowGraph([], [], [], 4, 0),
    ):
        pi, beta, _, _, grad = random_flow(np.random.default_rng(0), g, np.float32, lanes)
        assert not flow.propagate(g, pi, beta).any()
        grad_pi, grad_beta = flow.propagate_backward(g, pi, beta, grad)
        assert grad_pi.shape == pi.shape
        assert grad_beta.shape == beta.shape
        assert not grad_pi.any()
        assert not grad_beta.any()
    empty = flow.propagate(FlowGraph([], [], [], 0, 2), np.zeros(0), np.zeros((0, 2)), [0])
    assert empty.shape == (0,)


# --- arguments ------------------------------------------------------------------------------------


def test_strides_and_out():
    rng = np.random.default_rng(0)
    g = random_graph(rng, 50, 300, 5)
    pi, beta, _, _, _ = random_flow(rng, g, np.float64, (6,))
    phi = flow.propagate(g, pi, beta)
    assert np.array_equal(flow.propagate(g, np.asfortranarray(pi), beta[:, ::-1][:, ::-1]), phi)
    out = np.empty((6, 50)).T
    assert flow.propagate(g, pi, beta, out=out) is out
    assert np.array_equal(out, phi)
    wide = np.zeros(100)
    wide[::2] = pi[:, 0]
    column = flow.propagate(g, wide[::2], beta[:, 0])
    assert np.array_equal(column, phi[:, 0])
    shared = np.ascontiguousarray(pi[:, 0])
    assert flow.propagate(g, shared, beta[:, 0], out=shared) is shared  # read before it is written
    assert np.array_equal(shared, phi[:, 0])
    with pytest.raises(TypeError, match="propagate: out must have dtype float64, got float32"):
        flow.propagate(g, pi, beta, out=np.empty((50, 6), np.float32))
    with pytest.raises(ValueError, match=r"propagate: out must be writeable with shape \(50, 6\)"):
        flow.propagate(g, pi, beta, out=np.empty((6, 50)))


def test_the_widest_dtype_is_returned():
    pi, beta = np.array([1, 0.3, 0.1]), np.array([0.7, 0.2])
    half, single, double = np.float16, np.float32, np.float64
    for a, b, result in [
        (half, half, single),
        (half, single, single),
        (single, double, double),
        (half, double, double),
    ]:
        x, y = pi.astype(a), beta.astype(b)
        for own, other in ((x, y), (pi.astype(b), beta.astype(a))):
            phi = flow.propagate(SMALL, own, other)
            assert phi.dtype == result
            wide = flow.propagate(SMALL, own.astype(result), other.astype(result))
            assert np.array_equal(phi, wide)
    assert flow.propagate(SMALL, [1.0, 0, 0], beta).dtype == double
    grad = np.ones(3, single)
    assert {x.dtype.type for x in flow.propagate_backward(SMALL, pi, beta, grad)} == {double}


@pytest.mark.needs("torch")
def test_torch_tensors_come_back_as_tensors():
    import torch

    pi, beta = torch.tensor([1.0, 0.5, 0.25]), torch.tensor([0.5, 0.25])
    phi = flow.propagate(SMALL, pi, beta)
    assert phi.dtype == torch.float32
    assert np.array_equal(phi.numpy(), flow.propagate(SMALL, pi.numpy(), beta.numpy()))
    assert torch.equal(flow.propagate(SMALL, pi.bfloat16(), beta.bfloat16()), phi)
    out = torch.empty(3)
    assert flow.propagate(SMALL, pi, beta, out=out) is out
    assert torch.equal(out, phi)
    gradients = flow.propagate_backward(SMALL, pi, beta.double(), torch.ones(3))
    assert all(x.dtype == torch.float64 for x in gradients)
    g = FlowGraph(
        *(torch.from_numpy(x.copy()) for x in (SMALL.src, SMALL.relation, SMALL.dst)), 3, 2
    )
    assert torch.equal(flow.propagate(g, pi, beta), phi)
    with pytest.raises(TypeError, match=r"propagate: pi requires grad.*hyperhop\.rsf"):
        flow.propagate(SMALL, pi.requires_grad_(), beta)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((np.zeros(3), np.zeros(3)), ValueError, r"beta must have shape \(2,\), got \(3,\)"),
        ((np.zeros(2), np.zeros(2)), ValueError, r"pi must have shape .* with V = 3, got \(2,\)"),
        ((np.zeros((3, 4)), np.zeros((2, 5))), ValueError, r"beta must have shape \(2, 4\), got"),
        ((np.zeros((3, 1, 1)), np.zeros(2)), ValueError, r"pi must have shape .* got \(3, 1, 1\)"),
        ((np.zeros(3), np.zeros(2, int)), TypeError, "beta must be float32, float64 or float16"),
        ((np.zeros(3, complex), np.zeros(2)), TypeError, "pi must be float32.* got dtype complex"),
        ((np.zeros((3, 2)), np.zeros(2), [0, 3]), ValueError, r"segments go with pi of shape \(V,"),
        ((np.zeros(3), np.zeros((1, 2)), [0.0, 3]), TypeError, "segments must be .* integers, got"),
        (
            (np.zeros(3), np.zeros((1, 2)), [[0, 3]]),
            ValueError,
            r"segments must be the G \+ 1 node",
        ),
        ((np.zeros(3), np.zeros((1, 2)), [0, 2]), ValueError, "segments must run from 0 to 3"),
        ((np.zeros(3), np.zeros((3, 2)), [0, 2, 1, 3]), ValueError, "segments fall after entry 1"),
        (
            (np.zeros(3), np.zeros((2, 2)), [0, 1, 3]),
            ValueError,
            "segments must not cut .* before node 1",
        ),
        (
            (np.zeros(3), np.zeros(2), [0, 3]),
            ValueError,
            r"beta must have shape \(1, 2\), got \(2,",
        ),
    ],
)
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=f"propagate: {message}"):
        flow.propagate(SMALL, *arguments)
    pi, beta, *segments = arguments
    with pytest.raises(error, match=f"propagate_backward: {message}"):
        flow.propagate_backward(SMALL, pi, beta, np.zeros(3), *segments)


def test_more_bad_arguments():
    pi, beta = np.zeros(3), np.zeros(2)
    with pytest.raises(TypeError, match="propagate: g must be a FlowGraph, got list"):
        flow.propagate([], pi, beta)
    with pytest.raises(ValueError, match="propagate: threads must be at least 1, got 0"):
        flow.propagate(SMALL, pi, beta, threads=0)
    with pytest.raises(ValueError, match=r"propagate_backward: grad must have shape \(3,\)"):
        flow.propagate_backward(SMALL, pi, beta, np.zeros(2))
