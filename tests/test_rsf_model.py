"""The model against its plain-torch twin, its switches, and its behaviour at the edges."""

import copy
import io

import numpy as np
import pytest

# what needs torch is imported after this line, hence the noqa below
torch = pytest.importorskip("torch")

from hyperhop.flow import FlowGraph  # noqa: E402
from hyperhop.rsf import FlowBatch, RSFConfig, RSFModel, flow_loss  # noqa: E402
from hyperhop.rsf.question import Question  # noqa: E402
from rsf_batches import (  # noqa: E402
    NUM_RELATIONS,
    TEXT_DIM,
    alone,
    lanes,
    packed,
    questions,
    texts,
)
from rsf_twin import RSFTwin  # noqa: E402

pytestmark = pytest.mark.needs("torch")

CONFIGS = {
    "paper": {},
    "same sizes": {"hidden": TEXT_DIM},
    "no gate": {"gate": False},
    "no content bias": {"content_bias": False},
    "no query update": {"query_update": False},
    "no node text": {"node_text": "dropped"},
    "reachable only": {"reachable_only": True},
    "four hops": {"hops": 4},
    "tokens": {"question": "tokens"},
    "cosine": {"attention": "cosine"},
    "order aware": {
        "question": "tokens",
        "attention": "cosine",
        "update_from": "question",
        "stay_text": "learned",
        "content_bias": False,
    },
    "both": {"question": "tokens", "attention": "cosine", "update_from": "both"},
    "no return": {"return_to_topic": False},
    "no return, no content": {"return_to_topic": False, "content_bias": False},
    "pooled both": {"update_from": "both"},
}


def model_of(seed=0, **switches):
    torch.manual_seed(seed)
    return RSFModel(RSFConfig(**{"hops": 3, "hidden": 8} | switches), TEXT_DIM)


def run(model, batch, dtype=torch.float32, **options):
    return model(batch, *texts(dtype=dtype), questions(batch.size, dtype=dtype), **options)


def gradients(model, batch, dtype=torch.float32):
    model.zero_grad()
    loss = flow_loss(run(model, batch, dtype), batch, lambda_1=0.1)
    loss.total.backward()
    return loss, {name: p.grad for name, p in model.named_parameters()}


@pytest.mark.parametrize("batch", [packed(), lanes()], ids=["packed", "lanes"])
@pytest.mark.parametrize("switches", CONFIGS.values(), ids=CONFIGS)
def test_equals_its_twin(switches, batch):
    """Values and all gradients, in float64 where only the order of sums differs."""
    model = model_of(**switches).double()
    twin = RSFTwin.of(model)
    output, expected = (run(m, batch, torch.float64) for m in (model, twin))
    for name in ("flows", "betas", "gates", "contexts", "queries"):
        ours, theirs = getattr(output, name), getattr(expected, name)
        assert len(ours) == len(theirs)
        for mine, other in zip(ours, theirs, strict=True):
            torch.testing.assert_close(mine, other, rtol=1e-9, atol=1e-12)
    (loss, grads), (wanted_loss, wanted) = (
        gradients(m, batch, torch.float64) for m in (model, twin)
    )
    torch.testing.assert_close(loss.total, wanted_loss.total, rtol=1e-9, atol=1e-12)
    for name, grad in grads.items():
        if wanted[name] is None:  # what this configuration does not use
            assert grad is None or not grad.any(), name
        else:
            torch.testing.assert_close(grad, wanted[name], rtol=1e-7, atol=1e-10, msg=name)


@pytest.mark.parametrize("batch", [packed(), lanes()], ids=["packed", "lanes"])
def test_equals_its_twin_in_float32(batch):
    model = model_of()
    output, expected = run(model, batch), run(RSFTwin.of(model), batch)
    for mine, other in zip(output.flows, expected.flows, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-6)


