"""Reading features through a flow against float64, alone and batched, and its gradients."""

import numpy as np
import pytest
from hypothesis import given

import node_flows as flows
import reference_flow as reference
from hyperhop import flow


@given(case=flows.flows())
def test_every_flow_has_its_own_bits_and_they_are_right(isa, case):
    context = flow.read(case.pi, case.features, case.segments)
    assert context.shape == case.rows(np.random.default_rng(0)).shape
    assert context.dtype == case.dtype
    for index, nodes, pi in case.alone():
        exact = reference.read(pi, case.features[nodes])
        np.testing.assert_allclose(context[index], exact, **flows.tolerance(case.dtype))
        alone = flow.read(pi, case.features[nodes])
        assert flows.same_bits(np.ascontiguousarray(context[index]), alone)
    assert flows.same_bits(context, flow.read(case.pi, case.features, case.segments, threads=2))


@given(case=flows.flows())
def test_gradients(isa, case):
    grad = case.rows(np.random.default_rng(2))
    to_pi, to_features = flow.read_backward(case.pi, case.features, grad, case.segments)
    assert (to_pi.dtype, to_features.dtype) == (case.dtype, case.dtype)
    expected = np.zeros(case.features.shape)
    for index, nodes, pi in case.alone():
        expected[nodes] += pi[:, None].astype(np.float64) * grad[index]
        exact = case.features[nodes].astype(np.float64) @ grad[index]
        own = case.of_nodes(index, nodes, to_pi)
        np.testing.assert_allclose(own, exact, **flows.tolerance(case.dtype))
    np.testing.assert_allclose(to_features, expected, **flows.tolerance(case.dtype))
    again, nothing = flow.read_backward(
        case.pi, case.features, grad, case.segments, features_gradient=False, threads=2
    )
    assert nothing is None
    assert flows.same_bits(again, to_pi)


@pytest.mark.parametrize("kind", flows.KINDS)
def test_gradients_meet_finite_differences(kind):
    case = flows.make(kind, np.float64, [5, 0, 3], 4)
    grad = case.rows(np.random.default_rng(3))

    def loss(pi, features):
        return (flow.read(pi, features, case.segments) * grad).sum()

    to_pi, to_features = flow.read_backward(case.pi, case.features, grad, case.segments)
    assert np.allclose(to_pi, flows.numeric(lambda pi: loss(pi, case.features), case.pi))
    assert np.allclose(to_features, flows.numeric(lambda h: loss(case.pi, h), case.features))


@pytest.mark.parametrize("kind", flows.KINDS)
def test_it_is_the_adjoint_of_the_content_score(isa, kind):
    """<read(w, h), q> = <w, content_score(h, q)>, as both are linear."""
    case = flows.make(kind, np.float64, [1500, 0, 40], 33)
    query = case.rows(np.random.default_rng(4))
    one = (flow.read(case.pi, case.features, case.segments) * query).sum()
    other = (flow.content_score(case.features, query, case.segments) * case.pi).sum()
    assert one == pytest.approx(other, rel=1e-12)


def test_a_nan_surfaces_behind_a_zero_and_stays_in_its_graph(isa):
    case = flows.make("packed", np.float32, [20, 20, 20], 17)
    case.features[25, 3] = np.nan
    case.pi[25] = 0
    context = flow.read(case.pi, case.features, case.segments)
    wrong = np.zeros((3, 17), bool)
    wrong[1, 3] = True
    assert np.array_equal(np.isnan(context), wrong)


def test_strides_and_out():
    case = flows.make("lanes", np.float32, [1100, 0, 0], 20)
    exact = flow.read(case.pi, case.features)
    assert flows.same_bits(exact, flow.read(np.asfortranarray(case.pi), case.features[::-1][::-1]))
    out = np.zeros((20, 3), np.float32).T
    assert flow.read(case.pi, case.features, out=out) is out
    assert np.array_equal(out, exact)
    assert flow.read(case.pi, case.features.astype(np.float64)).dtype == np.float64
    with pytest.raises(TypeError, match="read: out must have dtype float32, got float64"):
        flow.read(case.pi, case.features, out=np.zeros((3, 20)))
    with pytest.raises(ValueError, match=r"read: out must be writeable with shape \(3, 20\)"):
        flow.read(case.pi, case.features, out=np.zeros((20, 3), np.float32))


@pytest.mark.parametrize(
    ("pi", "features", "segments", "message"),
    [
        (np.ones(4), np.ones((3, 2)), None, r"pi must have shape \(V,\) or \(V, B\) with V = 3"),
        (np.ones((3, 2)), np.ones((3, 2)), [0, 3], r"segments go with pi of shape \(V,\), got"),
        (np.ones(3), np.ones((3, 2)), [[0, 3]], "segments must be the G [+] 1 node offsets"),
        (np.ones(3), np.ones((3, 2, 1)), None, r"features must have shape \(V, d\), got"),
    ],
)
def test_bad_arguments_are_named(pi, features, segments, message):
    with pytest.raises(ValueError, match=f"^read: {message}"):
        flow.read(pi, features, segments)


def test_bad_gradients_are_named():
    pi, features = np.ones(3), np.ones((3, 2))
    with pytest.raises(ValueError, match=r"^read_backward: grad must have shape \(2,\) or"):
        flow.read_backward(pi, features, np.ones(3))
    with pytest.raises(ValueError, match=r"^read_backward: pi must have shape \(3, 1\), got"):
        flow.read_backward(pi, features, np.ones((1, 2)))


@pytest.mark.needs("torch")
def test_tensors_in_tensors_out():
    import torch

    case = flows.make("lanes", np.float32, [30, 30], 8)
    pi, features = torch.from_numpy(case.pi), torch.from_numpy(case.features)
    context = flow.read(pi, features)
    assert torch.equal(context, torch.from_numpy(flow.read(case.pi, case.features)))
    out = torch.zeros(2, 8)
    assert flow.read(pi, features, out=out) is out
    assert torch.equal(out, context)
    to_pi, to_features = flow.read_backward(pi, features, torch.ones(2, 8))
    assert torch.allclose(to_features, pi.sum(1, keepdim=True).expand(30, 8))
    assert torch.allclose(to_pi, features.sum(1, keepdim=True).expand(30, 2), atol=1e-5)
