"""Binding, unbinding, bundling and the two ways to bring blocks back to size."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop import _core
from hyperhop._arrays import output, restorer, threads_argument, to_numpy


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
    (x_name, x), (y_name, y) = first, second
    result = kernel(
        to_numpy(x, function, x_name),
        to_numpy(y, function, y_name),
        output(out, function),
        threads_argument(threads, function),
    )
    return restorer(x, y)(result) if out is None else out


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
