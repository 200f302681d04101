"""GHRR on the interface of the other operators; the work is `hyperhop.ghrr`'s."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from hyperhop import ghrr
from hyperhop.binders.protocol import Array, Binder
from hyperhop.ghrr import Family


class GHRR(Binder):
    """Unitary m x m blocks, blockwise matrix product (PathHD eq. 3, appendix K (5)).

    float32 planes (m, m, 2, D). `unbind` is z key^H; `ghrr.unbind_left` takes off the first factor.
    Commutative for m = 1 and for the family "diagonal", else sim(xy, yx) is about 1 / m^2.
    """

    name = "ghrr"
    exact = True
    real_per_number = 2.0
    dtype: np.dtype[Any] = np.dtype(np.float32)

    def __init__(self, d: int, block_size: int = 4, family: Family = "haar") -> None:
        self.block_size, self.family = block_size, family
        self.blocks = d // block_size**2
        self.d, self.real_dof = d, 2 * d
        self.shape = (block_size, block_size, 2, self.blocks)
        self.commutative = block_size == 1 or family == "diagonal"

    def random(self, names: Iterable[str], seed: int = 0) -> Array:
        """The planes of `ghrr.Codebook`."""
        return ghrr.Codebook(names, self.blocks, self.block_size, self.family, seed).planes

    def identity(self) -> Array:
        """Blocks of the identity matrix."""
        one = np.zeros(self.shape, self.dtype)
        one[range(self.block_size), range(self.block_size), 0] = 1
        return one

    def bind(self, x: Array, y: Array) -> Array:
        """`ghrr.bind`."""
        product: Array = ghrr.bind(x, y)
        return product

    def unbind(self, z: Array, key: Array) -> Array:
        """`ghrr.unbind_right`."""
        product: Array = ghrr.unbind_right(z, key)
        return product

    def similarity(self, x: Array, y: Array) -> Array:
        """`ghrr.similarity`, the mean over blocks of their cosines (eq. 4)."""
        cosines: Array = ghrr.similarity(x, y)
        return cosines
