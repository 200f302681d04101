"""How arguments reach the kernels of HyperNodes."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop import _core
from hyperhop._arrays import to_numpy
from hyperhop.hypernode.index import TripleIndex


def adjacency_of(index: TripleIndex, function: str) -> _core.TripleAdjacency:
    """The compiled side of an index."""
    if type(index) is not TripleIndex:
        raise TypeError(f"{function}: index must be a TripleIndex, got {type(index).__name__}")
    return index._adjacency


def hypernode_rows(hypernodes: Any, function: str) -> npt.NDArray[np.int64]:
    """HyperNodes as int64 (B, n)."""
    rows = to_numpy(hypernodes, function, "hypernodes")
    if rows.size and rows.dtype.kind not in "iu":
        raise TypeError(f"{function}: hypernodes must be an array of integers, got {rows.dtype}")
    if rows.ndim != 2:
        raise ValueError(f"{function}: hypernodes must have shape (B, n), got {rows.shape}")
    return np.ascontiguousarray(rows, np.int64)


def beam_offsets(offsets: Any, rows: int, function: str) -> npt.NDArray[np.int64]:
    """Where each query's rows start: those of one query where `offsets` is None."""
    if offsets is None:
        return np.array([0, rows], np.int64)
    array = to_numpy(offsets, function, "offsets")
    if array.dtype.kind not in "iu":
        raise TypeError(f"{function}: offsets must be an array of integers, got {array.dtype}")
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{function}: offsets must have shape (Q + 1,), got {array.shape}")
    return np.ascontiguousarray(array, np.int64)


def embedding_rows(embeddings: Any, index: TripleIndex, function: str) -> np.ndarray:
    """Embeddings of all triples, contiguous float32 or float16."""
    array = to_numpy(embeddings, function, "triple_embeddings")
    if array.dtype not in (np.float32, np.float16):
        raise TypeError(
            f"{function}: triple_embeddings must be float32 or float16, got {array.dtype}"
        )
    if array.ndim != 2 or array.shape[0] != index.num_triples:
        raise ValueError(
            f"{function}: triple_embeddings must have shape ({index.num_triples}, d), "
            f"got {array.shape}"
        )
    return np.ascontiguousarray(array)


def query_rows(
    queries: Any, count: int, dim: int, single: bool, function: str
) -> npt.NDArray[np.float32]:
    """Queries as float32 (Q, d); a single one may be (d,)."""
    array = to_numpy(queries, function, "queries")
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        raise TypeError(
            f"{function}: queries must be float32, float16 or float64, got {array.dtype}"
        )
    if single and array.shape == (dim,):
        array = array[None]
    if array.shape != (count, dim):
        raise ValueError(f"{function}: queries must have shape ({count}, {dim}), got {array.shape}")
    return np.ascontiguousarray(array, np.float32)
