"""What training minimises: the answers' cross entropy plus the flow's entropy (stage 1)."""

from dataclasses import dataclass
from typing import Literal

import torch

from hyperhop.rsf import functions
from hyperhop.rsf.batch import FlowBatch
from hyperhop.rsf.model import RSFOutput

Target = Literal["uniform", "any"]


@dataclass(frozen=True)
class FlowLoss:
    """The loss of a batch, in parts. Means are over the questions that have an answer in the graph.

    Attributes:
        total: what to differentiate: cross_entropy + lambda_1 * entropy. 0 where no question has
            an answer.
        cross_entropy: mean of the questions' cross entropies, in nats.
        divergence: mean of KL(target || flow) = cross entropy - log n of n answers.
        entropy: mean of the flow's entropy over questions and hops 1 to T (L_flow).
        per_question: (G,) cross entropies; 0 where a question has no answer in its graph.
        answered: how many questions have an answer in their graph.
        unanswered: how many have none: they leave the loss, but count as misses.
    """

    total: torch.Tensor
    cross_entropy: torch.Tensor
    divergence: torch.Tensor
    entropy: torch.Tensor
    per_question: torch.Tensor
    answered: int
    unanswered: int


def flow_loss(
    output: RSFOutput,
    batch: FlowBatch,
    lambda_1: float = 0.1,
    eps: float = 1e-8,
    target: Target = "uniform",
) -> FlowLoss:
    """Cross entropy of the last flow with the answers, plus lambda_1 times the flow's entropy.

    `target="uniform"` spreads the target over the answers in the graph. `target="any"` is minus the
    logarithm of all the mass on them, however it is spread; it is the same where there is one.
    A mass below the smallest normal number counts as that number and has no gradient, so that the
    loss stays finite where a flow never reaches the answer. O(answers + T V).

    Raises ValueError for a batch without targets.
    """
    if batch.targets is None or batch.target_offsets is None:
        raise ValueError("flow_loss: batch needs targets, got None")
    last = output.flows[-1]
    counts = torch.from_numpy(batch.target_offsets).diff()
    owner = torch.repeat_interleave(torch.arange(batch.size), counts)
    nodes = torch.from_numpy(batch.targets)
    mass = last[nodes] if batch.segments is not None else last[nodes, owner]
    smallest = torch.finfo(last.dtype).tiny
    zeros = last.new_zeros(batch.size)
    has_answer = counts > 0
    share = 1 / counts.clamp(min=1).to(last.dtype)
    if target == "uniform":
        logs = mass.clamp(min=smallest).log()
        per_question = zeros.index_add(0, owner, -logs * share[owner])
    elif target == "any":
        summed = zeros.index_add(0, owner, mass).clamp(min=smallest)
        per_question = torch.where(has_answer, -summed.log(), zeros)
    else:
        raise ValueError(f"flow_loss: target must be 'uniform' or 'any', got {target!r}")
    answered = int(has_answer.sum())
    weight = has_answer.to(last.dtype) / max(answered, 1)
    cross_entropy = weight @ per_question
    log_counts = counts.clamp(min=1).to(last.dtype).log()
    divergence = cross_entropy - (weight @ log_counts if target == "uniform" else 0)
    entropies = [functions.entropy(pi, batch.segments, eps) for pi in output.flows[1:]]
    flow_entropy = weight @ torch.stack(entropies).mean(0)
    total = cross_entropy + lambda_1 * flow_entropy
    return FlowLoss(
        total,
        cross_entropy,
        divergence,
        flow_entropy,
        per_question,
        answered,
        batch.size - answered,
    )
