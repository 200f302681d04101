"""One training step of the soft-flow model beside the same model in plain torch.

Hidden 128, 16 questions, packed subgraphs: of the shape of MetaQA's, and MetaQA's own where
HYPERHOP_DATA says where it is. A step is forward, loss, backward, clipping and AdamW. The twin is
`rsf_twin.py`: h = W_V x once a step, (W^T q) . h, index_add, no padding; "texts unprojected" is
the twin with our way round W_V, so that what algebra wins and what kernels win can be told apart.
Texts are random unit vectors: no step asks what they mean.
"""

import os
import statistics
import time
from pathlib import Path

import numpy as np

from harness import Baseline, Case, installed

HIDDEN, BATCH, TEXT_DIM, HOPS = 128, 16, 256, 3
NODES, EDGES, SYMBOLS = 1371, 4252, 19
LAMBDA_1, EPS = 0.1, 1e-8


def cases(quick: bool, threads: int) -> list[Case]:
    if not installed("torch"):
        return []
    import torch

    torch.set_num_threads(threads)
    batch_size = 2 if quick else BATCH
    found = [("synthetic", _synthetic(batch_size))]
    if os.environ.get("HYPERHOP_DATA") and not quick:
        found.append(("MetaQA", _metaqa(batch_size)))
    return [case for name, batch in found for case in (_step(name, batch), _flow(name, batch))]


def _synthetic(batch_size):
    from hyperhop.flow import FlowGraph
    from hyperhop.rsf.batch import FlowBatch

    rng = np.random.default_rng(0)
    graphs = []
    for _ in range(batch_size):
        src, dst = rng.integers(0, NODES, (2, EDGES))
        graphs.append(FlowGraph(src, rng.integers(0, SYMBOLS, EDGES), dst, NODES, SYMBOLS))
    answers = [rng.integers(0, NODES, 3) for _ in graphs]
    entities = [rng.permutation(40_000)[:NODES] for _ in graphs]
    return FlowBatch.pack(graphs, [[0]] * batch_size, entities, answers)


def _metaqa(batch_size):
    """Questions of two hops with the balls of two edges around their topics."""
    from hyperhop.evaluate import metaqa
    from hyperhop.graph import KnowledgeGraph
    from hyperhop.rsf.batch import FlowBatch
    from hyperhop.rsf.graphs import FlowRelations, balls

    folder = Path(os.environ["HYPERHOP_DATA"]) / "metaqa"
    kg = KnowledgeGraph.from_triples(metaqa.facts(folder))
    relations = FlowRelations(kg)
    questions = metaqa.load(2, "dev", folder)[:batch_size]
    found = balls(kg, relations, [one.topic for one in questions], 2)
    answers = [
        ball.nodes_of([kg.entity_id(name) for name in sorted(one.answers)])
        for ball, one in zip(found, questions, strict=True)
    ]
    return FlowBatch.pack(
        [ball.graph for ball in found],
        [ball.topics for ball in found],
        [ball.entities for ball in found],
        answers,
    )


class _Training:
    """A model, or its twin, with what a step needs."""

    def __init__(self, kind, batch):
        import torch

        from hyperhop.rsf.config import RSFConfig
        from hyperhop.rsf.model import RSFModel

        torch.manual_seed(0)
        self.batch = batch
        model = RSFModel(RSFConfig(hops=HOPS, hidden=HIDDEN), TEXT_DIM)
        if kind is not None:
            model = kind.of(model)
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
        table = torch.randn(int(batch.entities.max()) + 1, TEXT_DIM)
        self.texts = torch.nn.functional.normalize(table)
        self.relations = torch.randn(batch.graph.num_relations, TEXT_DIM)
        self.question = torch.randn(batch.size, TEXT_DIM)

    def loss(self):
        output = self.model(self.batch, self.texts, self.relations, self.question)
        return self.loss_of(output)

    def loss_of(self, output):
        from hyperhop.rsf.loss import flow_loss

        return flow_loss(output, self.batch, LAMBDA_1, EPS).total

    def update(self):
        import torch

        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def step(self):
        loss = self.loss()
        loss.backward()
        self.update()
        return loss.item()


class _TwinTraining(_Training):
    def loss_of(self, output):
        import rsf_twin

        return rsf_twin.loss(output, self.batch, LAMBDA_1, EPS)


