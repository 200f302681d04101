"""Holographic reduced representations: circular convolution (PathHD appendix K (3))."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from hyperhop.binders.draws import by_name, cosine
from hyperhop.binders.protocol import Array, Binder


class HRR(Binder):
    """s_k = sum_i x_i y_(k - i mod d), by FFT; N(0, 1 / d) numbers, float32.

    Unbinding is circular correlation, which keeps noise small and is approximate: the spectrum of
    x comes back multiplied by |Y|^2, so similarity to x is about 1 / sqrt(2), and about 1 only
    where all |Y| are. Factors that two codes share double the noise variance each.
    """

    name = "hrr"
    commutative = True
    exact = False
    real_per_number = 1.0
    dtype: np.dtype[Any] = np.dtype(np.float32)

    def __init__(self, d: int) -> None:
        self.d, self.shape, self.real_dof = d, (d,), d

    def random(self, names: Iterable[str], seed: int = 0) -> Array:
        """(R, d), one hypervector a name."""
        scale = self.d**-0.5
        return by_name(
            *(self.name, names, seed, self.shape, self.dtype),
            lambda rng: rng.standard_normal(self.d) * scale,
        )

    def identity(self) -> Array:
        """1, 0, 0, ..."""
        one = np.zeros(self.shape, self.dtype)
        one[0] = 1
        return one

    def bind(self, x: Array, y: Array) -> Array:
        """Circular convolution, O(d log d)."""
        return self._inverse(np.fft.rfft(x) * np.fft.rfft(y))

    def unbind(self, z: Array, key: Array) -> Array:
        """Circular correlation x_i = sum_k z_k key_(k - i mod d): approximate."""
        return self._inverse(np.fft.rfft(z) * np.fft.rfft(key).conj())

    def similarity(self, x: Array, y: Array) -> Array:
        """Cosine."""
        return cosine(x, y)

    def _inverse(self, spectrum: Array) -> Array:
        return np.fft.irfft(spectrum, self.d).astype(self.dtype)
