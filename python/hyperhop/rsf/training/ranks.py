"""Where the answers stand in a flow."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from hyperhop._topk import topk
from hyperhop.rsf.batch import FlowBatch

RANKED = 10


def answer_ranks(flow: npt.NDArray[np.floating], batch: FlowBatch) -> npt.NDArray[np.int64]:
    """Place, from 1, of each question's first target among the ten nodes with most flow.

    Args:
        flow: float32 or float64 (V,) or, in lanes, (V, G): the last hop's.
        batch: with targets.

    Returns:
        int64 (G,), 0 where none of the ten is a target; a node without flow is none of them. Equal
        flows are ordered by lower node.

    ValueError without targets. O(V G).
    """
    ranks = np.zeros(batch.size, np.int64)
    for number, (part, targets) in enumerate(by_question(flow, batch)):
        nodes, values = topk(part, RANKED)
        found = np.flatnonzero(np.isin(nodes, targets) & (values > 0))
        if len(found):
            ranks[number] = found[0] + 1
    return ranks


def by_question(
    flow: npt.NDArray[np.floating], batch: FlowBatch
) -> Iterator[tuple[npt.NDArray[np.floating], npt.NDArray[np.int64]]]:
    """Of each question its nodes' flow, and its targets among them; arguments of `answer_ranks`."""
    if batch.targets is None or batch.target_offsets is None:
        raise ValueError("by_question: the batch has no targets")
    offsets = batch.target_offsets.tolist()
    for number in range(batch.size):
        if batch.segments is None:
            first, part = 0, np.ascontiguousarray(flow[:, number])
        else:
            first = int(batch.segments[number])
            part = flow[first : int(batch.segments[number + 1])]
        yield part, batch.targets[offsets[number] : offsets[number + 1]] - first


def share_within(ranks: npt.NDArray[np.int64], k: int) -> float:
    """Hits@k: share of questions with a target among the first k; 0 for no questions."""
    return float(np.mean((ranks > 0) & (ranks <= k))) if len(ranks) else 0.0
