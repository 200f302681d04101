"""The recurrent soft-flow module (RSF-GLLM, phase 2) in torch."""

from dataclasses import dataclass
from math import inf
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from hyperhop.rsf import functions
from hyperhop.rsf.attention import BilinearAttention, CosineAttention
from hyperhop.rsf.batch import FlowBatch
from hyperhop.rsf.config import RSFConfig
from hyperhop.rsf.question import PooledQuestion, Question, TokenQuestion


@dataclass(frozen=True)
class RSFOutput:
    """What happened at each hop. Shapes are those of `FlowBatch`: packed, or in lanes.

    Attributes:
        flows: T + 1 distributions over nodes, (V,) or (V, G); the first is the start. All zero
            where a flow died.
        betas: T relation attentions, (G, R) or (R, G).
        gates: T gates lambda (G,); 1 without a gate, 0 without content bias.
        contexts: what the query states were updated by, (G, hidden): T - 1, or none without query
            update. What hop T would read changes nothing, so it is not read.
        queries: T query states (G, hidden), hop t's at place t - 1.
    """

    flows: list[torch.Tensor]
    betas: list[torch.Tensor]
    gates: list[torch.Tensor]
    contexts: list[torch.Tensor]
    queries: list[torch.Tensor]


class RSFModel(nn.Module):
    """Flows over a graph, steered by a question whose state a GRU updates at each hop.

    h_v = W_V x_v is never stored: W_V is linear, so the content score takes W_V to the query and
    the context takes it to what was read, and the kernels work on the texts x_v themselves. Same
    function, same gradients, no product of all nodes with W_V.

    Deterministic given torch's seed. The flow part of a question has the same bits in any batch;
    torch's products before it agree between batches within 1e-5.
    """

    def __init__(self, config: RSFConfig, text_dim: int) -> None:
        super().__init__()
        hidden, dropout = config.hidden, config.dropout
        self.config = config
        self.text_dim = text_dim
        reading = TokenQuestion if config.question == "tokens" else PooledQuestion
        self.question = reading(text_dim, hidden, dropout)
        asked = self.question.dim
        if config.attention == "cosine":
            self.relations = CosineAttention(
                text_dim, asked, dropout, config.attention_scale, config.attention_threshold
            )
        else:
            self.relations = BilinearAttention(text_dim, asked, hidden, dropout)
        if config.stay and config.stay_text == "learned":
            self.stay = nn.Parameter(torch.randn(text_dim) / text_dim**0.5)
        if config.weighs_content or config.reads_nodes:
            self.node_projection = nn.Linear(text_dim, hidden, bias=False)  # W_V
        if config.weighs_content:
            self.content = nn.Linear(hidden, hidden, bias=False)  # W_node^T
            if config.gate:
                self.gate = nn.Linear(hidden, 1)
        if config.query_update:
            sizes = {"nodes": hidden, "question": asked, "both": hidden + asked}
            self.update = nn.GRUCell(sizes[config.update_from], hidden)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        batch: FlowBatch,
        node_text: torch.Tensor | None,
        relation_text: torch.Tensor,
        question: Question | torch.Tensor,
        reachable_only: bool | None = None,
    ) -> RSFOutput:
        """Let all flows of a batch take T hops.

        Args:
            batch: G questions with their graph.
            node_text: (N, text_dim), texts of all entities; `batch.entities` says which row is
                whose. Not read where neither content bias nor query update needs it.
            relation_text: (R, text_dim), texts of the graph's relations; where the graph has STAY,
                its row is the last.
            question: the G questions, or (G, text_dim) where only pooled vectors are read.
            reachable_only: as in `hyperhop.flow.hop`; None takes the configuration's.

        Raises ValueError where a shape breaks its rule.
        """
        config = self.config
        question = question if isinstance(question, Question) else Question(question)
        self._check(batch, relation_text, question)
        segments = batch.segments
        only = config.reachable_only if reachable_only is None else reachable_only
        texts = self._texts(batch, node_text)
        keys = self.relations.keys(self._with_stay(relation_text))
        query, reading = self.question.start(question)
        flow = torch.from_numpy(batch.start).to(torch.promote_types(query.dtype, torch.float32))
        closed = None if config.return_to_topic else flow > 0
        output = RSFOutput([flow], [], [], [], [])
        for step in range(config.hops):
            asked, reading = self.question.ask(query, reading)
            beta = self.relations(asked, keys)
            beta = beta.T if segments is None else beta
            gate = self._gate(query)
            wanted = self._wanted(query) if config.weighs_content else None
            updates = config.query_update and step + 1 < config.hops
            reads = texts if updates and config.reads_nodes else None
            if wanted is not None and (closed is not None or reads is None):
                rho, wanted = functions.content_score(texts, wanted, segments), None
            else:
                rho = None
            if closed is not None:
                rho = (torch.zeros_like(flow) if rho is None else rho).masked_fill(closed, -inf)
            flow, read = functions.hop(
                batch.graph,
                flow,
                beta,
                rho,
                gate,
                eps=config.eps,
                segments=segments,
                reachable_only=only,
                features=reads,
                query=wanted,
            )
            output.flows.append(flow)
            output.betas.append(beta)
            output.gates.append(gate)
            output.queries.append(query)
            if updates:
                context = self._context(query, read, asked)
                output.contexts.append(context)
                # torch's GRU does not mix dtypes, which autocast may have made.
                weight = self.update.weight_hh.dtype
                query = self.update(self.dropout(context).to(weight), query.to(weight))
        return output

    def parameter_groups(self, weight_decay: float) -> list[dict[str, Any]]:
        """Parameters for an optimiser: decay pulls matrices to zero, but not those that start at
        the identity, and no vectors or scalars.
        """
        decayed: list[nn.Parameter] = []
        kept: list[nn.Parameter] = []
        for name, parameter in self.named_parameters():
            matrix = parameter.dim() > 1 and not (
                self.config.attention == "cosine" and name.startswith("relations.")
            )
            (decayed if matrix else kept).append(parameter)
        return [
            {"params": decayed, "weight_decay": weight_decay},
            {"params": kept, "weight_decay": 0.0},
        ]

    def _texts(self, batch: FlowBatch, node_text: torch.Tensor | None) -> torch.Tensor | None:
        """What the kernels read of each node (V, text_dim), or None where nothing is read."""
        if not (self.config.weighs_content or self.config.reads_nodes):
            return None
        if node_text is None or node_text.dim() != 2 or node_text.shape[1] != self.text_dim:
            got = None if node_text is None else tuple(node_text.shape)
            raise ValueError(
                f"RSFModel: node_text must have shape (entities, {self.text_dim}), got {got}"
            )
        if batch.entities is not None:
            return node_text[torch.from_numpy(batch.entities)]
        if len(node_text) != batch.graph.num_nodes:
            raise ValueError(
                f"RSFModel: node_text must have {batch.graph.num_nodes} rows, one a node of a "
                f"batch without entities, got {len(node_text)}"
            )
        return node_text

    def _with_stay(self, relation_text: torch.Tensor) -> torch.Tensor:
        if self.config.stay and self.config.stay_text == "learned":
            return torch.cat([relation_text[:-1], self.stay[None]])
        return relation_text

    def _gate(self, query: torch.Tensor) -> torch.Tensor:
        """lambda of each question (eq. 3)."""
        if not self.config.weighs_content:
            return query.new_zeros(len(query))
        if not self.config.gate:
            return query.new_ones(len(query))
        return torch.sigmoid(self.gate(query)[:, 0])

    def _wanted(self, query: torch.Tensor) -> torch.Tensor:
        """W_V^T W_node^T q: what rho compares with a node's text."""
        return functional.linear(self.content(query), self.node_projection.weight.T)

    def _context(
        self, query: torch.Tensor, read: torch.Tensor | None, asked: torch.Tensor
    ) -> torch.Tensor:
        """What the GRU observes of a hop."""
        if self.config.update_from == "question":
            return asked
        nodes = query.new_zeros(query.shape) if read is None else self.node_projection(read)
        return nodes if self.config.update_from == "nodes" else torch.cat([nodes, asked], 1)

    def _check(self, batch: FlowBatch, relation_text: torch.Tensor, question: Question) -> None:
        for name, tensor, rows in (
            ("relation_text", relation_text, batch.graph.num_relations),
            ("question", question.pooled, batch.size),
        ):
            if tuple(tensor.shape) != (rows, self.text_dim):
                raise ValueError(
                    f"RSFModel: {name} must have shape ({rows}, {self.text_dim}), "
                    f"got {tuple(tensor.shape)}"
                )