def _step(name, batch):
    import torch

    import rsf_twin

    ours = _Training(None, batch)
    twins = [
        ("torch", _TwinTraining(rsf_twin.RSFTwin, batch)),
        ("torch, texts unprojected", _TwinTraining(rsf_twin.UnprojectedTwin, batch)),
    ]

    def check():
        """The same loss and gradients from the same weights."""
        weights = {key: value.clone() for key, value in ours.model.state_dict().items()}
        ours.loss().backward()
        expected = [parameter.grad for parameter in ours.model.parameters()]
        for _, twin in twins:
            twin.model.load_state_dict(weights)
            assert abs(twin.loss().item() - ours.loss().item()) < 1e-4
            twin.loss().backward()
            for parameter, grad in zip(twin.model.parameters(), expected, strict=True):
                assert torch.allclose(parameter.grad, grad, rtol=1e-3, atol=1e-4)
            twin.optimizer.zero_grad()
        ours.optimizer.zero_grad()

    return Case(
        "RSF training step",
        _size(name, batch),
        ours.step,
        [Baseline(what, twin.step) for what, twin in twins],
        check,
        report=lambda: _shares(ours),
    )


def _size(name, batch):
    graph = batch.graph
    return (
        f"{name}, {batch.size} x {graph.num_nodes // batch.size:,} / "
        f"{graph.num_edges // batch.size:,}, {HOPS} hops, hidden {HIDDEN}"
    )


def _flow(name, batch):
    """All hops without content, forward and backward."""
    import torch

    import rsf_twin
    from hyperhop.rsf import functions

    beta = torch.rand(batch.size, batch.graph.num_relations)
    start = torch.from_numpy(batch.start)

    def run(hop):
        own = beta.clone().requires_grad_()
        pi = start
        for _ in range(HOPS):
            pi = hop(pi, own)
        pi.square().sum().backward()
        return own.grad

    edges = rsf_twin.edges_of(batch.graph, batch.segments)
    settings = {"eps": EPS, "segments": batch.segments}

    def ours():
        return run(lambda pi, own: functions.hop(batch.graph, pi, own, **settings)[0])

    def twin():
        return run(lambda pi, own: rsf_twin.hop(edges, pi, own, **settings))

    def check():
        assert torch.allclose(ours(), twin(), rtol=1e-3, atol=1e-6)

    return Case(
        "flow, forward and backward",
        _size(name, batch),
        ours,
        [Baseline("torch", twin)],
        check,
    )


def _shares(training):
    """Parts of a step, each alone with its backward pass; what is left is torch's own overhead."""
    import torch

    from hyperhop.rsf import functions
    from hyperhop.rsf.question import Question

    model, batch = training.model, training.batch
    graph, segments = batch.graph, batch.segments
    texts = training.texts[torch.from_numpy(batch.entities)]
    output = model(batch, training.texts, training.relations, training.question)
    betas = [beta.detach().requires_grad_() for beta in output.betas]
    states = [state.detach().requires_grad_() for state in output.queries]
    flows = [flow.detach().requires_grad_() for flow in output.flows]
    settings = {"eps": EPS, "segments": segments}

    def hops(content):
        found = []
        for step, (pi, beta, state) in enumerate(zip(flows, betas, states, strict=False)):
            inputs = {}
            if content:
                inputs = {"features": texts, "query": model._wanted(state)}
                inputs["gate"] = model._gate(state)
                if step + 1 == HOPS:
                    inputs["rho"] = functions.content_score(texts, inputs.pop("query"), segments)
                    del inputs["features"]
            reached, context = functions.hop(graph, pi, beta, **inputs, **settings)
            found += [reached] if context is None else [reached, context]
        return found

    def attention():
        keys = model.relations.keys(model._with_stay(training.relations))
        query, reading = model.question.start(Question(training.question))
        found = []
        for state in states:
            asked, reading = model.question.ask(state, reading)
            found.append(model.relations(asked, keys))
        return [query, *found]

    def updates():
        seen = torch.zeros(batch.size, TEXT_DIM)
        return [model.update(model.node_projection(seen), state) for state in states[:-1]]

    def loss():
        output.flows[:] = flows
        return [training.loss_of(output)]

    parts = {
        "texts of the nodes": _median(lambda: training.texts[torch.from_numpy(batch.entities)]),
        "flow": _median(lambda: _differentiated(hops(False))),
        "content and read": _median(lambda: _differentiated(hops(True))),
        "relation attention": _median(lambda: _differentiated(attention())),
        "GRU": _median(lambda: _differentiated(updates())),
        "loss": _median(lambda: _differentiated(loss())),
    }
    parts["content and read"] -= parts["flow"]
    gradients = [torch.ones_like(parameter) for parameter in model.parameters()]

    def update():
        for parameter, gradient in zip(model.parameters(), gradients, strict=True):
            parameter.grad = gradient
        training.update()

    parts["clip and AdamW"] = _median(update)
    whole = _median(training.step)
    shown = [f"{name} {seconds / whole:.0%}" for name, seconds in parts.items()]
    rest = 1 - sum(parts.values()) / whole
    return f"step {whole * 1e3:.1f} ms: {', '.join(shown)}, rest {rest:.0%}"


def _differentiated(outputs):
    import torch

    torch.autograd.backward(outputs, [torch.ones_like(one) for one in outputs])


def _median(run, repeats=9):
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
