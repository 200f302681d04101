"""The entropy of a flow against float64, alone and batched, and its gradient."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import node_flows as flows
import reference_flow as reference
from hyperhop import flow


@given(case=flows.flows(), eps=st.sampled_from([0.0, 1e-8, 0.1]))
def test_every_flow_has_its_own_bits_and_they_are_right(isa, case, eps):
    total = flow.entropy(case.pi, case.segments, eps)
    assert total.dtype == case.dtype
    assert total.shape == (() if case.kind == "single" else (case.count,))
    for index, _, pi in case.alone():
        exact = reference.entropy(pi, eps)
        assert total[index] == pytest.approx(exact, rel=1e-5 if case.dtype == np.float32 else 1e-13)
        assert flows.same_bits(total[index], flow.entropy(np.ascontiguousarray(pi), eps=eps)[()])
    assert flows.same_bits(total, flow.entropy(case.pi, case.segments, eps, threads=2))


@pytest.mark.parametrize("kind", flows.KINDS)
def test_the_gradient_meets_finite_differences(isa, kind):
    case = flows.make(kind, np.float64, [1100, 0, 40] if kind == "packed" else [40, 0, 0], 0)
    grad = np.random.default_rng(0).normal(size=() if kind == "single" else case.count)
    eps, step = 1e-3, 1e-7

    def ends(pi):
        up = flow.entropy(pi + step, case.segments, eps)
        return up - flow.entropy(pi - step, case.segments, eps)

    to_pi = flow.entropy_backward(case.pi, grad, case.segments, eps)
    # The derivative along (1, ..., 1), and each number's own from its formula.
    for index, nodes, pi in case.alone():
        own = case.of_nodes(index, nodes, to_pi)
        exact = -(np.log(pi + eps) + pi / (pi + eps)) * grad[index]
        np.testing.assert_allclose(own, exact, rtol=1e-12, atol=1e-12)
        slope = (ends(case.pi)[index] / (2 * step)) * grad[index]
        assert own.sum() == pytest.approx(slope, rel=1e-5, abs=1e-5)
    alone = flow.entropy_backward(case.pi, grad, case.segments, eps, threads=2)
    assert flows.same_bits(alone, to_pi)


def test_a_decided_flow_has_none_and_an_even_one_the_most(isa):
    one = np.zeros(50, np.float32)
    one[17] = 1
    assert abs(flow.entropy(one)) < 1e-6
    assert flow.entropy(np.full(50, 0.02), eps=0.0) == pytest.approx(np.log(50))
    assert flow.entropy(np.zeros(0)) == 0
    assert flow.entropy(np.zeros(9), eps=0.0) == 0


def test_special_values(isa):
    pi = np.array([0.5, 0.0, np.nan, 0.5, 0.5, -1.0, 0.0])
    total = flow.entropy(pi, [0, 2, 3, 5, 6, 7])
    assert np.array_equal(np.isnan(total), [False, True, False, True, False])
    gradient = flow.entropy_backward(np.array([0.0, 1.0]), np.array(1.0), eps=0.0)
    assert gradient[0] == np.inf
    assert gradient[1] == pytest.approx(-1)
    finite = flow.entropy_backward(np.zeros(3, np.float32), np.float32(1))
    assert np.isfinite(finite).all()


def test_arguments():
    pi = np.full((30, 2), 1 / 30, np.float32)
    out = np.zeros((2, 2), np.float32)[:, 1]
    assert flow.entropy(pi, out=out) is out
    assert np.array_equal(out, flow.entropy(pi))
    assert flow.entropy_backward(pi, np.ones(2)).dtype == np.float64
    for eps in (-1e-9, np.nan, np.inf):
        with pytest.raises(ValueError, match="entropy: eps must be a finite number of at least 0"):
            flow.entropy(pi, eps=eps)
    with pytest.raises(ValueError, match=r"_backward: grad must have shape \(2,\), got \(\)"):
        flow.entropy_backward(pi, np.array(1.0))
    with pytest.raises(ValueError, match=r"entropy: pi must have shape \(V,\) or \(V, B\)"):
        flow.entropy(np.array(1.0))
    with pytest.raises(ValueError, match="entropy: segments go with pi of shape"):
        flow.entropy(pi, [0, 30])
    with pytest.raises(TypeError, match="entropy: pi must be float32, float64 or float16, got"):
        flow.entropy(np.arange(3))


@pytest.mark.needs("torch")
def test_tensors_in_tensors_out():
    import torch

    pi = torch.full((10, 2), 0.1, dtype=torch.float64)
    assert torch.allclose(flow.entropy(pi, eps=0.0), torch.log(torch.tensor(10.0).double()))
    assert flow.entropy_backward(pi, torch.ones(2, dtype=torch.float64)).shape == (10, 2)
    assert flow.entropy(pi[:, 0]).shape == ()
