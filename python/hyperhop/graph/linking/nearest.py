"""Rows of the largest inner products, searched by faiss or NumPy with one result."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._topk import topk

_BLOCK = 65_536  # rows scored at once
_MARGIN = 32  # candidates beyond those wanted, so that the rounding of one product does not matter


def nearest(
    queries: npt.NDArray[np.float32], rows: npt.NDArray[np.float32], count: int
) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]]:
    """For each query the `count` rows of the largest inner products, and these; equal ones by row.

    Searched by faiss where it is installed, else by NumPy; products of what was found are taken row
    by row, so both agree but for candidates within 1e-5 of the last. O(queries * rows * dim).
    """
    if len(rows) == 0:
        nothing = np.zeros(0, np.int64), np.zeros(0)
        return [nothing for _ in queries]
    near = _search(queries, rows, min(count + _MARGIN, len(rows)))
    return [_scored(query, rows, ids, count) for query, ids in zip(queries, near, strict=True)]


def _scored(
    query: npt.NDArray[np.float32],
    rows: npt.NDArray[np.float32],
    ids: npt.NDArray[np.int64],
    count: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    ids = np.sort(ids)
    products: npt.NDArray[np.float64] = (rows[ids] * query).sum(axis=1, dtype=np.float64)
    places, best = topk(products, count)
    return ids[places], best


def _search(
    queries: npt.NDArray[np.float32], rows: npt.NDArray[np.float32], count: int
) -> npt.NDArray[np.int64]:
    """(queries, count) rows of the largest inner products."""
    faiss = _faiss()
    if faiss is not None:
        found: npt.NDArray[np.int64] = faiss.knn(
            queries, rows, count, metric=faiss.METRIC_INNER_PRODUCT
        )[1]
        return found
    best = np.zeros((len(queries), 0), np.int64)
    scores = np.zeros((len(queries), 0), np.float32)
    for start in range(0, len(rows), _BLOCK):
        block = queries @ rows[start : start + _BLOCK].T
        ids = np.broadcast_to(np.arange(start, start + block.shape[1]), block.shape)
        ids, scores = np.hstack([best, ids]), np.hstack([scores, block])
        kept, scores = topk(scores, count)
        best = np.take_along_axis(ids, kept, axis=1)
    return best


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        return None
    return faiss
