"""Unitary blocks from text embeddings: relations of alike meaning get alike hypervectors.

Block j of a symbol with unit embedding e is U_j(e) = f(i H_j(e)), where the Hermitian
H_j(e) = sum_k e_k G_jk is linear in e: the G_jk are fixed random Hermitian matrices, independent
and Gaussian (the GUE), drawn from the seed. For unit e the eigenvalues of H_j(e) have the root mean
square 2 `scale`. f is the exponential, or Cayley's transform (I + iH)(I - iH)^-1.

The scale decides how unrelated symbols score. For orthogonal embeddings H_j(e) and H_j(e') are
independent and their law is that of V H V^H for every unitary V, so that E[U] = phi I and the
expected similarity is |phi|^2 with phi = E tr(U) / m. By Wigner's semicircle law phi is 0 for
Cayley's transform at scale 1 / sqrt 2 and, for the exponential, J_1(4) / 2 = -0.03 at scale 1: the
defaults. At m = 4 they leave a similarity of 0.003 and 0.000 between unrelated symbols and
sim(ab, ba) of 0.09 and 0.05 (1 / m^2 = 0.06 for Haar blocks); Cayley at scale 2 leaves 0.32 and
0.58. m = 1 commutes, as always.
"""

from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from hyperhop import _core
from hyperhop._arrays import threads_argument, to_numpy

Map = Literal["exp", "cayley"]

DEFAULT_SCALES = {"exp": 1.0, "cayley": 0.5**0.5}

# H is rounded to float32, which leaves little of the phase of an eigenvalue of many thousands.
MAX_SCALE = 1000.0

_FUNCTION = "Codebook.from_embeddings"
_BLOCKS_AT_ONCE = 16
_BYTES_AT_ONCE = 8 << 20


class SemanticMap:
    """The function from embeddings to unitary hypervectors behind `Codebook.from_embeddings`.

    For embeddings that come one at a time, as questions do: the random matrices are drawn once.
    `dim` is the length of an embedding, the other arguments and errors are those of
    `Codebook.from_embeddings`. Memory: 4 dim D m^2 bytes.
    """

    def __init__(
        self,
        dim: int,
        blocks: int = 256,
        block_size: int = 4,
        map: str = "exp",
        scale: float | None = None,
        seed: int = 0,
    ) -> None:
        if map not in get_args(Map):
            raise ValueError(f"{_FUNCTION}: map must be 'exp' or 'cayley', got {map!r}")
        scale = DEFAULT_SCALES[map] if scale is None else float(scale)
        if not 0 < scale <= MAX_SCALE:
            raise ValueError(
                f"{_FUNCTION}: scale must be above 0, at most {MAX_SCALE:g}, got {scale}"
            )
        if not 1 <= block_size <= 16:
            raise ValueError(f"{_FUNCTION}: block_size must be 1 to 16, got {block_size}")
        if blocks < 1:
            raise ValueError(f"{_FUNCTION}: blocks must be 1 or more, got {blocks}")
        self.dim, self.blocks, self.block_size, self.map = dim, blocks, block_size, map
        # Re and Im of an entry have half the variance of a diagonal one.
        sizes = np.full((block_size, block_size), 2 * scale / np.sqrt(2 * block_size))
        np.fill_diagonal(sizes, 2 * scale / np.sqrt(block_size))
        normal = gaussian_map("semantic", dim, blocks, block_size, seed)
        linear = normal * sizes.astype(np.float32)[..., None]
        self._linear = linear.reshape(dim, -1)

    def planes(
        self, units: npt.NDArray[np.float32], threads: int | None = None
    ) -> npt.NDArray[np.float32]:
        """Planes float32 (n, m, m, 2, D) of n rows of unit length, float32 (n, dim)."""
        m, workers = self.block_size, threads_argument(threads, _FUNCTION)
        planes = np.empty((len(units), m, m, 2, self.blocks), np.float32)
        rows = max(1, _BYTES_AT_ONCE // (4 * self._linear.shape[1]))
        for start in range(0, len(units), rows):
            part = slice(start, start + rows)
            hermitian = (units[part] @ self._linear).reshape(-1, m, m, self.blocks)
            _core.unitary_map(hermitian, self.map, planes[part], workers)
        return planes


def unitary_planes(
    names: tuple[str, ...],
    embeddings: Any,
    blocks: int,
    block_size: int,
    map: str,
    scale: float | None,
    seed: int,
    threads: int | None,
) -> npt.NDArray[np.float32]:
    """Planes float32 (R, m, m, 2, D) of the symbols whose embeddings (R, dim) are given.

    See `Codebook.from_embeddings`, which documents arguments, errors and complexity.
    """
    units = _unit_rows(names, embeddings)
    return SemanticMap(units.shape[1], blocks, block_size, map, scale, seed).planes(units, threads)


def _unit_rows(names: tuple[str, ...], embeddings: Any) -> npt.NDArray[np.float32]:
    array = to_numpy(embeddings, _FUNCTION, "embeddings")
    if array.dtype not in (np.float16, np.float32, np.float64):
        raise TypeError(f"{_FUNCTION}: embeddings must be floats, got dtype {array.dtype}")
    if array.ndim != 2 or len(array) != len(names) or array.shape[1] == 0:
        raise ValueError(
            f"{_FUNCTION}: embeddings must have shape ({len(names)}, dim), one row a name, "
            f"got {array.shape}"
        )
    norms = np.linalg.norm(array.astype(np.float64), axis=1, keepdims=True)
    for row in np.flatnonzero(~((norms > 0) & (norms < np.inf))):
        raise ValueError(
            f"{_FUNCTION}: embeddings must be finite and not zero, "
            f"got norm {norms[row, 0]} in row {row} ({names[row]!r})"
        )
    units: npt.NDArray[np.float32] = (array / norms).astype(np.float32)
    return units


def gaussian_map(
    purpose: str, dim: int, blocks: int, block_size: int, seed: int
) -> npt.NDArray[np.float32]:
    """N(0, 1) in float32 (dim, m, m, D), drawn block by block: the first D do not depend on D.

    Maps of different `purpose` are independent.
    """
    import hashlib

    key = hashlib.blake2b(
        f"{seed}\0{purpose}\0{block_size}\0{dim}".encode(), digest_size=16, person=b"hyperhop"
    ).digest()
    # The one generator of NumPy whose stream never changes.
    generator = np.random.RandomState(np.frombuffer(key, "<u4"))
    linear = np.empty((dim, block_size, block_size, blocks), np.float32)
    for start in range(0, blocks, _BLOCKS_AT_ONCE):
        part = linear[..., start : start + _BLOCKS_AT_ONCE]
        part[:] = np.moveaxis(generator.standard_normal((part.shape[-1], *part.shape[:-1])), 0, -1)
    return linear
