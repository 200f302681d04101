"""Hops that read through their result, and score nodes by their features in the same pass."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference_flow as reference
from hyperhop import flow
from hyperhop.flow import FlowGraph
from node_flows import DIMS, KINDS, numeric, same_bits, tolerance
from strategies import seeds
from strategies_flow import dtypes, graphs, pack, random_flow, random_graph

FIELDS = ("pi", "beta", "rho", "gate", "features", "query")
dims = st.sampled_from((*DIMS, 300, 700))


def random_features(rng, nodes, dim, dtype, flows=()):
    """Features, queries of a size that leaves scores near 1, and a gradient of the context."""
    features = rng.normal(size=(nodes, dim)).astype(dtype)
    query = (rng.normal(size=(*flows, dim)) / max(dim, 1) ** 0.5).astype(dtype)
    return features, query, rng.normal(size=(*flows, dim)).astype(dtype)


@given(graphs(), dtypes, dims, st.booleans(), seeds)
def test_it_is_score_hop_and_read(isa, g, dtype, dim, reachable_only, seed):
    rng = np.random.default_rng(seed)
    pi, beta, rho, gate, _ = random_flow(rng, g, dtype)
    features, query, _ = random_features(rng, g.num_nodes, dim, dtype)
    options = {"reachable_only": reachable_only}

    given_rho, context = flow.hop(g, pi, beta, rho, gate, features=features, **options)
    assert same_bits(given_rho, flow.hop(g, pi, beta, rho, gate, **options))
    assert same_bits(context, flow.read(given_rho, features))

    scored, context = flow.hop(g, pi, beta, gate=gate, features=features, query=query, **options)
    score = flow.content_score(features, query)
    assert same_bits(scored, flow.hop(g, pi, beta, score, gate, **options))
    assert context.dtype == dtype
    np.testing.assert_allclose(context, reference.read(scored, features), **tolerance(dtype))


def arguments(kind, dtype, dim, seed, sizes=(1100, 3, 0, 260)):
    """A graph, pi, beta, rho, gate, segments, features, query and gradients of pi' and context."""
    rng = np.random.default_rng(seed)
    segments = None
    if kind == "packed":
        g, segments = pack([random_graph(rng, n, 4 * n, 5) for n in sizes])
        pi, _, rho, _, grad = random_flow(rng, g, dtype)
        beta = rng.random((len(sizes), 5)).astype(dtype)
        gate = rng.random(len(sizes)).astype(dtype)
        flows = (len(sizes),)
    else:
        g = random_graph(rng, sizes[0], 4 * sizes[0], 5)
        flows = () if kind == "single" else (len(sizes),)
        pi, beta, rho, gate, grad = random_flow(rng, g, dtype, flows)
    features, query, grad_context = random_features(rng, g.num_nodes, dim, dtype, flows)
    return g, pi, beta, rho, gate, segments, features, query, (grad, grad_context)


def run(g, pi, beta, rho, gate, segments, features, query, grad, threads=1, **options):
    """pi', context and all gradients, in the order of FIELDS."""
    inputs = (g, pi, beta)
    content = (rho, gate, 1e-8, segments)
    options = {"features": features, "query": query, "threads": threads, **options}
    result = flow.hop(*inputs, *content, **options)
    gradients = flow.hop_backward(*inputs, result, grad, *content, **options)
    return [*result, *(getattr(gradients, field) for field in FIELDS)]


