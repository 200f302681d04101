"""From answers back to where the flow came from: the paths that explain them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from hyperhop import _core
from hyperhop._arrays import threads_argument, to_numpy
from hyperhop.flow._inputs import edges_of, floats, segments_array
from hyperhop.flow.graph import FlowGraph
from hyperhop.paths import Paths

Score = Literal["pi", "pi*beta"]
Method = Literal["greedy", "best"]


@dataclass(frozen=True, eq=False, slots=True)
class TracedPaths:
    """Paths behind targets, one row each, in the order of the targets and best first.

    Attributes:
        sequences: Paths of relation ids, one a hop.
        entities: int32 (N, T + 1), the nodes of each path from its start to its target.
        target: int64 (N,), which of the targets each path leads to: its place in the flat
            (row-major) order of `targets`.
        score: (N,) of the flows' dtype, the sum of the logarithms of the weights of the path's
            steps.
        unreached: int64, places of the targets that no flow came to, ascending. They have no path.
    """

    sequences: Paths
    entities: npt.NDArray[np.int32]
    target: npt.NDArray[np.int64]
    score: npt.NDArray[np.floating[Any]]
    unreached: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.target)

    def __repr__(self) -> str:
        return f"TracedPaths({len(self)} paths, {len(self.unreached)} targets unreached)"


def backtrack(
    g: FlowGraph,
    flows: Sequence[Any],
    betas: Sequence[Any],
    targets: npt.ArrayLike,
    k: int = 1,
    score: Score = "pi*beta",
    segments: npt.ArrayLike | None = None,
    *,
    method: Method | None = None,
    threads: int | None = None,
) -> TracedPaths:
    """The paths along which flow came to the targets (RSF section 2.4).

    A step from u to v at hop t carries flow if `flows[t - 1]` of u and the attention `betas[t - 1]`
    of an edge (u, r, v) are above 0. A path is one such step a hop, from a node that `flows[0]`
    holds to the target; its relations are, among parallel edges, those of the largest attention
    (the lower id on a tie). So each path exists in the graph and carried flow, and a target that no
    flow came to has none: it is listed as `unreached`. Flows of `hop(..., reachable_only=True)`
    reach every node they hold.

    Args:
        g: the graph.
        flows: the T + 1 distributions from the start to the last hop: each (V,); packed (V,); in
            lanes (V, B).
        betas: the T attentions: each (R,); packed (G, R); in lanes (R, B).
        targets: node ids of any shape, a packed target's graph being the one that holds it; in
            lanes (B, K), row b for flow b. -1 stands for no target.
        k: paths to a target at most.
        score: a step's weight: "pi" is the flow it leaves (the paper's), "pi*beta" that times the
            attention it takes.
        segments: int64 (G + 1,) node offsets of packed graphs.
        method: "greedy" takes the heaviest step at each hop, back from the target, the lower node
            on a tie; where leaked mass makes that a dead end, it chooses among the steps that lead
            to a start. "best" finds the k paths of the largest score; of equals the one whose last
            but one node is lower comes first, or else the one whose part up to that node does.
            None: "greedy" for k = 1, else "best".
        threads: None for the default.

    Nothing of `flows[T]` is read but its shape. NaN carries no flow.

    Raises:
        TypeError: for a dtype. ValueError: for a shape, a target that is no node, k < 1, or
            "greedy" with k > 1.

    O(T * in-degree) a target for "greedy", O(T * edges * k) a graph at most for "best".
    """
    greedy = _is_greedy(k, method)
    if score not in get_args(Score):
        raise ValueError(f"backtrack: score must be 'pi' or 'pi*beta', got {score!r}")
    flow_arrays, beta_arrays = _arrays("flows", flows), _arrays("betas", betas)
    if len(flow_arrays) != len(beta_arrays) + 1:
        raise ValueError(
            "backtrack: flows must be one more than betas, "
            f"got {len(flow_arrays)} and {len(beta_arrays)}"
        )
    lanes = flow_arrays[0].shape[1] if flow_arrays[0].ndim == 2 else None
    symbols, entities, target, scores, unreached = _core.backtrack(
        edges_of(g, "backtrack"),
        flow_arrays,
        beta_arrays,
        _flat(targets, lanes),
        segments_array(segments, "backtrack"),
        k,
        greedy,
        score == "pi*beta",
        threads_argument(threads, "backtrack"),
    )
    offsets = np.arange(len(target) + 1, dtype=np.int64) * len(beta_arrays)
    return TracedPaths(Paths.of_valid(symbols, offsets), entities, target, scores, unreached)


def _is_greedy(k: int, method: Method | None) -> bool:
    """Whether to search greedily, by a checked `k` and `method`."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer):
        raise TypeError(f"backtrack: k must be an int, got {type(k).__name__}")
    if k < 1:
        raise ValueError(f"backtrack: k must be at least 1, got {k}")
    if method is not None and method not in get_args(Method):
        raise ValueError(f"backtrack: method must be 'greedy', 'best' or None, got {method!r}")
    if method == "greedy" and k > 1:
        raise ValueError(f"backtrack: 'greedy' finds one path a target, got k = {k}")
    return method == "greedy" or (method is None and k == 1)


def _flat(targets: npt.ArrayLike, lanes: int | None) -> npt.NDArray[np.int64]:
    """Targets one after another."""
    array = to_numpy(targets, "backtrack", "targets")
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"backtrack: targets must be integers, got dtype {array.dtype}")
    if lanes is not None and (array.ndim != 2 or len(array) != lanes):
        raise ValueError(
            f"backtrack: targets must have shape ({lanes}, K), a row a lane, got {array.shape}"
        )
    return np.ascontiguousarray(array, np.int64).reshape(-1)


def _arrays(name: str, values: Sequence[Any]) -> list[npt.NDArray[Any]]:
    return [floats(value, "backtrack", f"{name}[{i}]") for i, value in enumerate(values)]
