"""Blockwise cosine similarity of hypervectors."""

from typing import Any

from hyperhop import _core
from hyperhop._arrays import output, restorer, threads_argument, to_numpy


def similarity(x: Any, y: Any, *, out: Any = None, threads: int | None = None) -> Any:
    """Blockwise cosine (PathHD eq. 4), float32, leading axes broadcast.

    (1 / D) sum_j Re tr(X_j^H Y_j) / (|X_j| |Y_j|), in [-1, 1]. A zero block counts 0, a NaN
    surfaces, and scaling a block by a power of two changes nothing. Symmetric bit for bit. Same
    layout (planes of either width), D and m in both; float16 planes are read as they are.

    O(D m^2) a pair, at the speed of memory for one hypervector with many; for many with many use
    `pairwise`.
    """
    result = _core.similarity(
        to_numpy(x, "similarity", "x"),
        to_numpy(y, "similarity", "y"),
        output(out, "similarity"),
        threads_argument(threads, "similarity"),
    )
    return restorer(x, y)(result) if out is None else out


def pairwise(xs: Any, ys: Any, *, out: Any = None, threads: int | None = None) -> Any:
    """Blockwise cosine of each row of `xs` (Q, blocks) with each of `ys` (N, blocks): (Q, N).

    float32, with the bits `similarity` gives each pair, whatever else is in the call. Arguments as
    in `similarity`, but each a list of hypervectors. The norms of a row are computed once for many
    pairs, which then run like a matrix product. O(Q N D m^2).

    Raises:
        ValueError: for an argument that is not a list of hypervectors.
    """
    result = _core.pairwise(
        to_numpy(xs, "pairwise", "xs"),
        to_numpy(ys, "pairwise", "ys"),
        output(out, "pairwise"),
        threads_argument(threads, "pairwise"),
    )
    return restorer(xs, ys)(result) if out is None else out