def test_shapes():
    for batch in (packed(), lanes()):
        output = run(model_of(), batch)
        flows = (batch.graph.num_nodes,) if batch.segments is not None else batch.start.shape
        relations = (batch.size, NUM_RELATIONS)
        assert [tuple(x.shape) for x in output.flows] == [flows] * 4
        wanted = relations if batch.segments is not None else relations[::-1]
        assert [tuple(x.shape) for x in output.betas] == [wanted] * 3
        assert [tuple(x.shape) for x in output.gates] == [(batch.size,)] * 3
        assert [tuple(x.shape) for x in output.contexts] == [(batch.size, 8)] * 2
        assert [tuple(x.shape) for x in output.queries] == [(batch.size, 8)] * 3


def test_flows_are_distributions():
    batch = packed()
    for flow in run(model_of(), batch).flows:
        sums = np.add.reduceat(flow.detach().numpy(), batch.segments[:-1])
        np.testing.assert_allclose(sums, 1, atol=1e-6)


def test_attention_is_equation_2():
    model, batch = model_of(hidden=TEXT_DIM), packed()
    output = run(model, batch)
    relation_text, question = texts()[1].numpy(), questions(batch.size).pooled.numpy()
    keys = relation_text @ model.relations.projection.weight.detach().numpy().T
    weight = model.relations.attention.weight.detach().numpy()
    logits = question @ weight @ keys.T  # q_0 = v_Q where the sizes agree
    np.testing.assert_allclose(output.betas[0].detach(), 1 / (1 + np.exp(-logits)), rtol=1e-4)


def test_switches_do_what_they_say():
    batch = packed()
    assert all((gate == 1).all() for gate in run(model_of(gate=False), batch).gates)
    assert all((gate == 0).all() for gate in run(model_of(content_bias=False), batch).gates)
    frozen = run(model_of(query_update=False), batch)
    assert all(torch.equal(query, frozen.queries[0]) for query in frozen.queries)
    assert torch.equal(frozen.betas[0], frozen.betas[2])
    model = model_of(node_text="dropped")
    no_text = model(batch, None, texts()[1], questions(batch.size))
    assert all(not context.any() for context in no_text.contexts)
    assert not any("node" in name or "content" in name for name, _ in model.named_parameters())


def test_reachable_only_can_be_asked_for_when_decoding():
    batch, model = packed(), model_of()
    leaky = run(model, batch).flows[1]
    tight = run(model, batch, reachable_only=True).flows[1]
    assert ((tight == 0) & (leaky > 0)).any()
    reached = np.unique(batch.graph.dst[np.isin(batch.graph.src, np.flatnonzero(batch.start))])
    assert set(np.flatnonzero(tight.detach().numpy())) == set(reached)


@pytest.mark.parametrize("batch", [packed(), lanes()], ids=["packed", "lanes"])
@pytest.mark.parametrize("content_bias", [False, True])
def test_no_return_to_the_topic(batch, content_bias):
    """The flow at the topic is what it would be without that node: 0, and the rest adds up to 1."""
    free, bound = (
        run(model_of(return_to_topic=back, hops=1, content_bias=content_bias), batch).flows[1]
        for back in (True, False)
    )
    topic = torch.from_numpy(batch.start) > 0
    assert not bound[topic].any()
    kept = free.masked_fill(topic, 0)
    if batch.segments is None:
        kept = kept / kept.sum(0)
    else:
        parts = kept.split(np.diff(batch.segments).tolist())
        kept = torch.cat([part / part.sum().clamp(min=1e-30) for part in parts])
    torch.testing.assert_close(bound, kept, rtol=1e-4, atol=1e-6)


def test_a_batch_equals_its_graphs_alone():
    """Bit for bit given the same attention; the model's own products agree within 1e-5."""
    from hyperhop.rsf import functions

    sizes = (9, 1, 14, 3)
    batch = packed(sizes)
    beta = torch.rand(len(sizes), NUM_RELATIONS)
    rho = torch.randn(batch.graph.num_nodes)
    gate = torch.rand(len(sizes))
    start = torch.from_numpy(batch.start)
    together, _ = functions.hop(batch.graph, start, beta, rho, gate, segments=batch.segments)
    model, whole = model_of(), run(model_of(), batch)
    ask = questions(len(sizes))
    for i in range(len(sizes)):
        one, nodes = alone(batch, i, sizes), slice(*batch.segments[i : i + 2])
        single, _ = functions.hop(
            one.graph,
            start[nodes],
            beta[i : i + 1],
            rho[nodes],
            gate[i : i + 1],
            segments=one.segments,
        )
        assert torch.equal(together[nodes], single)
        output = model(one, *texts(), Question(ask.pooled[i : i + 1]))
        torch.testing.assert_close(whole.flows[-1][nodes], output.flows[-1], rtol=1e-5, atol=1e-5)


