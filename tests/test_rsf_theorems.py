"""The paper's theorems, as tests."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

# what needs torch is imported after this line, hence the noqa below
torch = pytest.importorskip("torch")

from hyperhop.flow import FlowGraph, backtrack  # noqa: E402
from hyperhop.rsf import FlowBatch, RSFConfig, RSFModel, functions  # noqa: E402
from rsf_batches import multigraph  # noqa: E402

pytestmark = pytest.mark.needs("torch")


@given(st.lists(st.floats(0, 1), min_size=2, max_size=8).filter(lambda x: sum(x) > 1e-6))
def test_sparsity_has_its_minima_at_vertices(masses):
    """Theorem 1: no distribution has less entropy than a vertex, and only vertices have none."""
    pi = np.array(masses) / np.sum(masses)
    value = float(functions.entropy(torch.from_numpy(pi), np.array([0, pi.size])))
    vertex = np.eye(pi.size)[int(pi.argmax())]
    least = float(functions.entropy(torch.from_numpy(vertex), np.array([0, pi.size])))
    assert abs(least) < 1e-7  # the eps inside the logarithm
    assert value >= least - 1e-7
    if pi.max() < 1 - 1e-3:
        assert value > 1e-3


def test_descent_on_the_flow_loss_ends_at_a_vertex():
    logits = torch.tensor([0.1, 0.3, -0.2, 0.25, 0.0], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([logits], lr=5.0)
    for _ in range(400):
        optimizer.zero_grad()
        functions.entropy(torch.softmax(logits, 0), np.array([0, 5])).sum().backward()
        optimizer.step()
    assert torch.softmax(logits, 0).max() > 0.99


HOPS = 4


def chain_with_distractors():
    """A path by relations 0, 1, 2, 3; every node on it also has a wrong edge of each relation."""
    edges = [(hop, hop, hop + 1) for hop in range(HOPS)]
    node = HOPS + 1
    for hop, relation in itertools.product(range(HOPS + 1), range(HOPS + 1)):
        if hop != relation or hop == HOPS:
            edges.append((hop, relation, node))
            node += 1
    src, relation, dst = np.array(edges).T
    return FlowGraph(src, relation, dst, node, HOPS + 1)


def test_semantic_gap_construction():
    """Theorem 2: relation semantics alone lead through nodes that look nothing like the question.

    A query state of a GRU is bounded, so the constant c stands in W_att: state t is basis vector t,
    the attention to relation t is sigmoid(c), to all others sigmoid(-c alpha).
    """
    hidden, c = HOPS + 1, 20.0
    config = RSFConfig(hops=HOPS, hidden=hidden, content_bias=True, stay=False)
    model = RSFModel(config, hidden)
    graph = chain_with_distractors()
    node_text = torch.zeros(graph.num_nodes, hidden)
    node_text[1:hidden] = torch.eye(hidden)[1:]  # v_t tells which relation comes next
    # Intermediate nodes share nothing with the question, which is basis vector 0.
    assert torch.equal(node_text[1:HOPS] @ torch.eye(hidden)[0], torch.zeros(HOPS - 1))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.relations.projection.weight.copy_(torch.eye(hidden))
        model.relations.attention.weight.copy_(2 * c * torch.eye(hidden) - c)
        model.node_projection.weight.copy_(torch.eye(hidden))
        model.gate.bias.fill_(-30)
        # The update gate is open and the new state is what was read: q_t = tanh(20 c_t).
        model.update.bias_ih[hidden : 2 * hidden] = -30
        model.update.weight_ih[2 * hidden :] = 20 * torch.eye(hidden)
    batch = FlowBatch.lanes(graph, [[0]])
    output = model(batch, node_text, torch.eye(hidden), torch.eye(hidden)[:1])
    for hop in range(1, HOPS + 1):
        assert output.flows[hop][hop, 0] > 0.99
        assert output.gates[hop - 1] < 1e-10


@pytest.mark.parametrize("score", ["pi", "pi*beta"])
@given(seed=st.integers(0, 10_000), bias=st.sampled_from([0.0, 1.0, 50.0]))
def test_faithfulness(score, seed, bias):
    """Theorem 3: every node with structural flow has a path of real edges back to the topic.

    Multigraphs with parallel edges and self loops, walks that come back, strong content bias.
    """
    graph = multigraph(seed)
    generator = torch.Generator().manual_seed(seed)
    start = torch.zeros(graph.num_nodes, 1)
    start[seed % graph.num_nodes] = 1
    flows, betas = [start], []
    for _ in range(3):
        betas.append(torch.rand(graph.num_relations, 1, generator=generator))
        rho = bias * torch.randn(graph.num_nodes, 1, generator=generator)
        flow, _ = functions.hop(
            graph, flows[-1], betas[-1], rho, torch.ones(1), reachable_only=True
        )
        flows.append(flow)
    targets = np.flatnonzero(flows[-1][:, 0])
    lanes = [x[:, 0].numpy() for x in flows]
    traced = backtrack(graph, lanes, [x[:, 0].numpy() for x in betas], targets, k=2, score=score)
    assert set(traced.target.tolist()) == set(range(len(targets)))
    edges = {*zip(graph.src.tolist(), graph.relation.tolist(), graph.dst.tolist(), strict=True)}
    for row, sequence in enumerate(traced.sequences):
        nodes = traced.entities[row]
        assert nodes[0] == seed % graph.num_nodes
        assert nodes[-1] == targets[traced.target[row]]
        for hop, step in enumerate(zip(nodes[:-1], sequence, nodes[1:], strict=True)):
            assert tuple(map(int, step)) in edges
            assert lanes[hop][step[0]] > 0
