"""How many of the entities where a flow ends answer: it falls off steeply after the last one.

A flow divides by the number of ways that lead to an answer, so that of many answers the last may
hold a fiftieth of what the first one holds; what does not answer mostly holds far less again.
"""

import numpy as np
import numpy.typing as npt

from hyperhop.evidence import NEAR

# From what share of the best one's flow on entities may answer: chosen among these on dev.
SHARES = (0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01)


def answer_count(flow: npt.NDArray[np.floating], share: float | None) -> int:
    """How many nodes answer, those with most flow first; of equal ones all do, or none.

    Args:
        flow: (V,), the last hop's.
        share: nodes with so much of the best one's flow may answer. Those before the steepest fall
            do: where the next smaller flow of all nodes is the smallest part of the one before,
            the first such place. None: all with half of the best one's flow do.

    0 without flow. O(V + n log n) for n nodes with that share.
    """
    nodes = _near(flow, NEAR if share is None else share)
    if share is None or not len(nodes):
        return len(nodes)
    return int(np.argmin(_falls(flow, nodes))) + 1


def f1_by_share(
    flow: npt.NDArray[np.floating], targets: npt.NDArray[np.integer]
) -> npt.NDArray[np.float64]:
    """F1 of the nodes that answer against at least one target node, for each of `SHARES`."""
    nodes = _near(flow, SHARES[-1])
    if not len(nodes):
        return np.zeros(len(SHARES))
    values, falls, right = flow[nodes], _falls(flow, nodes), np.cumsum(np.isin(nodes, targets))
    last = [np.argmin(falls[: np.count_nonzero(values >= s * values[0])]) for s in SHARES]
    return np.array([2 * right[i] / (i + 1 + len(targets)) for i in last])


def _near(flow: npt.NDArray[np.floating], share: float) -> npt.NDArray[np.int64]:
    """Nodes with at least this share of the best one's flow, best first, of equals the lower."""
    nodes = np.flatnonzero((flow > 0) & (flow >= share * flow.max(initial=0)))
    return nodes[np.argsort(-flow[nodes], kind="stable")]


def _falls(
    flow: npt.NDArray[np.floating], nodes: npt.NDArray[np.int64]
) -> npt.NDArray[np.floating]:
    """What part of the flow on each of the first nodes, best first, the next of all nodes has."""
    values = flow[nodes]
    below = flow[flow < values[-1]].max(initial=0)
    falls: npt.NDArray[np.floating] = np.append(values[1:], below) / values
    return falls
