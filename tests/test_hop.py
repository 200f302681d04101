"""Hops: distributions over nodes and their gradients, on every instruction set."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference_flow as reference
from hyperhop import _core, flow
from hyperhop.flow import FlowGraph
from strategies import seeds
from strategies_flow import dtypes, graphs, pack, random_flow, random_graph

CHAIN = FlowGraph([0, 1, 1], [0, 0, 1], [1, 2, 2], 4, 2)  # 0 -> 1 => 2, and 3 apart
NAMES = ("pi", "beta", "rho", "gate")


def arrays_of(gradients):
    return [getattr(gradients, name) for name in NAMES]


@given(graphs(), dtypes, st.booleans(), st.booleans(), seeds)
def test_matches_the_reference(isa, g, dtype, with_rho, reachable_only, seed):
    pi, beta, rho, gate, _ = random_flow(np.random.default_rng(seed), g, dtype)
    content = (rho, gate) if with_rho else ()
    result = flow.hop(g, pi, beta, *content, reachable_only=reachable_only)
    assert result.dtype == dtype
    exact = reference.hop(g, pi, beta, *content, reachable_only=reachable_only)
    assert np.allclose(result, exact, rtol=(g.num_edges + 200) * np.finfo(dtype).eps, atol=0)
    if result.any():
        assert result.sum(dtype=np.float64) == pytest.approx(
            1, abs=100 * float(np.finfo(dtype).eps)
        )


@pytest.mark.parametrize(("dtype", "lowest"), [(np.float32, -87.0), (np.float64, -700.0)])
def test_exponentials_are_accurate(isa, dtype, lowest):
    """Two nodes with rho 0 and x < 0: the quotient of their masses is e^x."""
    x = np.concatenate([np.linspace(lowest, 0, 20_001), -np.logspace(-12, 0, 1001)]).astype(dtype)
    g = FlowGraph([], [], [], 2 * x.size, 1)
    rho = np.zeros(2 * x.size, dtype)
    rho[1::2] = x
    beta = np.zeros((x.size, 1), dtype)
    pi = flow.hop(g, rho, beta, rho, 1.0, 1.0, np.arange(x.size + 1) * 2).astype(np.longdouble)
    exact = np.exp(x.astype(np.longdouble))
    error = np.abs(pi[1::2] / pi[::2] / exact - 1).max()
    assert error < 4 * np.finfo(dtype).eps


@given(st.lists(graphs(num_relations=3), min_size=1, max_size=5), dtypes, st.booleans(), seeds)
def test_packed_graphs_have_the_bits_of_each_alone(isa, parts, dtype, reachable_only, seed):
    rng = np.random.default_rng(seed)
    whole, segments = pack(parts)
    pi, _, rho, _, grad = random_flow(rng, whole, dtype)
    beta, gate = rng.random((len(parts), 3)).astype(dtype), rng.random(len(parts)).astype(dtype)
    options = {"reachable_only": reachable_only}
    result = flow.hop(whole, pi, beta, rho, gate, segments=segments, **options)
    gradients = flow.hop_backward(
        whole, pi, beta, result, grad, rho, gate, segments=segments, **options
    )
    assert gradients.gate.shape == gate.shape
    for i, g in enumerate(parts):
        own = slice(segments[i], segments[i + 1])
        alone = flow.hop(g, pi[own], beta[i], rho[own], gate[i], **options)
        assert np.array_equal(result[own], alone)
        expected = flow.hop_backward(
            g, pi[own], beta[i], alone, grad[own], rho[own], gate[i], **options
        )
        got = (gradients.pi[own], gradients.beta[i], gradients.rho[own], gradients.gate[i])
        for a, b in zip(got, arrays_of(expected), strict=True):
            assert np.array_equal(a, b)


@given(graphs(), dtypes, st.sampled_from([0, 1, 2, 7, 8, 16, 19, 33]), st.booleans(), seeds)
def test_lanes_have_the_bits_of_each_alone(isa, g, dtype, lanes, reachable_only, seed):
    pi, beta, rho, gate, grad = random_flow(np.random.default_rng(seed), g, dtype, (lanes,))
    options = {"reachable_only": reachable_only}
    result = flow.hop(g, pi, beta, rho, gate, **options)
    gradients = flow.hop_backward(g, pi, beta, result, grad, rho, gate, **options)
    assert gradients.gate.shape == gate.shape
    for b in range(lanes):
        alone = flow.hop(g, pi[:, b], beta[:, b], rho[:, b], gate[b], **options)
        assert np.array_equal(result[:, b], alone)
        expected = flow.hop_backward(
            g, pi[:, b], beta[:, b], alone, grad[:, b], rho[:, b], gate[b], **options
        )
        for a, e in zip(arrays_of(gradients), arrays_of(expected), strict=True):
            assert np.array_equal(a[..., b], e)


@pytest.fixture(scope="module")
def large():
    return random_graph(np.random.default_rng(0), 20_000, 400_000, 50, hub=True)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_threads_and_isas_change_nothing(large, shape):
    pi, beta, rho, gate, grad = random_flow(np.random.default_rng(1), large, np.float32, shape)
    before, seen = _core.isa(), set()
    for name in _core.isas():
        _core.select_isa(name)
        for threads in (1, 2, 5):
            result = flow.hop(large, pi, beta, rho, gate, threads=threads)
            back = flow.hop_backward(large, pi, beta, result, grad, rho, gate, threads=threads)
            seen.add(b"".join(array.tobytes() for array in (result, *arrays_of(back))))
    _core.select_isa(before)
    assert len(seen) == 1


# --- gradients ------------------------------------------------------------------------------------


def numerical_gradient(run, array, weights):
    """Central differences of sum(weights * run(array))."""
    gradient = np.zeros_like(array)
    for i in np.ndindex(array.shape):
        sides = []
        for sign in (1, -1):
            moved = array.copy()
            moved[i] += sign * 1e-6
            sides.append(np.vdot(weights, run(moved)))
        gradient[i] = (sides[0] - sides[1]) / 2e-6
    return gradient


@given(
    st.sampled_from([1, 2, 5, 9]),
    st.sampled_from([0, 3, 30]),
    st.booleans(),
    st.sampled_from([0.5, 1e-3, 1e-8]),
    seeds,
)
def test_gradients_are_those_of_finite_differences(isa, nodes, edges, reachable_only, eps, seed):
    rng = np.random.default_rng(seed)
    g = random_graph(rng, nodes, edges, 3)
    _, beta, rho, gate, grad = random_flow(rng, g, np.float64)
    pi = rng.random(nodes) + 0.1  # flow that differences leave positive
    values = {"pi": pi, "beta": beta + 0.1, "rho": rho / 3, "gate": gate}
    options = {"eps": eps, "reachable_only": reachable_only}
    result = flow.hop(g, **values, **options)
    got = flow.hop_backward(
        g, values["pi"], values["beta"], result, grad, values["rho"], gate, **options
    )
    for name in NAMES:
        expected = numerical_gradient(
            lambda x, name=name: flow.hop(g, **{**values, name: x}, **options), values[name], grad
        )
        assert np.allclose(getattr(got, name), expected, rtol=1e-5, atol=1e-7), name


def test_gradients_without_content():
    rng = np.random.default_rng(5)
    g = random_graph(rng, 30, 200, 4)
    pi, beta, _, _, grad = random_flow(rng, g, np.float64)
    result = flow.hop(g, pi, beta)
    got = flow.hop_backward(g, pi, beta, result, grad)
    zeros = np.zeros_like(pi)
    expected = flow.hop_backward(g, pi, beta, result, grad, zeros, 0.3)
    assert np.array_equal(result, flow.hop(g, pi, beta, zeros, 0.3))
    assert np.array_equal(got.pi, expected.pi)
    assert np.array_equal(got.beta, expected.beta)
    assert got.rho is None
    assert got.gate is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e4, -1e4])
def test_large_logits(isa, dtype, size):
    g = random_graph(np.random.default_rng(0), 1500, 6000, 3)
    pi, beta, rho, _, grad = random_flow(np.random.default_rng(1), g, dtype)
    rho = (rho * size).astype(dtype)
    result = flow.hop(g, pi, beta, rho, 1.0)
    assert result.dtype == dtype
    assert np.allclose(result, reference.hop(g, pi, beta, rho, 1.0), rtol=1e-3, atol=1e-30)
    for gradient in arrays_of(flow.hop_backward(g, pi, beta, result, grad, rho, 1.0)):
        assert np.isfinite(gradient).all()
    one = np.full(4, size, dtype)
    start = np.array([1, 0, 0, 0], dtype)
    for reachable_only in (False, True):
        same = flow.hop(CHAIN, start, np.ones(2, dtype), one, 1.0, reachable_only=reachable_only)
        assert np.array_equal(
            same, flow.hop(CHAIN, start, np.ones(2, dtype), reachable_only=reachable_only)
        )


# --- special values -------------------------------------------------------------------------------


def test_mass_appears_only_where_flow_led(isa):
    start, beta = np.array([1.0, 0, 0, 0]), np.array([0.5, 0.25])
    rho = np.array([0, 0, 0, 50.0])
    leaked = flow.hop(CHAIN, start, beta, rho, 1.0)
    assert leaked[3] > 0.99  # the paper's form: 50 nats are more than log(0.5 / 1e-8)
    result = flow.hop(CHAIN, start, beta, rho, 1.0, reachable_only=True)
    assert result.tolist() == [0, 1, 0, 0]
    parallel = flow.hop(CHAIN, result, beta, reachable_only=True, eps=0)
    assert parallel.tolist() == [0, 0, 1, 0]


def test_dead_hops_are_zeros_with_gradients_of_zero(isa):
    start, beta, grad = np.array([0, 0, 0, 1.0]), np.ones(2), np.arange(4.0)
    rho = np.array([1.0, 2, 3, 4])
    masked = np.full(4, -np.inf)
    for options in (
        {"reachable_only": True},
        {"reachable_only": True, "rho": rho, "gate": 2.0},
        {"eps": 0.0},
        {"rho": masked, "gate": 1.0},
        {"rho": masked, "gate": 0.0},
    ):
        result = flow.hop(CHAIN, start, beta, **options)
        assert result.tolist() == [0, 0, 0, 0]
        gradients = flow.hop_backward(CHAIN, start, beta, result, grad, **options)
        for gradient in arrays_of(gradients):
            assert gradient is None or not np.asarray(gradient).any()


def test_a_dead_hop_leaves_its_neighbours_alive(isa):
    whole, segments = pack([CHAIN, CHAIN, CHAIN])
    pi = np.concatenate([[1.0, 0, 0, 0], [0, 0, 0, 1.0], [0, 1.0, 0, 0]])
    result = flow.hop(whole, pi, np.ones((3, 2)), segments=segments, reachable_only=True)
    assert result.tolist() == [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]


def test_masked_nodes_get_nothing(isa):
    rng = np.random.default_rng(3)
    g = random_graph(rng, 1500, 9000, 3)
    pi, beta, rho, _, grad = random_flow(rng, g, np.float32)
    masked = rng.random(1500) < 0.5
    masked[:1024] = True  # a whole block of them
    rho[masked] = -np.inf
    for gate in (0.0, 0.7, -0.7):
        result = flow.hop(g, pi, beta, rho, gate)
        assert np.allclose(result, reference.hop(g, pi, beta, rho, gate), rtol=1e-5, atol=0)
        assert not result[masked].any()
        gradients = flow.hop_backward(g, pi, beta, result, grad, rho, gate)
        assert not gradients.rho[masked].any()
        assert all(np.isfinite(one).all() for one in arrays_of(gradients))


@pytest.mark.parametrize("place", ["pi", "beta", "rho", "gate", "negative", "infinite"])
@pytest.mark.parametrize("reachable_only", [False, True])
@pytest.mark.parametrize("nodes", [5, 3000])
def test_nans_surface_in_their_own_graph(isa, place, reachable_only, nodes):
    rng = np.random.default_rng(0)
    parts = [random_graph(rng, nodes, 8 * nodes, 2) for _ in range(3)]
    whole, segments = pack(parts)
    values = {
        "pi": rng.random(3 * nodes) + 0.1,
        "beta": rng.random((3, 2)) + 0.1,
        "rho": rng.normal(size=3 * nodes),
        "gate": rng.random(3),
    }
    node = nodes + parts[1].src[0]
    if place == "negative":
        values["pi"][nodes : 2 * nodes] *= -1
    elif place == "infinite":
        values["rho"][node] = np.inf
    elif place in ("pi", "rho"):
        values[place][node] = np.nan
    else:
        values[place][1] = np.nan
    result = flow.hop(whole, **values, segments=segments, reachable_only=reachable_only)
    assert np.isnan(result[nodes : 2 * nodes]).all()
    assert np.isfinite(result[:nodes]).all()
    assert np.isfinite(result[2 * nodes :]).all()
    gradients = flow.hop_backward(
        whole,
        values["pi"],
        values["beta"],
        result,
        np.ones(3 * nodes),
        values["rho"],
        values["gate"],
        segments=segments,
        reachable_only=reachable_only,
    )
    assert np.isnan(gradients.gate).tolist() == [False, True, False]
    assert np.isnan(gradients.beta).any(axis=1).tolist() == [False, True, False]


@pytest.mark.parametrize("lanes", [(), (4,)])
@pytest.mark.parametrize("nodes", [0, 1, 3])
def test_nothing_at_all(isa, nodes, lanes):
    g = FlowGraph([], [], [], nodes, 2)
    pi, beta, rho, gate, grad = random_flow(np.random.default_rng(0), g, np.float32, lanes)
    result = flow.hop(g, pi, beta)
    assert np.allclose(result.sum(axis=0), 1 if nodes else 0)
    assert not flow.hop(g, pi, beta, rho, gate, reachable_only=True).any()
    result = flow.hop(g, pi, beta, rho, gate)
    gradients = flow.hop_backward(g, pi, beta, result, grad, rho, gate)
    assert not gradients.pi.any()
    assert not gradients.beta.any()
    assert gradients.rho.shape == pi.shape
    assert gradients.gate.shape == lanes
    assert np.isfinite(gradients.gate).all()


def test_one_node_keeps_everything(isa):
    g = FlowGraph([0, 0], [0, 0], [0, 0], 1, 1)
    for rho in (1e4, -1e4, 0.0):
        result = flow.hop(g, np.ones(1), np.ones(1), np.array([rho]), 1.0)
        assert result.tolist() == [1]
        gradients = flow.hop_backward(
            g, np.ones(1), np.ones(1), result, np.ones(1), np.array([rho]), 1.0
        )
        assert all(not np.asarray(one).any() for one in arrays_of(gradients))


# --- arguments ------------------------------------------------------------------------------------


def test_strides_out_and_one_gate_for_all():
    rng = np.random.default_rng(0)
    g = random_graph(rng, 50, 300, 5)
    pi, beta, rho, gate, grad = random_flow(rng, g, np.float64, (6,))
    gate[:] = 0.25
    result = flow.hop(g, pi, beta, rho, gate)
    assert np.array_equal(flow.hop(g, np.asfortranarray(pi), beta, rho, 0.25), result)
    assert np.array_equal(flow.hop(g, pi, beta, rho[:, ::-1][:, ::-1], np.float64(0.25)), result)
    back = flow.hop_backward(g, pi, beta, result, grad, rho, gate)
    other = flow.hop_backward(g, pi, beta, np.asfortranarray(result), grad, rho, 0.25)
    for a, b in zip(arrays_of(back), arrays_of(other), strict=True):
        assert np.array_equal(a, b)
    out = np.empty((6, 50)).T
    assert flow.hop(g, pi, beta, rho, gate, out=out) is out
    assert np.array_equal(out, result)
    assert flow.hop(g, pi, beta, rho, gate, out=rho) is rho  # read before it is written
    assert np.array_equal(rho, result)


def test_the_widest_dtype_is_returned():
    pi, beta = np.ones(4, np.float16), np.ones(2, np.float16)
    half, single, double = np.float16, np.float32, np.float64
    for rho, gate, dtype in [
        (None, 0.5, single),
        (np.ones(4, half), 0.5, single),
        (np.ones(4, half), 1, single),
        (np.ones(4, double), 0.5, double),
        (np.ones(4, single), np.array(0.5, half), single),
        (np.ones(4, single), np.array(0.5), double),
        (np.ones(4, single), np.float64(0.5), double),
    ]:
        result = flow.hop(CHAIN, pi, beta, rho, gate)
        assert result.dtype == dtype
        grad = np.ones(4, half)
        gradients = flow.hop_backward(CHAIN, pi, beta, result, grad, rho, gate)
        assert {one.dtype for one in arrays_of(gradients) if one is not None} == {np.dtype(dtype)}


@pytest.mark.needs("torch")
def test_torch_tensors_come_back_as_tensors():
    import torch

    pi, beta = torch.tensor([1.0, 0, 0, 0]), torch.tensor([0.5, 0.25])
    rho, gate = torch.tensor([0.1, 0.2, 0.3, 0.4]), torch.tensor(0.5)
    result = flow.hop(CHAIN, pi, beta, rho, gate)
    expected = flow.hop(CHAIN, pi.numpy(), beta.numpy(), rho.numpy(), gate.numpy())
    assert torch.equal(result, torch.from_numpy(expected))
    gradients = flow.hop_backward(CHAIN, pi, beta, result, torch.ones(4), rho, gate)
    assert all(isinstance(one, torch.Tensor) for one in arrays_of(gradients))
    assert gradients.gate.shape == ()
    with pytest.raises(TypeError, match="hop: gate requires grad"):
        flow.hop(CHAIN, pi, beta, rho, gate.requires_grad_())


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"pi": np.ones(3)}, ValueError, r"pi must have shape .* with V = 4, got \(3,\)"),
        ({"beta": np.ones(3)}, ValueError, r"beta must have shape \(2,\), got \(3,\)"),
        ({"rho": np.ones((4, 1))}, ValueError, r"rho must have shape \(4,\), got \(4, 1\)"),
        ({"rho": np.ones(4, int)}, TypeError, "rho must be float32, float64 or float16, got dtype"),
        ({"gate": np.ones(1)}, ValueError, r"gate must have shape \(\), got \(1,\)"),
        ({"gate": np.array(1)}, TypeError, "gate must be float32, float64 or float16, got dtype"),
        ({"eps": -1e-9}, ValueError, "eps must be a finite number of at least 0, got -1e-09"),
        ({"eps": np.nan}, ValueError, "eps must be a finite number of at least 0, got nan"),
        ({"segments": [0, 4]}, ValueError, r"beta must have shape \(1, 2\), got \(2,\)"),
        ({"segments": [0, 1, 4], "beta": np.ones((2, 2))}, ValueError, "before node 1"),
        ({"threads": 1.5}, TypeError, "threads must be an int or None, got float"),
    ],
)
def test_bad_arguments(change, error, message):
    arguments = {"pi": np.ones(4), "beta": np.ones(2), "rho": np.ones(4), "gate": 0.5} | change
    with pytest.raises(error, match=f"hop: .*{message}"):
        flow.hop(CHAIN, **arguments)
    with pytest.raises(error, match=f"hop_backward: .*{message}"):
        flow.hop_backward(CHAIN, result=np.ones(4), grad=np.ones(4), **arguments)


def test_bad_gradients():
    for change in ({"result": np.ones(3)}, {"grad": np.ones(5)}):
        arguments = {"result": np.ones(4), "grad": np.ones(4)} | change
        with pytest.raises(ValueError, match=f"hop_backward: {next(iter(change))} must have shape"):
            flow.hop_backward(CHAIN, np.ones(4), np.ones(2), **arguments)
