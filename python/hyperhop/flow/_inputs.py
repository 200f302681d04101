"""How arguments reach the kernels of flow."""

from typing import Any

import numpy as np

from hyperhop import _core
from hyperhop._arrays import to_numpy
from hyperhop.flow.graph import FlowGraph


def edges_of(graph: FlowGraph, function: str) -> _core.FlowEdges:
    """The compiled side of a graph."""
    if type(graph) is not FlowGraph:
        raise TypeError(f"{function}: g must be a FlowGraph, got {type(graph).__name__}")
    return graph._edges


def floats(x: Any, function: str, name: str) -> np.ndarray:
    """`x` as an array; bfloat16 tensors, which NumPy does not know, are widened to float32."""
    if type(x) is np.ndarray:
        return x
    if str(getattr(x, "dtype", "")) == "torch.bfloat16":
        x = x.float()
    return to_numpy(x, function, name)


def gate_array(gate: Any, function: str) -> tuple[np.ndarray, bool]:
    """The gate as an array, and whether it is a plain number, which follows the others' dtype."""
    if type(gate) is float or type(gate) is int:
        return np.array(gate, np.float64), True
    return floats(gate, function, "gate"), False


def segments_array(segments: Any, function: str) -> np.ndarray | None:
    """The node offsets of packed graphs as an array, or None."""
    return None if segments is None else to_numpy(segments, function, "segments")


def same_width(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """All in float64 if one is; others stay as they are, for the kernels to widen or refuse."""
    if not any(array.dtype == np.float64 for array in arrays):
        return arrays
    return tuple(a.astype(np.float64) if a.dtype.kind == "f" else a for a in arrays)
