"""Hypervectors straight from text embeddings by a random projection (PathHD eq. 2)."""

import numpy as np
import numpy.typing as npt

from hyperhop.ghrr.algebra import normalize
from hyperhop.ghrr.semantic import gaussian_map


class TextProjection:
    """x -> P x with every block scaled to norm sqrt m; P is real, N(0, 1 / dim), fixed by the seed.

    Blocks are real and not unitary. Two embeddings are as similar as their cosine says, within
    about 1 / m^2 (eq. 4 divides by the norm of each block). A product of two projections has
    nothing in common with one: what is bound with others is no longer like a sum of the texts.

    `dim` is the length of an embedding, `blocks` and `block_size` are D and m; the first D blocks
    do not depend on `blocks`. ValueError for a size below 1. Memory: 4 dim D m^2 bytes.
    """

    def __init__(self, dim: int, blocks: int = 256, block_size: int = 4, seed: int = 0) -> None:
        for name, value in (("dim", dim), ("blocks", blocks), ("block_size", block_size)):
            if value < 1:
                raise ValueError(f"TextProjection: {name} must be 1 or more, got {value}")
        self.dim, self.blocks, self.block_size = dim, blocks, block_size
        normal = gaussian_map("projection", dim, blocks, block_size, seed)
        self._linear = normal.reshape(dim, -1) / np.float32(np.sqrt(dim))

    def planes(
        self, embeddings: npt.NDArray[np.float32], threads: int | None = None
    ) -> npt.NDArray[np.float32]:
        """Planes float32 (n, m, m, 2, D) of n embeddings, float32 (n, dim); zero stays zero.

        ValueError for another shape. O(n dim D m^2).
        """
        if embeddings.ndim != 2 or embeddings.shape[1] != self.dim:
            raise ValueError(
                f"TextProjection: embeddings must have shape (n, {self.dim}), "
                f"got {embeddings.shape}"
            )
        m = self.block_size
        planes = np.zeros((len(embeddings), m, m, 2, self.blocks), np.float32)
        planes[:, :, :, 0] = (embeddings @ self._linear).reshape(-1, m, m, self.blocks)
        scaled: npt.NDArray[np.float32] = normalize(planes, threads=threads)
        return scaled
