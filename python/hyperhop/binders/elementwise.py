"""Operators that multiply number by number: signs, Gaussian numbers, a mix, phasors."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np

from hyperhop.binders.draws import by_name, cosine
from hyperhop.binders.protocol import Array, Binder


class Elementwise(Binder):
    """s_i = x_i y_i. The numbers have modulus 1 unless said otherwise, so x_i = s_i conj(y_i)."""

    commutative = True
    exact = True
    real_per_number = 1.0
    dtype: np.dtype[Any] = np.dtype(np.float32)

    def __init__(self, d: int) -> None:
        self.d, self.shape, self.real_dof = d, (d,), int(d * self.real_per_number)

    def random(self, names: Iterable[str], seed: int = 0) -> Array:
        """(R, d), one hypervector a name."""
        return by_name(self.name, names, seed, self.shape, self.dtype, self._draw)

    @abstractmethod
    def _draw(self, rng: np.random.Generator) -> Array: ...

    def identity(self) -> Array:
        """All ones."""
        return np.ones(self.shape, self.dtype)

    def bind(self, x: Array, y: Array) -> Array:
        """x_i y_i."""
        product: Array = x * y
        return product

    def unbind(self, z: Array, key: Array) -> Array:
        """z_i conj(key_i)."""
        product: Array = z * np.conj(key)
        return product

    def similarity(self, x: Array, y: Array) -> Array:
        """Cosine, the real part of it for complex numbers."""
        return cosine(x, y)


class Bipolar(Elementwise):
    """Appendix K (1): signs, float32. XOR of bits under 0 -> 1, 1 -> -1. r r is the identity."""

    name = "bipolar"

    def _draw(self, rng: np.random.Generator) -> Array:
        return _signs(rng, self.d)


class Real(Elementwise):
    """Appendix K (2): N(0, 1) numbers, float32, unbound by division.

    Division gives a clean product back to rounding, but divides what else is in a bundle by numbers
    near 0, so unbinding a bundle gives noise. Factors that two codes share are squared in their
    cosine: each multiplies the noise variance by 3.
    """

    name = "real"

    def _draw(self, rng: np.random.Generator) -> Array:
        return rng.standard_normal(self.d)

    def unbind(self, z: Array, key: Array) -> Array:
        """z_i / key_i, without the paper's epsilon, which does not help where key_i is negative."""
        quotient: Array = z / key
        return quotient


class Mix(Elementwise):
    """The "commutative mix" of PathHD table 3, defined nowhere in the paper; this is ours.

    Binary and bipolar codes are one group (appendix K (1)), so a mix of just these would be
    `bipolar` again. Here the first ceil(d / 2) numbers are signs and the others quarter turns
    (1, i, -1, -i: two bits added modulo 4), complex64, elementwise product. Commutative and exact
    like `bipolar`, but a relation walked twice does not vanish: sim(r r s, s) = 1/2, not 1.
    """

    name = "mix"
    real_per_number = 1.5
    dtype = np.dtype(np.complex64)

    def _draw(self, rng: np.random.Generator) -> Array:
        turns = np.array([1, 1j, -1, -1j], np.complex64)[rng.integers(0, 4, self.d // 2)]
        return np.concatenate([_signs(rng, self.d - self.d // 2), turns])


class FHRR(Elementwise):
    """Appendix K (4): phasors exp(i phi), phi uniform, complex64. Is `ghrr` with m = 1."""

    name = "fhrr"
    real_per_number = 2.0
    dtype = np.dtype(np.complex64)

    def _draw(self, rng: np.random.Generator) -> Array:
        phasors: Array = np.exp(2j * np.pi * rng.random(self.d))
        return phasors


def _signs(rng: np.random.Generator, count: int) -> Array:
    return (1 - 2 * rng.integers(0, 2, count)).astype(np.float32)
