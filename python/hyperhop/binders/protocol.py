"""What every operator offers."""

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Binder(Protocol):
    """One operator at one size. A hypervector is an array whose last axes are `shape`.

    `bind`, `unbind` and `similarity` broadcast over leading axes. Bundling is `+` for all.

    Attributes:
        name: as in `binders.NAMES`.
        d: numbers in a hypervector, real or complex as the operator has it.
        shape: trailing axes of an array of hypervectors.
        dtype: what `random` gives.
        real_per_number: 2 where numbers are complex, 1.5 where half of them are.
        real_dof: real numbers in a hypervector, d times that. Two unrelated codes
            have similarity 0 with standard deviation 1 / sqrt(real_dof), a little more for `mix`,
            so equal `real_dof` means equal noise. Phasors and unitary blocks have constant norms,
            which leaves d of them free.
        commutative: whether bind(x, y) = bind(y, x).
        exact: whether unbinding a bound pair gives back the other exactly (to rounding).
    """

    name: str
    d: int
    real_per_number: float
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    real_dof: int
    commutative: bool
    exact: bool

    def random(self, names: Iterable[str], seed: int = 0) -> Array:
        """(R, *shape): one hypervector a name, a function of (seed, name) and the operator only."""
        ...

    def identity(self) -> Array:
        """(*shape): e with bind(e, x) = x, the code of the empty path."""
        ...

    def bind(self, x: Array, y: Array) -> Array:
        """x then y."""
        ...

    def unbind(self, z: Array, key: Array) -> Array:
        """x from z = bind(x, key)."""
        ...

    def similarity(self, x: Array, y: Array) -> Array:
        """Cosine in [-1, 1], float32; a zero hypervector counts 0, a NaN surfaces."""
        ...