@pytest.mark.parametrize("scored", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [1, 37, 520])
def test_packed_graphs_and_lanes_have_the_bits_of_each_alone(isa, dtype, dim, scored):
    for kind in ("packed", "lanes"):
        g, pi, beta, rho, gate, segments, features, query, grad = arguments(kind, dtype, dim, 0)
        rho, query = (None, query) if scored else (rho, None)
        together = run(g, pi, beta, rho, gate, segments, features, query, grad)
        threaded = run(g, pi, beta, rho, gate, segments, features, query, grad, threads=2)
        for a, b in zip(together, threaded, strict=True):
            assert (a is None and b is None) or same_bits(a, b)
        for i in range(len(gate)):
            nodes = slice(*segments[i : i + 2]) if kind == "packed" else slice(None)
            pick = (nodes,) if kind == "packed" else (slice(None), i)
            part = g if kind == "lanes" else cut(g, segments, i)
            own = [None if x is None else np.ascontiguousarray(x[pick]) for x in (pi, rho)]
            alone = run(
                part,
                own[0],
                beta[i] if kind == "packed" else beta[:, i].copy(),
                own[1],
                gate[i],
                None,
                features[nodes],
                None if query is None else query[i],
                (np.ascontiguousarray(grad[0][pick]), grad[1][i]),
            )
            picks = [pick, (i,), pick, (i,) if kind == "packed" else (slice(None), i), pick, (i,)]
            picks += [(nodes,), (i,)]
            for field, whole, at, single in zip(
                ("result", "context", *FIELDS), together, picks, alone, strict=True
            ):
                if whole is None:
                    assert single is None
                elif field != "features" or kind == "packed":  # lanes share their features
                    assert same_bits(np.asarray(whole[at]), np.asarray(single)), field


def cut(g, segments, i):
    """Graph i of a pack."""
    start, stop = segments[i], segments[i + 1]
    own = (g.src >= start) & (g.src < stop)
    return FlowGraph(
        g.src[own] - start, g.relation[own], g.dst[own] - start, stop - start, g.num_relations
    )


@pytest.mark.parametrize("scored", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reachable_only", [False, True])
def test_gradients_meet_finite_differences(kind, scored, reachable_only):
    g, pi, beta, rho, gate, segments, features, query, grad = arguments(
        kind, np.float64, 5, 1, sizes=(6, 1, 0, 4)
    )
    pi = pi + 0.1  # every node can be reached or none can, on both sides of a difference
    rho, query = (None, query) if scored else (rho, None)
    inputs = {"pi": pi, "beta": beta, "gate": gate, "features": features}
    inputs |= {"query": query} if scored else {"rho": rho}
    options = {"segments": segments, "reachable_only": reachable_only, "eps": 1e-3}

    def loss(changed):
        reached, context = flow.hop(g, **(inputs | changed), **options)
        return (reached * grad[0]).sum() + (context * grad[1]).sum()

    result = flow.hop(g, **inputs, **options)
    gradients = flow.hop_backward(g, result=result, grad=grad, **inputs, **options)
    for field in FIELDS:
        found = getattr(gradients, field)
        if field not in inputs:
            assert found is None
            continue
        expected = numeric(lambda x, field=field: loss({field: x}), np.asarray(inputs[field]))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7, err_msg=field)


def test_constant_features_get_no_gradient(isa):
    g, pi, beta, _, gate, segments, features, query, grad = arguments("packed", np.float32, 19, 2)
    with_features = run(g, pi, beta, None, gate, segments, features, query, grad)
    result = flow.hop(g, pi, beta, None, gate, 1e-8, segments, False, features, query)
    without = flow.hop_backward(
        *(g, pi, beta, result, grad, None, gate, 1e-8, segments, False, features, query),
        features_gradient=False,
    )
    assert without.features is None
    for field, expected in zip(FIELDS, with_features[2:], strict=True):
        if field != "features" and expected is not None:
            assert same_bits(getattr(without, field), expected)


@pytest.mark.parametrize("size", [1e4, -1e4])
def test_scores_of_any_size_are_safe(isa, size):
    """Scores that rise from node to node rescale the sums at every group."""
    g = FlowGraph(np.zeros(99, int), np.zeros(99, int), np.arange(1, 100), 100, 1)
    pi, beta = np.eye(100, dtype=np.float32)[0], np.ones(1, np.float32)
    features = np.stack([np.linspace(0, 1, 100), np.ones(100)], 1).astype(np.float32)
    query = np.array([size, 7], np.float32)
    (reached, context), gradients = once(g, pi, beta, features, query)
    assert reached.argmax() == (99 if size > 0 else 0)
    assert reached.sum() == pytest.approx(1, abs=1e-6)
    assert np.allclose(context, reference.read(reached, features), atol=1e-6)
    assert all(np.isfinite(x).all() for x in gradients)


