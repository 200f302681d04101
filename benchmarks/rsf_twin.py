"""The soft-flow model in plain torch: oracle of the tests, baseline of the benchmarks.

It shares its parameters with `RSFModel` (one state_dict fits both) and what was plain torch
already: reading the question, attending to relations, the GRU. What the package does in kernels is
done here as one would write it in torch, in the fastest form known: h = W_V x once a step,
(W^T q) . h, index_add over edges, a softmax over each question's nodes without padding.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch

from hyperhop.rsf.model import RSFModel, RSFOutput
from hyperhop.rsf.question import Question


class Edges(NamedTuple):
    """Edges as torch indexes: `attention` is a place in beta, flattened where it is packed."""

    src: torch.Tensor
    attention: torch.Tensor
    dst: torch.Tensor


def edges_of(graph, segments=None):
    src, attention, dst = (np.array(x, np.int64) for x in (graph.src, graph.relation, graph.dst))
    if segments is not None:
        owner = np.repeat(np.arange(len(segments) - 1), np.diff(segments))
        attention += owner[src] * graph.num_relations
    return Edges(*map(torch.from_numpy, (src, attention, dst)))


@lru_cache(maxsize=4)
def _edges_of_batch(batch):
    """Made once a batch, like a FlowGraph."""
    return edges_of(batch.graph, batch.segments)


def propagate(edges, pi, beta, segments=None):
    """Phi of every node."""
    attention = (beta if segments is None else beta.flatten())[edges.attention]
    return torch.zeros_like(pi).index_add(0, edges.dst, pi[edges.src] * attention)


def hop(
    edges, pi, beta, rho=None, gate=None, eps=1e-8, segments=None, reachable_only=False, closed=None
):
    """Eq. 4; a question without any flow has none afterwards. `closed` nodes get no mass."""
    phi = propagate(edges, pi, beta, segments)
    logits = torch.log(phi + eps)
    if rho is not None:
        sizes = None if segments is None else torch.from_numpy(np.diff(segments))
        logits = logits + (gate if sizes is None else gate.repeat_interleave(sizes)) * rho
    if reachable_only:
        logits = logits.masked_fill(phi <= 0, -torch.inf)
    if closed is not None:
        logits = logits.masked_fill(closed, -torch.inf)
    if segments is None:
        return _softmax(logits)
    return torch.cat([_softmax(part) for part in logits.split(np.diff(segments).tolist())])


def _softmax(logits):
    if not len(logits):
        return logits
    dead = torch.isneginf(logits).all(0)
    return torch.softmax(logits.masked_fill(dead, 0), 0) * ~dead


def content_score(features, query, segments=None):
    """rho_v = h_v . query."""
    if segments is None:
        return features @ query.T
    parts = features.split(np.diff(segments).tolist())
    return torch.cat([part @ one for part, one in zip(parts, query, strict=True)])


def read(pi, features, segments=None):
    """c = sum_v pi_v h_v."""
    if segments is None:
        return pi.T @ features
    sizes = np.diff(segments).tolist()
    parts = zip(pi.split(sizes), features.split(sizes), strict=True)
    return torch.stack([one @ part for one, part in parts])


def entropy(pi, segments=None, eps=1e-8):
    """-sum pi log(pi + eps)."""
    terms = -pi * torch.log(pi + eps)
    if segments is None:
        return terms.sum(0)
    return torch.stack([part.sum() for part in terms.split(np.diff(segments).tolist())])


def loss(output, batch, lambda_1, eps=1e-8):
    """The total of `flow_loss` with uniform targets."""
    last, segments = output.flows[-1], batch.segments
    counts = torch.from_numpy(batch.target_offsets).diff()
    owner = torch.repeat_interleave(torch.arange(batch.size), counts)
    nodes = torch.from_numpy(batch.targets)
    mass = last[nodes] if segments is not None else last[nodes, owner]
    logs = mass.clamp(min=torch.finfo(last.dtype).tiny).log() / counts[owner]
    entropies = [entropy(pi, segments, eps) for pi in output.flows[1:]]
    each = torch.zeros(batch.size).index_add(0, owner, -logs)
    each = each + lambda_1 * torch.stack(entropies).mean(0)
    return each[counts > 0].mean()


class RSFTwin(RSFModel):
    """`RSFModel` whose hops are plain torch; `RSFTwin.of(model)` has the model's parameters."""

    @classmethod
    def of(cls, model):
        twin = cls(model.config, model.text_dim).to(next(model.parameters()).dtype)
        twin.load_state_dict(model.state_dict())
        return twin.train(model.training)

    def forward(self, batch, node_text, relation_text, question, reachable_only=None):
        config = self.config
        question = question if isinstance(question, Question) else Question(question)
        segments = batch.segments
        only = config.reachable_only if reachable_only is None else reachable_only
        h = None
        if config.weighs_content or config.reads_nodes:
            rows = batch.entities
            texts = node_text if rows is None else node_text[torch.from_numpy(rows)]
            h = self._nodes(texts)
        keys = self.relations.keys(self._with_stay(relation_text))
        query, reading = self.question.start(question)
        edges = _edges_of_batch(batch)
        flow = torch.from_numpy(batch.start).to(query.dtype)
        closed = None if config.return_to_topic else flow > 0
        output = RSFOutput([flow], [], [], [], [])
        for step in range(config.hops):
            asked, reading = self.question.ask(query, reading)
            beta = self.relations(asked, keys)
            beta = beta.T if segments is None else beta
            gate = self._gate(query)
            rho = None
            if config.weighs_content:
                rho = content_score(h, self._scored_by(query), segments)
            flow = hop(edges, flow, beta, rho, gate, config.eps, segments, only, closed)
            output.flows.append(flow)
            output.betas.append(beta)
            output.gates.append(gate)
            output.queries.append(query)
            if config.query_update and step + 1 < config.hops:
                context = asked
                if config.update_from != "question":
                    seen = query.new_zeros(query.shape)
                    if config.reads_nodes:
                        seen = self._seen(read(flow, h, segments))
                    context = seen if config.update_from == "nodes" else torch.cat([seen, asked], 1)
                output.contexts.append(context)
                query = self.update(self.dropout(context), query)
        return output

    def _nodes(self, texts):
        """What stands for the nodes."""
        return self.node_projection(texts)

    def _scored_by(self, query):
        """What a node's row is compared with."""
        return self.content(query)

    def _seen(self, context):
        """What was read, as the update takes it."""
        return context


class UnprojectedTwin(RSFTwin):
    """The twin with the model's way round W_V: it goes to the query and to what was read."""

    def _nodes(self, texts):
        return texts

    def _scored_by(self, query):
        return self._wanted(query)

    def _seen(self, context):
        return self.node_projection(context)
