"""Relation paths as hypervectors: encoding them, and scoring them against a query unencoded."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hyperhop import _core
from hyperhop._arrays import output, restorer, threads_argument, to_numpy
from hyperhop.ghrr.codebook import Codebook
from hyperhop.paths import Paths, as_paths

Algorithm = Literal["auto", "walk", "dense"]


def encode_paths(
    cb: Codebook,
    paths: Paths | npt.ArrayLike,
    *,
    planes: bool = False,
    out: Any = None,
    threads: int | None = None,
) -> Any:
    """Path hypervectors R1 R2 ... RL, left to right (PathHD eq. 3).

    Args:
        cb: the codebook the symbols index.
        paths: Paths or a padded 2-D integer array (fill -1); at most 1,024 symbols a path. An empty
            path is the identity.
        planes: the result's layout: float32 (N, m, m, 2, D) instead of complex64 (N, D, m, m).

    Every prefix that paths share is multiplied once. O(D m^3) per distinct prefix and path.

    Raises:
        ValueError: for a symbol the codebook does not have, naming path and symbol.
    """
    given = as_paths(paths, "encode_paths")
    rows, symbols = _rows(cb, given, "encode_paths")
    result = _core.encode_paths(
        rows,
        symbols,
        given.offsets,
        planes,
        output(out, "encode_paths"),
        threads_argument(threads, "encode_paths"),
    )
    return result if out is None else out


def score_paths(
    cb: Codebook,
    query: Any,
    paths: Paths | npt.ArrayLike,
    *,
    algorithm: Algorithm = "auto",
    out: Any = None,
    threads: int | None = None,
) -> Any:
    """Blockwise cosine of a query with the hypervector of each path, none of which is stored.

    Equals `similarity(query, encode_paths(cb, paths))` within 1e-5: paths are walked as a trie with
    the prefixes moved to the query's side, tr(Q^H R1 R2 R3) = <R2^H R1^H Q, R3>, which costs one
    block product per distinct prefix and one trace per distinct path.

    Args:
        cb: the codebook the symbols index.
        query: one hypervector or Q of them, either layout, unitary or not (bundles, say); a zero
            block counts 0, a NaN surfaces in every score.
        paths: as in `encode_paths`.
        algorithm: "walk" scores each prefix's extensions as the trie is walked, best for sparse
            lists; "dense" scores up to 64 prefixes against all their last symbols as one table,
            best where most of that table is asked for, as in complete enumerations; "auto"
            (default) takes dense for every 64 neighbouring prefixes whose table is at least half
            full, else walk. The choice changes the time and no bit of the result. A codebook whose
            blocks are not unitary is walked with every path multiplied out.

    Returns:
        float32 (N,), or (Q, N) for Q queries. A score depends on the query and its own sequence
        alone.

    Raises:
        ValueError: for an unknown algorithm, "dense" without unitary blocks, shapes that do not
            fit, or a symbol the codebook does not have, naming path and symbol.

    O(D m^3) per distinct prefix, O(D m^2) per distinct path; memory beyond the arrays below 64 MiB
    for ordinary codebooks.
    """
    given = as_paths(paths, "score_paths")
    rows, symbols = _rows(cb, given, "score_paths")
    result = _core.score_paths(
        rows,
        to_numpy(query, "score_paths", "query"),
        symbols,
        given.offsets,
        algorithm,
        cb.unitary,
        output(out, "score_paths"),
        threads_argument(threads, "score_paths"),
    )
    return restorer(query)(result) if out is None else out


def score_bundle(
    cb: Codebook,
    paths: Paths | npt.ArrayLike,
    chosen: npt.ArrayLike,
    weights: npt.ArrayLike,
    *,
    threads: int | None = None,
) -> npt.NDArray[np.float64]:
    """`score_paths` of all paths for the weighted bundle of some of them, in one call.

    Args:
        cb, paths: as in `score_paths`.
        chosen: (K,) indices of the paths that make the query; K >= 1.
        weights: (K,) their weights, used as float32.

    Returns:
        float64 (N,), the float32 scores that `encode_paths`, `bundle` and `score_paths` give one
        after another, bit for bit; the query itself is not kept.

    Raises:
        ValueError: for an index without a path, no index, or another number of weights.
    """
    given = as_paths(paths, "score_bundle")
    rows, symbols = _rows(cb, given, "score_bundle")
    return _core.score_bundle(
        rows,
        symbols,
        given.offsets,
        np.asarray(chosen, np.int64),
        np.asarray(weights, np.float32),
        cb.unitary,
        threads_argument(threads, "score_bundle"),
    )


def top_paths(
    cb: Codebook,
    query: Any,
    paths: Paths | npt.ArrayLike,
    k: int,
    *,
    algorithm: Algorithm = "auto",
    threads: int | None = None,
) -> tuple[Any, Any]:
    """The k paths most similar to the query: (indices int64, scores float32), each (k,) or (Q, k).

    The order of `hyperhop.topk`: score descending, then lower index; k > N gives N. Paths with the
    same sequence score exactly alike, so ties are the normal case. Arguments as in `score_paths`.
    """
    given = as_paths(paths, "top_paths")
    rows, symbols = _rows(cb, given, "top_paths")
    indices, scores = _core.top_paths(
        rows,
        to_numpy(query, "top_paths", "query"),
        symbols,
        given.offsets,
        int(k),
        algorithm,
        cb.unitary,
        threads_argument(threads, "top_paths"),
    )
    restore = restorer(query)
    return restore(indices), restore(scores)


def _rows(cb: Codebook, paths: Paths, function: str) -> tuple[Any, Any]:
    """Planes that hold the symbols of the paths, and these as rows there."""
    symbols = paths.symbols
    try:
        return cb.holding(symbols)
    except IndexError:
        place = int(np.flatnonzero((symbols < 0) | (symbols >= len(cb)))[0])
        path = int(np.searchsorted(paths.offsets, place, side="right")) - 1
        raise ValueError(
            f"{function}: path {path} holds symbol {symbols[place]}, the codebook has symbols 0 to "
            f"{len(cb) - 1}"
        ) from None
