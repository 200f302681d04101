"""The content score against float64, alone and batched, and its gradients."""

import numpy as np
import pytest
from hypothesis import given

import node_flows as flows
import reference_flow as reference
from hyperhop import flow


@given(case=flows.flows())
def test_every_flow_has_its_own_bits_and_they_are_right(isa, case):
    query = case.rows(np.random.default_rng(1))
    rho = flow.content_score(case.features, query, case.segments)
    assert rho.shape == case.pi.shape
    assert rho.dtype == case.dtype
    for index, nodes, _ in case.alone():
        own = case.of_nodes(index, nodes, rho)
        exact = reference.content_score(case.features[nodes], query[index])
        np.testing.assert_allclose(own, exact, **flows.tolerance(case.dtype))
        alone = flow.content_score(case.features[nodes], query[index])
        assert flows.same_bits(np.ascontiguousarray(own), alone)
    assert flows.same_bits(rho, flow.content_score(case.features, query, case.segments, threads=2))


@given(case=flows.flows())
def test_gradients(isa, case):
    rng = np.random.default_rng(2)
    query, grad = case.rows(rng), rng.normal(size=case.pi.shape).astype(case.dtype)
    to_features, to_query = flow.content_score_backward(case.features, query, grad, case.segments)
    assert (to_features.dtype, to_query.dtype) == (case.dtype, case.dtype)
    expected = np.zeros(case.features.shape)
    for index, nodes, _ in case.alone():
        own = case.of_nodes(index, nodes, grad).astype(np.float64)
        expected[nodes] += own[:, None] * query[index]
        exact = own @ case.features[nodes]
        np.testing.assert_allclose(to_query[index], exact, **flows.tolerance(case.dtype))
    np.testing.assert_allclose(to_features, expected, **flows.tolerance(case.dtype))
    nothing, again = flow.content_score_backward(
        case.features, query, grad, case.segments, features_gradient=False, threads=2
    )
    assert nothing is None
    assert flows.same_bits(again, to_query)


@pytest.mark.parametrize("kind", flows.KINDS)
def test_gradients_meet_finite_differences(kind):
    case = flows.make(kind, np.float64, [5, 0, 3], 4)
    rng = np.random.default_rng(3)
    query, grad = case.rows(rng), rng.normal(size=case.pi.shape)

    def loss(features, query):
        return (flow.content_score(features, query, case.segments) * grad).sum()

    to_features, to_query = flow.content_score_backward(case.features, query, grad, case.segments)
    assert np.allclose(to_features, flows.numeric(lambda h: loss(h, query), case.features))
    assert np.allclose(to_query, flows.numeric(lambda q: loss(case.features, q), query))


def test_a_nan_stays_in_its_row_and_flow(isa):
    case = flows.make("lanes", np.float32, [20, 20, 20], 17)
    query = case.rows(np.random.default_rng(0))
    case.features[7, 16] = np.nan
    query[1, 3] = np.inf
    rho = flow.content_score(case.features, query)
    assert np.isnan(rho[7]).all()
    assert np.isinf(rho[np.arange(20) != 7, 1]).all()
    assert np.isfinite(np.delete(np.delete(rho, 7, axis=0), 1, axis=1)).all()


def test_strides_dtypes_and_out():
    case = flows.make("packed", np.float64, [40, 9], 12)
    query = case.rows(np.random.default_rng(0))
    exact = flow.content_score(case.features, query, case.segments)
    wide = np.zeros((49, 24))
    wide[:, ::2] = case.features
    assert flows.same_bits(exact, flow.content_score(wide[:, ::2], query, case.segments.tolist()))
    out = np.zeros((49, 2))[:, 1]
    assert flow.content_score(case.features, query, case.segments, out=out) is out
    assert np.array_equal(out, exact)
    halves = case.features.astype(np.float16)
    narrow = flow.content_score(halves, query.astype(np.float32), case.segments)
    assert narrow.dtype == np.float32
    assert flow.content_score(halves, query, case.segments).dtype == np.float64
    offsets = case.segments.astype(np.int32)
    gradients = flow.content_score_backward(halves, query.astype(np.float32), exact, offsets)
    assert [gradient.dtype for gradient in gradients] == [np.float64, np.float64]


@pytest.mark.parametrize(
    ("features", "query", "segments", "error", "message"),
    [
        (
            np.ones(3),
            np.ones(3),
            None,
            ValueError,
            r"features must have shape \(V, d\), got",
        ),
        (
            np.ones((3, 2)),
            np.ones(3),
            None,
            ValueError,
            r"query must have shape \(2,\) or \(B, 2\), got \(3,\)",
        ),
        (
            np.ones((3, 2)),
            np.ones(2),
            [0, 3],
            ValueError,
            r"query must have shape \(1, 2\), got \(2,\)",
        ),
        (np.ones((3, 2)), np.ones((1, 2)), [0, 2], ValueError, "segments must run from 0 to 3"),
        (np.ones((3, 2)), np.ones((2, 2)), [0, 5, 3], ValueError, "segments fall after entry 1"),
        (
            np.ones((3, 2)),
            np.ones((1, 2)),
            [0.0, 3.0],
            TypeError,
            "segments must be an array of",
        ),
        (
            np.ones((3, 2), int),
            np.ones(2),
            None,
            TypeError,
            "features must be float32, float64 or float16, got dtype int64",
        ),
    ],
)
def test_bad_arguments_are_named(features, query, segments, error, message):
    with pytest.raises(error, match=f"^content_score: {message}"):
        flow.content_score(features, query, segments)
    with pytest.raises(error, match=r"^content_score_backward: "):
        flow.content_score_backward(features, query, np.ones(3), segments)


@pytest.mark.needs("torch")
def test_tensors_in_tensors_out():
    import torch

    case = flows.make("lanes", np.float32, [30, 30], 8)
    query = case.rows(np.random.default_rng(0))
    tensors = [torch.from_numpy(array) for array in (case.features, query)]
    rho = flow.content_score(*tensors)
    assert torch.equal(rho, torch.from_numpy(flow.content_score(case.features, query)))
    gradients = flow.content_score_backward(*tensors, torch.ones(30, 2))
    assert all(isinstance(gradient, torch.Tensor) for gradient in gradients)
    halves = flow.content_score(tensors[0].bfloat16(), tensors[1])
    assert halves.dtype == torch.float32
    with pytest.raises(TypeError, match="content_score: query requires grad"):
        flow.content_score(tensors[0], tensors[1].requires_grad_())