def once(g, pi, beta, features, query, **options):
    """A hop at gate 1 and its gradients for gradients of 1."""
    options = {"gate": 1.0, "features": features, "query": query, **options}
    result = flow.hop(g, pi, beta, **options)
    ones = tuple(np.ones_like(x) for x in result)
    found = flow.hop_backward(g, pi, beta, result, ones, **options)
    return result, [x for x in (getattr(found, field) for field in FIELDS) if x is not None]


def test_dead_hops_and_small_graphs_are_finite(isa):
    for nodes, edges in [(0, []), (1, []), (1, [0]), (3, [1])]:
        g = FlowGraph(edges, np.zeros(len(edges), int), edges, nodes, 1)
        pi = np.ones(nodes)
        for reachable_only in (False, True):
            (reached, context), gradients = once(
                *(g, pi, np.ones(1), np.ones((nodes, 4)), np.ones(4)), reachable_only=reachable_only
            )
            alive = nodes > 0 and (bool(edges) or not reachable_only)
            assert reached.sum() == pytest.approx(float(alive))
            assert np.allclose(context, float(alive))
            assert all(np.isfinite(x).all() for x in gradients)


def test_a_nan_stays_in_its_graph(isa):
    g, pi, beta, _, gate, segments, features, query, _ = arguments("packed", np.float32, 19, 3)
    features[1101, 3] = np.nan
    reached, context = flow.hop(g, pi, beta, None, gate, 1e-8, segments, False, features, query)
    assert np.array_equal(np.isnan(context).all(1), [False, True, False, False])
    nodes = np.arange(len(pi))
    assert np.array_equal(np.isnan(reached), (nodes >= 1100) & (nodes < 1103))
    assert np.isfinite(context[[0, 2, 3]]).all()


def test_arguments():
    g, pi, beta, rho, gate, _, features, query, grad = arguments("lanes", np.float32, 6, 4)
    result = flow.hop(g, pi, beta, gate=gate, features=features, query=query)
    out = (np.zeros_like(pi), np.zeros_like(query))
    assert flow.hop(g, pi, beta, gate=gate, features=features, query=query, out=out) is out
    assert same_bits(out[0], result[0])
    assert same_bits(out[1], result[1])
    wide = flow.hop(g, pi, beta, gate=gate, features=features.astype(np.float64), query=query)
    assert (wide[0].dtype, wide[1].dtype) == (np.float64, np.float64)
    with pytest.raises(ValueError, match="hop: query scores the nodes by their features, give"):
        flow.hop(g, pi, beta, query=query)
    with pytest.raises(ValueError, match="hop: rho and query both score the nodes, give one"):
        flow.hop(g, pi, beta, rho, gate, features=features, query=query)
    with pytest.raises(ValueError, match=r"hop: query must have shape \(4, 6\), got \(6,\)"):
        flow.hop(g, pi, beta, gate=gate, features=features, query=query[0])
    with pytest.raises(ValueError, match=r"features must have shape \(V, d\) with V = 1100, got"):
        flow.hop(g, pi, beta, gate=gate, features=features[1:])
    with pytest.raises(TypeError, match="hop: out must be a pair, for pi and for the context"):
        flow.hop(g, pi, beta, features=features, out=out[0])
    with pytest.raises(TypeError, match="hop_backward: grad must be a pair, for pi and for"):
        flow.hop_backward(g, pi, beta, result, grad[0], gate=gate, features=features, query=query)


@pytest.mark.needs("torch")
def test_tensors_in_tensors_out():
    import torch

    g, pi, beta, _, gate, _, features, query, grad = arguments("lanes", np.float32, 6, 4)
    tensors = [torch.from_numpy(x) for x in (pi, beta, gate, features, query, *grad)]
    options = {"gate": tensors[2], "features": tensors[3], "query": tensors[4]}
    result = flow.hop(g, tensors[0], tensors[1], **options)
    expected = flow.hop(g, pi, beta, gate=gate, features=features, query=query)
    assert all(same_bits(a.numpy(), b) for a, b in zip(result, expected, strict=True))
    gradients = flow.hop_backward(g, tensors[0], tensors[1], result, tuple(tensors[5:]), **options)
    assert isinstance(gradients.query, torch.Tensor)
