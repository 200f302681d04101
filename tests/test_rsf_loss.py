import math

import numpy as np
import pytest

# what needs torch is imported after this line, hence the noqa below
torch = pytest.importorskip("torch")

from hyperhop.flow import FlowGraph  # noqa: E402
from hyperhop.rsf import FlowBatch, flow_loss  # noqa: E402
from hyperhop.rsf.model import RSFOutput  # noqa: E402

pytestmark = pytest.mark.needs("torch")

GRAPH = FlowGraph([0], [0], [1], 4, 1)


def output_of(*flows):
    return RSFOutput([torch.as_tensor(x, dtype=torch.float64) for x in flows], [], [], [], [])


def packed(targets):
    graphs = [FlowGraph([], [], [], 2, 1)] * len(targets)
    return FlowBatch.pack(graphs, [[0]] * len(targets), targets=targets)


def entropy(*masses):
    return -sum(p * math.log(p + 1e-8) for p in masses)


def test_uniform_target_over_many_answers():
    batch = packed([[1], [0, 1], []])
    start, last = [1, 0, 1, 0, 1, 0], [0.25, 0.75, 0.4, 0.6, 0.5, 0.5]
    loss = flow_loss(output_of(start, last), batch, lambda_1=0.3)
    first, second = -math.log(0.75), -(math.log(0.4) + math.log(0.6)) / 2
    np.testing.assert_allclose(loss.per_question, [first, second, 0], rtol=1e-12)
    np.testing.assert_allclose(loss.cross_entropy, (first + second) / 2, rtol=1e-12)
    np.testing.assert_allclose(loss.divergence, (first + second - math.log(2)) / 2, rtol=1e-12)
    flow = (entropy(0.25, 0.75) + entropy(0.4, 0.6)) / 2  # the third question has left the loss
    np.testing.assert_allclose(loss.entropy, flow, rtol=1e-12)
    np.testing.assert_allclose(loss.total, (first + second) / 2 + 0.3 * flow, rtol=1e-12)
    assert (loss.answered, loss.unanswered) == (2, 1)


def test_any_answer_takes_the_mass_of_all():
    batch = packed([[1], [0, 1], []])
    last = [0.25, 0.75, 0.4, 0.5, 0.5, 0.5]
    loss = flow_loss(output_of([1, 0] * 3, last), batch, lambda_1=0, target="any")
    np.testing.assert_allclose(loss.per_question, [-math.log(0.75), -math.log(0.9), 0], rtol=1e-12)
    np.testing.assert_allclose(loss.divergence, loss.cross_entropy, rtol=1e-12)


def test_entropy_is_the_mean_over_hops():
    batch = packed([[1]])
    loss = flow_loss(output_of([1, 0], [0.5, 0.5], [0.1, 0.9]), batch)
    wanted = (entropy(0.5, 0.5) + entropy(0.1, 0.9)) / 2
    np.testing.assert_allclose(loss.entropy, wanted, rtol=1e-12)


def test_lanes_count_like_packed():
    batch = FlowBatch.lanes(GRAPH, [[0], [1]], targets=[[2, 3], [1]])
    flow = [[0.1, 0.2], [0.2, 0.5], [0.3, 0.1], [0.4, 0.2]]
    loss = flow_loss(output_of(batch.start, flow), batch)
    wanted = [-(math.log(0.3) + math.log(0.4)) / 2, -math.log(0.5)]
    np.testing.assert_allclose(loss.per_question, wanted, rtol=1e-12)


@pytest.mark.parametrize("target", ["uniform", "any"])
def test_mass_of_zero_is_finite_and_has_no_gradient(target):
    flow = torch.tensor([1.0, 0.0], requires_grad=True)
    loss = flow_loss(RSFOutput([flow, flow], [], [], [], []), packed([[1]]), target=target)
    loss.cross_entropy.backward()
    assert 80 < loss.cross_entropy.item() < 90
    assert flow.grad.tolist() == [0, 0]


@pytest.mark.parametrize("target", ["uniform", "any"])
def test_no_question_answered_is_a_loss_of_zero(target):
    flow = torch.tensor([0.5, 0.5], requires_grad=True)
    loss = flow_loss(RSFOutput([flow, flow], [], [], [], []), packed([[]]), target=target)
    loss.total.backward()
    assert loss.total.item() == 0
    assert flow.grad.tolist() == [0, 0]
    assert (loss.answered, loss.unanswered) == (0, 1)


def test_refusals():
    output = output_of([1, 0], [0.5, 0.5])
    with pytest.raises(ValueError, match="flow_loss: batch needs targets"):
        flow_loss(output, FlowBatch.pack([FlowGraph([], [], [], 2, 1)], [[0]]))
    with pytest.raises(ValueError, match="target must be 'uniform' or 'any', got 'all'"):
        flow_loss(output, packed([[1]]), target="all")
