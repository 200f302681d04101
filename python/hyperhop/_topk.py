"""Top-k selection as a total order."""

from typing import Any

import numpy as np

from hyperhop import _core
from hyperhop._arrays import restorer, threads_argument, to_numpy


def topk(
    scores: Any, k: int, largest: bool = True, *, threads: int | None = None
) -> tuple[Any, Any]:
    """The k best scores of the last axis and where they stand.

    The order is total: better score first, equal scores by lower index, a NaN after every number.
    So top-k is a prefix of top-(k+1), on any machine and with any thread count.

    Args:
        scores: (..., n) float32 or float64; float16 is widened to float32. NumPy or CPU torch.
        k: how many; k > n gives n.
        largest: best means largest (default) or smallest.
        threads: over rows; None for the default (HYPERHOP_NUM_THREADS, else the processors
            allowed).

    Returns:
        (indices int64 (..., min(k, n)), values of the scores' dtype), in the kind of array given.

    Raises:
        TypeError: for another dtype. ValueError: for k < 0 or a scalar.

    O(n + k log k) a row.
    """
    array = to_numpy(scores, "topk", "scores")
    if array.dtype == np.float16:
        array = array.astype(np.float32)
    restore = restorer(scores)
    indices, values = _core.topk(array, int(k), bool(largest), threads_argument(threads, "topk"))
    return restore(indices), restore(values)
