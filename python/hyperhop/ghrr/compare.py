"""Blockwise cosine similarity of hypervectors."""

from typing import Any

from hyperhop import _core
from hyperhop._arrays import output, restorer, threads_argument, to_numpy


def similarity(x: Any, y: Any, *, out: Any = None, threads: int | None = None) -> Any:
    """Blockwise cosine (PathHD eq. 4), float32, leading axes broadcast.

    (1 / D) sum_j Re tr(X_j^H Y_j) / (|X_j| |Y_j|), in [-1, 1]. A zero block counts 0, a NaN
    surfaces. Same layout, D and m in both. O(D m^2) a pair.
    """
    result = _core.similarity(
        to_numpy(x, "similarity", "x"),
        to_numpy(y, "similarity", "y"),
        output(out, "similarity"),
        threads_argument(threads, "similarity"),
    )
    return restorer(x, y)(result) if out is None else out


def pairwise(xs: Any, ys: Any, *, out: Any = None, threads: int | None = None) -> Any:
    """Blockwise cosine of each row of `xs` (Q, blocks) with each of `ys` (N, blocks): (Q, N)."""
    return similarity(xs[:, None], ys[None], out=out, threads=threads)