def test_packed_copies_of_a_graph_equal_lanes():
    shared = lanes()
    starts = [np.flatnonzero(shared.start[:, i]) for i in range(shared.size)]
    copies = FlowBatch.pack(
        [shared.graph] * shared.size, starts, [np.arange(shared.graph.num_nodes)] * shared.size
    )
    model = model_of()
    output, other = run(model, shared), run(model, copies)
    for flow, flat in zip(output.flows, other.flows, strict=True):
        torch.testing.assert_close(flow.T.flatten(), flat, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("switches", CONFIGS.values(), ids=CONFIGS)
def test_edge_cases_have_finite_gradients(switches):
    """Empty graphs, one node with and without an edge, a question without a start or tokens."""
    model = model_of(**switches)
    nothing = FlowGraph([], [], [], 0, NUM_RELATIONS)
    single = FlowGraph([], [], [], 1, NUM_RELATIONS)
    loop = FlowGraph([0], [1], [0], 1, NUM_RELATIONS)
    batch = FlowBatch.pack(
        [nothing, single, loop, single],
        [[], [0], [0], []],
        [[], [3], [4], [5]],
        [[], [0], [0], [0]],
    )
    ask = questions(4, lengths=[2, 0, 3, 1])
    for only in (False, True):
        model.zero_grad()
        output = model(batch, *texts(), ask, reachable_only=only)
        loss = flow_loss(output, batch, lambda_1=0.5)
        loss.total.backward()
        assert torch.isfinite(loss.total)
        assert loss.answered == 3
        assert loss.unanswered == 1
        assert all(torch.isfinite(flow).all() for flow in output.flows)
        for name, parameter in model.named_parameters():
            assert parameter.grad is None or torch.isfinite(parameter.grad).all(), name


@pytest.mark.parametrize("scale", [1e4, 1e-4])
def test_extreme_texts_have_finite_gradients(scale):
    batch, model = packed(), model_of(gate=False)
    node_text, relation_text = (scale * x for x in texts())
    ask = questions(batch.size)
    loss = flow_loss(model(batch, node_text, relation_text, ask.pooled * scale), batch)
    loss.total.backward()
    assert torch.isfinite(loss.total)
    for name, parameter in model.named_parameters():
        assert torch.isfinite(parameter.grad).all(), name


@pytest.mark.parametrize("name", ["paper", "order aware", "both"])
def test_autocast(name):
    batch, model = packed(), model_of(**CONFIGS[name])
    expected = run(model, batch).flows[-1]
    with torch.autocast("cpu", torch.bfloat16):
        output = run(model, batch)
        loss = flow_loss(output, batch)
    loss.total.backward()
    assert output.flows[-1].dtype == torch.float32
    torch.testing.assert_close(output.flows[-1], expected, rtol=0.2, atol=0.02)
    assert all(p.grad is None or torch.isfinite(p.grad).all() for p in model.parameters())


def test_seeds_decide():
    batch = packed()
    results = []
    for seed in (0, 0, 1):
        model = model_of(seed, dropout=0.3)
        loss, grads = gradients(model, batch)
        results.append((loss.total.detach(), grads["relations.attention.weight"]))
    assert all(torch.equal(a, b) for a, b in zip(results[0], results[1], strict=True))
    assert not torch.equal(results[0][0], results[2][0])


def test_a_model_can_be_saved_copied_and_trained():
    batch, model = packed(), model_of(**CONFIGS["order aware"])
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    buffer.seek(0)
    other = model_of(7, **CONFIGS["order aware"])
    other.load_state_dict(torch.load(buffer, weights_only=True))
    assert torch.equal(run(model, batch).flows[-1], run(other, batch).flows[-1])
    assert torch.equal(run(model, batch).flows[-1], run(copy.deepcopy(model), batch).flows[-1])
    optimizer = torch.optim.AdamW(model.parameter_groups(0.01), lr=1e-2)
    losses = []
    for _ in range(15):
        optimizer.zero_grad()
        loss = flow_loss(run(model, batch), batch, lambda_1=0.02).total
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]


