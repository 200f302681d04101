"""The model without torch equals the model in torch."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperhop.flow import FlowGraph
from hyperhop.rsf import FlowBatch, RSFConfig
from hyperhop.rsf.network import Network, weight_shapes
from hyperhop.rsf.text import QuestionVectors

TEXT = 12
RELATIONS = 5
CONFIGS = {
    "paper": {},
    "wide": {"hidden": TEXT},
    "no gate": {"gate": False},
    "no content bias": {"content_bias": False},
    "no query update": {"query_update": False},
    "no node texts": {"node_text": "dropped"},
    "nothing of nodes": {"node_text": "dropped", "query_update": False},
    "cosine": {"attention": "cosine"},
    "tokens": {"question": "tokens"},
    "order aware": {
        "question": "tokens",
        "attention": "cosine",
        "update_from": "question",
        "content_bias": False,
        "return_to_topic": False,
        "stay_text": "learned",
    },
    "both": {"question": "tokens", "update_from": "both", "return_to_topic": False},
}


def config_of(name, **more):
    return RSFConfig(**{"hops": 3, "hidden": 8, **CONFIGS[name], **more})


def graph_of(rng, nodes, edges):
    if nodes == 0:
        edges = 0
    return FlowGraph(
        rng.integers(0, max(nodes, 1), edges),
        rng.integers(0, RELATIONS, edges),
        rng.integers(0, max(nodes, 1), edges),
        nodes,
        RELATIONS,
    )


def packed(seed, sizes=(9, 1, 14, 3)):
    rng = np.random.default_rng(seed)
    graphs = [graph_of(rng, size, 4 * size) for size in sizes]
    return FlowBatch.pack(graphs, [[int(rng.integers(size))] for size in sizes])


def lanes(seed, nodes=20, flows=4):
    rng = np.random.default_rng(seed)
    graph = graph_of(rng, nodes, 4 * nodes)
    return FlowBatch.lanes(graph, [[int(rng.integers(nodes))] for _ in range(flows)])


def questions_of(seed, lengths):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return QuestionVectors(
        rng.standard_normal((len(lengths), TEXT), np.float32),
        rng.standard_normal((int(offsets[-1]), TEXT), np.float32),
        offsets,
    )


def weights_of(config, seed=0):
    rng = np.random.default_rng(seed)
    return {
        name: rng.standard_normal(shape, np.float32) / 2
        if shape
        else np.asarray(rng.standard_normal(), np.float32)
        for name, shape in weight_shapes(config, TEXT).items()
    }


def texts_of(batch, seed=1):
    rng = np.random.default_rng(seed)
    nodes = rng.standard_normal((batch.graph.num_nodes, TEXT), np.float32)
    return nodes, rng.standard_normal((RELATIONS, TEXT), np.float32)


def both(config, batch, questions, reachable_only=True):
    """What the network and the model in torch make of the same weights."""
    import torch

    from hyperhop.rsf.model import RSFModel
    from hyperhop.rsf.question import Question

    weights = weights_of(config)
    nodes, relations = texts_of(batch)
    model = RSFModel(config, TEXT)
    model.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    model.eval()
    with torch.no_grad():
        expected = model(
            batch,
            torch.from_numpy(nodes),
            torch.from_numpy(relations),
            Question.of(questions),
            reachable_only=reachable_only,
        )
    network = Network(config, weights, relations)
    found = network.run(batch, nodes, questions, reachable_only=reachable_only)
    return found, expected


def assert_same(found, expected):
    for name in ("flows", "betas", "gates"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert one.dtype == np.float32
            np.testing.assert_allclose(one, other.numpy(), rtol=0, atol=1e-5)


@pytest.mark.needs("torch")
@pytest.mark.parametrize("name", CONFIGS)
def test_weights_are_those_of_the_model(name):
    from hyperhop.rsf.model import RSFModel

    for stay, config in product((True, False), [CONFIGS[name]]):
        config = RSFConfig(**{"hidden": 8, "stay": stay, **config})
        model = RSFModel(config, TEXT)
        shapes = {key: tuple(value.shape) for key, value in model.state_dict().items()}
        assert weight_shapes(config, TEXT) == shapes


@pytest.mark.needs("torch")
@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("shape", ["packed", "lanes"])
def test_equals_the_model(name, shape):
    batch = packed(2) if shape == "packed" else lanes(2)
    questions = questions_of(3, [4, 1, 0, 7])
    for reachable_only in (True, False):
        assert_same(*both(config_of(name), batch, questions, reachable_only))


@pytest.mark.needs("torch")
@settings(max_examples=15)
@given(st.integers(0, 2**16), st.sampled_from(sorted(CONFIGS)), st.lists(st.integers(1, 9)))
def test_equals_the_model_on_any_batch(seed, name, sizes):
    sizes = sizes or [1]
    batch = packed(seed, sizes)
    lengths = np.random.default_rng(seed).integers(0, 5, len(sizes))
    assert_same(*both(config_of(name, hops=2), batch, questions_of(seed, lengths)))


def test_a_question_alone_and_in_a_batch_agree():
    config = config_of("both")
    sizes = (9, 1, 14, 3)
    batch, questions = packed(4, sizes), questions_of(5, [3, 0, 2, 6])
    nodes, relations = texts_of(batch)
    network = Network(config, weights_of(config), relations)
    whole = network.run(batch, nodes, questions)
    rng = np.random.default_rng(4)
    graphs = [graph_of(rng, size, 4 * size) for size in sizes]
    starts = [[int(rng.integers(size))] for size in sizes]
    first = batch.segments
    for g in range(4):
        own = FlowBatch.pack([graphs[g]], [starts[g]])
        single = network.run(own, nodes[first[g] : first[g + 1]], questions.take([g]))
        for t in range(config.hops):
            part = whole.flows[t + 1][first[g] : first[g + 1]]
            np.testing.assert_allclose(single.flows[t + 1], part, atol=1e-5)
            np.testing.assert_allclose(single.betas[t][0], whole.betas[t][g], atol=1e-5)


def test_weights_that_do_not_fit_are_told():
    config = config_of("paper")
    weights = weights_of(config)
    _, relations = texts_of(packed(0))
    with pytest.raises(ValueError, match=r"weight content.weight must have shape \(8, 8\), got No"):
        Network(config, {k: v for k, v in weights.items() if k != "content.weight"}, relations)
    with pytest.raises(ValueError, match=r"weight odd must have shape None, got \(1,\)"):
        Network(config, {**weights, "odd": np.zeros(1)}, relations)
    with pytest.raises(ValueError, match=r"weight gate.bias holds NaN or infinity"):
        Network(config, {**weights, "gate.bias": np.array([np.nan])}, relations)
    config = config_of("tokens")
    with pytest.raises(ValueError, match="reads token states, got none"):
        Network(config, weights_of(config), relations).run(
            packed(0), texts_of(packed(0))[0], QuestionVectors(np.zeros((4, TEXT), np.float32))
        )


def test_extreme_weights_give_no_warning_and_no_nan():
    config = config_of("paper")
    weights = {name: array * 1e4 for name, array in weights_of(config).items()}
    batch = packed(7)
    nodes, relations = texts_of(batch)
    found = Network(config, weights, relations).run(batch, nodes, questions_of(8, [1] * 4))
    for flow in found.flows:
        assert np.isfinite(flow).all()
