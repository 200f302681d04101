"""What a model does on questions: where the answers come, how spread its flows and gates are."""

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hyperhop import flow
from hyperhop._topk import topk
from hyperhop.rsf.batch import FlowBatch
from hyperhop.rsf.cut import SHARES, answer_count, f1_by_share
from hyperhop.rsf.training.questions import Questions
from hyperhop.rsf.training.ranks import answer_ranks, by_question

if TYPE_CHECKING:
    import torch

    from hyperhop.rsf.model import RSFModel, RSFOutput


@dataclass(frozen=True)
class Measured:
    """What a model did on n questions with T hops.

    Attributes:
        ranks: int64 (n,), see `answer_ranks`.
        answers: int64 (n,), how many nodes answer, see `answer_count`.
        right: int64 (n,), how many of these are targets.
        entropies: float32 (n, T), entropy of the flow after each hop, in nats.
        gates: float32 (n, T), lambda of each hop.
        seconds: for all questions, batches as they were asked, texts aside.
    """

    ranks: npt.NDArray[np.int64]
    answers: npt.NDArray[np.int64]
    right: npt.NDArray[np.int64]
    entropies: npt.NDArray[np.float32]
    gates: npt.NDArray[np.float32]
    seconds: float


def rank_answers(
    model: "RSFModel",
    node_text: "torch.Tensor | None",
    relation_text: "torch.Tensor",
    questions: Questions,
    batch_size: int,
) -> npt.NDArray[np.int64]:
    """Ranks of the answers of all questions, see `answer_ranks`. Int64 (n,)."""
    asked = _outputs(model, node_text, relation_text, questions, batch_size)
    found = [answer_ranks(output.flows[-1].numpy(), batch) for batch, output in asked]
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def best_share(
    model: "RSFModel",
    node_text: "torch.Tensor | None",
    relation_text: "torch.Tensor",
    questions: Questions,
    batch_size: int,
) -> float:
    """The one of `SHARES` with the best mean F1 of the nodes that answer, see `answer_count`.

    Questions without a target say nothing. Of equal shares the largest, the most cautious one.
    """
    found = np.zeros(len(SHARES))
    for batch, output in _outputs(model, node_text, relation_text, questions, batch_size):
        for part, targets in by_question(output.flows[-1].numpy(), batch):
            if len(targets):
                found += f1_by_share(part, targets)
    return SHARES[int(np.argmax(found))]


def measure(
    model: "RSFModel",
    node_text: "torch.Tensor | None",
    relation_text: "torch.Tensor",
    questions: Questions,
    batch_size: int,
    answer_share: float | None = None,
) -> Measured:
    """Ranks, answers, entropies and gates of at least one question."""
    start = perf_counter()
    ranks, counts, entropies, gates = [], [], [], []
    for batch, output in _outputs(model, node_text, relation_text, questions, batch_size):
        final = output.flows[-1].numpy()
        ranks.append(answer_ranks(final, batch))
        found = [flow.entropy(pi.numpy(), batch.segments) for pi in output.flows[1:]]
        entropies.append(np.stack(found, axis=1))
        gates.append(np.stack([gate.numpy() for gate in output.gates], axis=1))
        counts += [_counts(*one, answer_share) for one in by_question(final, batch)]
    seconds = perf_counter() - start
    joined = [np.concatenate(parts) for parts in (ranks, entropies, gates)]
    answers, right = np.array(counts, np.int64).T
    return Measured(joined[0], answers, right, joined[1], joined[2], seconds)


def _counts(
    part: npt.NDArray[np.floating], targets: npt.NDArray[np.int64], share: float | None
) -> tuple[int, int]:
    """How many nodes of a question answer, and how many of these are targets."""
    count = answer_count(part, share)
    return count, int(np.isin(topk(part, count)[0], targets).sum())


def _outputs(
    model: "RSFModel",
    node_text: "torch.Tensor | None",
    relation_text: "torch.Tensor",
    questions: Questions,
    batch_size: int,
) -> "Iterator[tuple[FlowBatch, RSFOutput]]":
    import torch

    model.eval()
    count = len(questions.answerable)
    for first in range(0, count, batch_size):
        batch, question = questions.batch(np.arange(first, min(first + batch_size, count)))
        with torch.no_grad():
            # as answers are decoded: nothing where no flow came
            output = model(batch, node_text, relation_text, question, reachable_only=True)
            yield batch, output
