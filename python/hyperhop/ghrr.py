"""Generalized holographic reduced representations: kernels on hypervectors of m x m blocks.

A hypervector is D complex m x m blocks, d = D m^2 complex numbers. Arrays come in two layouts, told
apart by dtype:

    complex64  (..., D, m, m)      as NumPy and torch write them
    float32    (..., m, m, 2, D)   "planes": lanes = blocks, what the kernels work on

All functions take NumPy arrays or CPU torch tensors and return the same kind, on any strides.
Results have the same bits for any thread count, batch and order of candidates; `threads=None` is
the default count (HYPERHOP_NUM_THREADS, else the processors this process may use) and `out=`
receives an array result. complex128 and float64 are refused by name.
"""

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hyperhop import _core
from hyperhop._arrays import output, restorer, threads_argument, to_numpy
from hyperhop.paths import Paths, as_paths

Family = Literal["haar", "householder", "diagonal"]

__all__ = [
    "Codebook",
    "bind",
    "bundle",
    "encode_paths",
    "normalize",
    "pairwise",
    "score_paths",
    "similarity",
    "top_paths",
    "unbind_left",
    "unbind_right",
    "unitarize",
]


class Codebook:
    """One random hypervector of unitary blocks per symbol name (PathHD eq. 1).

    A symbol's hypervector is a pure function of (seed, name, block_size, family): not of the other
    names, their order, the thread count, the instruction set or the machine, and its first D blocks
    do not depend on `blocks`.

    Args:
        names: distinct symbol names, id = position.
        blocks: D, 1 or more (default 256).
        block_size: m, 1 to 16 (default 4).
        family: "haar" (default): Haar-random U(m), E[sim(ab, ba)] = 1 / m^2;
            "householder": m random reflections times random phases; "diagonal": random phases
            alone, which commute, so that the order of a path is lost (kept for ablation).
        seed: any int.
        threads: see the module.

    Attributes:
        planes: float32 (R, m, m, 2, D), what is stored: 8 D m^2 bytes a symbol.

    Raises:
        ValueError: for a name given twice, a size out of range or an unknown family.

    O(R D m^3) time.
    """

    def __init__(
        self,
        names: Iterable[str],
        blocks: int = 256,
        block_size: int = 4,
        family: Family = "haar",
        seed: int = 0,
        *,
        threads: int | None = None,
    ) -> None:
        self.names = tuple(names)
        self.blocks, self.block_size = int(blocks), int(block_size)
        self.family, self.seed = family, int(seed)
        self._ids = {name: i for i, name in enumerate(self.names)}
        if len(self._ids) < len(self.names):
            twice = next(n for i, n in enumerate(self.names) if self._ids[n] != i)
            raise ValueError(f"Codebook: names must be distinct, got {twice!r} twice")
        self.planes: npt.NDArray[np.float32] = _core.codebook(
            self._keys(),
            self.blocks,
            self.block_size,
            family,
            threads_argument(threads, "Codebook"),
        )

    def _keys(self) -> npt.NDArray[np.uint32]:
        import hashlib  # brings in OpenSSL: a tenth of the time to import this package

        # 128 bits a symbol: names of any length, and no collisions to think about.
        context = f"{self.seed}\0{self.family}\0{self.block_size}\0".encode()
        digests = b"".join(
            hashlib.blake2b(
                context + name.encode("utf-8", "surrogatepass"), digest_size=16, person=b"hyperhop"
            ).digest()
            for name in self.names
        )
        return np.frombuffer(digests, "<u4").astype(np.uint32).reshape(-1, 4)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return (
            f"Codebook({len(self)} symbols, blocks={self.blocks}, block_size={self.block_size}, "
            f"family={self.family!r}, seed={self.seed})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # The arguments are the codebook: smaller than the planes, and the bits come out the same.
        return Codebook, (self.names, self.blocks, self.block_size, self.family, self.seed)

    def id(self, name: str) -> int:
        """Row of a symbol. Raises LookupError for a name the codebook does not hold."""
        try:
            return self._ids[name]
        except KeyError:
            raise LookupError(f"Codebook: no symbol {name!r} among {len(self)} names") from None

    @property
    def array(self) -> npt.NDArray[np.complex64]:
        """complex64 (R, D, m, m), a copy built when asked."""
        moved = np.ascontiguousarray(np.moveaxis(self.planes, (4, 3), (1, 4)))
        return moved.view(np.complex64)[..., 0]


def bind(x: Any, y: Any, *, out: Any = None, threads: int | None = None) -> Any:
    """Blockwise matrix product X_j Y_j, the binding of PathHD eq. 3.

    Associative and, for m > 1, not commutative. Leading axes broadcast; both arguments have the
    same layout, D and m. Returns that layout; O(D m^3) a row.

    Raises:
        TypeError: for a dtype that is neither layout. ValueError: for shapes that do not fit.
    """
    return _product(_core.bind, "bind", ("x", x), ("y", y), out, threads)


def unbind_left(key: Any, z: Any, *, out: Any = None, threads: int | None = None) -> Any:
    """key_j^H Z_j: from Z = key Y back to Y, exactly so for unitary keys. Shapes as in `bind`."""
    return _product(_core.unbind_left, "unbind_left", ("key", key), ("z", z), out, threads)


def unbind_right(z: Any, key: Any, *, out: Any = None, threads: int | None = None) -> Any:
    """Z_j key_j^H: from Z = X key back to X, exactly so for unitary keys. Shapes as in `bind`."""
    return _product(_core.unbind_right, "unbind_right", ("z", z), ("key", key), out, threads)


def _product(
    kernel: Any,
    function: str,
    first: tuple[str, Any],
    second: tuple[str, Any],
    out: Any,
    threads: int | None,
) -> Any:
    arrays = [to_numpy(value, function, name) for name, value in (first, second)]
    result = kernel(*arrays, output(out, function), threads_argument(threads, function))
    return restorer(first[1], second[1])(result) if out is None else out


def bundle(
    xs: Any, weights: npt.ArrayLike | None = None, *, out: Any = None, threads: int | None = None
) -> Any:
    """Weighted sum over the first axis: (K, ..., blocks) to (..., blocks), not normalised.

    Args:
        xs: K hypervectors (or arrays of them), either layout.
        weights: (K,) numbers, default all 1.

    Elementwise, terms added in the order given, in float32. K = 0 gives zero. O(K D m^2).
    """
    array = to_numpy(xs, "bundle", "xs")
    count = array.shape[0] if array.ndim else 0
    factors = (
        np.ones(count, np.float32)
        if weights is None
        else to_numpy(weights, "bundle", "weights").astype(np.float32)
    )
    result = _core.bundle(
        array, factors, output(out, "bundle"), threads_argument(threads, "bundle")
    )
    return restorer(xs)(result) if out is None else out


def normalize(x: Any, *, out: Any = None, threads: int | None = None) -> Any:
    """Each block scaled to Frobenius norm sqrt(m), that of a unitary block; zero blocks stay zero.

    A block with a NaN or an infinity becomes NaN. Norms in float64. O(D m^2) a row.
    """
    result = _core.normalize(
        to_numpy(x, "normalize", "x"),
        output(out, "normalize"),
        threads_argument(threads, "normalize"),
    )
    return restorer(x)(result) if out is None else out


def unitarize(x: Any, *, out: Any = None, threads: int | None = None) -> Any:
    """Each block replaced by its polar factor, the unitary matrix nearest to it.

    A rank-deficient block gives the partial isometry that is zero where the block is, so a zero
    block stays zero; a block with a NaN or an infinity becomes NaN. Computed in float64 by
    one-sided Jacobi, O(D m^3) a row times a few sweeps.
    """
    result = _core.unitarize(
        to_numpy(x, "unitarize", "x"),
        output(out, "unitarize"),
        threads_argument(threads, "unitarize"),
    )
    return restorer(x)(result) if out is None else out


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
    result = _core.encode_paths(
        cb.planes,
        given.symbols,
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

    Returns:
        float32 (N,), or (Q, N) for Q queries. A score depends on the query and its own sequence
        alone.

    O(D m^3) per distinct prefix, O(D m^2) per distinct path; memory beyond the arrays below 64 MiB
    for ordinary codebooks.
    """
    given = as_paths(paths, "score_paths")
    result = _core.score_paths(
        cb.planes,
        to_numpy(query, "score_paths", "query"),
        given.symbols,
        given.offsets,
        output(out, "score_paths"),
        threads_argument(threads, "score_paths"),
    )
    return restorer(query)(result) if out is None else out


def top_paths(
    cb: Codebook,
    query: Any,
    paths: Paths | npt.ArrayLike,
    k: int,
    *,
    threads: int | None = None,
) -> tuple[Any, Any]:
    """The k paths most similar to the query: (indices int64, scores float32), each (k,) or (Q, k).

    The order of `hyperhop.topk`: score descending, then lower index; k > N gives N. Paths with the
    same sequence score exactly alike, so ties are the normal case. Arguments as in `score_paths`.
    """
    given = as_paths(paths, "top_paths")
    indices, scores = _core.top_paths(
        cb.planes,
        to_numpy(query, "top_paths", "query"),
        given.symbols,
        given.offsets,
        int(k),
        threads_argument(threads, "top_paths"),
    )
    restore = restorer(query)
    return restore(indices), restore(scores)