def test_parameter_groups_hold_every_parameter_once():
    model = model_of(**CONFIGS["both"])
    decayed, kept = (group["params"] for group in model.parameter_groups(0.01))
    assert {id(p) for p in decayed + kept} == {id(p) for p in model.parameters()}
    assert len(decayed) + len(kept) == len(list(model.parameters()))
    assert not {id(p) for p in model.relations.parameters()} & {id(p) for p in decayed}
    assert all(p.dim() > 1 for p in decayed)


def test_learned_stay_replaces_the_last_text():
    batch = packed()
    model = model_of(stay_text="learned")
    before = run(model, batch).betas[0]
    with torch.no_grad():
        model.stay.mul_(-3)
    after = run(model, batch).betas[0]
    assert torch.equal(before[:, :-1], after[:, :-1])
    assert not torch.allclose(before[:, -1], after[:, -1])


def test_tokens_have_an_order():
    """The same tokens turned around ask for other relations, which a mean could not."""
    batch, model = packed((9,)), model_of(question="tokens")
    ask = questions(1, lengths=[4])
    turned = Question(ask.pooled, ask.states.flip(0), ask.offsets)
    ahead, back = (model(batch, *texts(), x).betas[0] for x in (ask, turned))
    assert not torch.allclose(ahead, back, atol=1e-4)


def test_a_question_does_not_see_its_neighbours_tokens():
    batch, model = packed(), model_of(**CONFIGS["order aware"])
    ask = questions(4, lengths=[2, 5, 1, 3])
    whole = model(batch, *texts(), ask)
    for i in range(4):
        first, last = ask.offsets[i : i + 2].tolist()
        own = Question(
            ask.pooled[i : i + 1], ask.states[first:last], torch.tensor([0, last - first])
        )
        single = model(alone(batch, i, (9, 1, 14, 3)), *texts(), own)
        for t in range(3):
            torch.testing.assert_close(whole.betas[t][i], single.betas[t][0], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"node_text": None}, r"node_text must have shape \(entities, 12\), got None"),
        ({"node_text": torch.zeros(3, 4)}, r"node_text must have shape .*, got \(3, 4\)"),
        ({"relation_text": torch.zeros(4, 12)}, r"relation_text must have shape \(5, 12\)"),
        ({"question": torch.zeros(3, 12)}, r"question must have shape \(4, 12\), got \(3, 12\)"),
    ],
)
def test_refusals(change, message):
    batch = packed()
    node_text, relation_text = texts()
    arguments = {
        "node_text": node_text,
        "relation_text": relation_text,
        "question": questions(4).pooled,
    } | change
    with pytest.raises(ValueError, match=message):
        model_of()(batch, **arguments)


def test_refuses_what_tokens_need():
    with pytest.raises(ValueError, match="needs token states and offsets"):
        model_of(question="tokens")(packed(), *texts(), questions(4).pooled)
    with pytest.raises(ValueError, match="node_text must have 40 rows"):
        model_of()(lanes(), texts()[0][:3], texts()[1], questions(3).pooled)


@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")  # Dynamo's own looking
def test_compiling_leaves_the_kernels_out():
    batch, model = packed(), model_of(hops=1)
    wanted, wanted_gradients = gradients(model, batch)
    loss, found = gradients(torch.compile(model, backend="eager"), batch)
    assert torch.equal(loss.total, wanted.total)
    for name, grad in wanted_gradients.items():
        torch.testing.assert_close(found[f"_orig_mod.{name}"], grad)
