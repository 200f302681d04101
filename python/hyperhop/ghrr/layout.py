"""The two layouts of hypervectors, and whether blocks are unitary."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._arrays import to_numpy

Planes = npt.NDArray[np.floating[Any]]

# Beyond this a block's norm differs enough from sqrt m to be worth computing.
UNITARY_WITHIN = 1e-4


def as_planes(blocks: Any, function: str, name: str) -> Planes:
    """Planes (..., m, m, 2, D) of hypervectors in either layout.

    Raises TypeError for another dtype, ValueError for another shape.
    """
    array = to_numpy(blocks, function, name)
    if array.dtype == np.complex64:
        if array.ndim < 3 or array.shape[-1] != array.shape[-2]:
            raise ValueError(
                f"{function}: {name}: complex64 must have shape (..., D, m, m), got {array.shape}"
            )
        parts = array[..., None].view(np.float32).reshape(*array.shape, 2)
        return np.moveaxis(parts, -4, -1)
    if array.dtype not in (np.float32, np.float16):
        raise TypeError(
            f"{function}: {name} must be complex64 (..., D, m, m) or planes float32 or float16 "
            f"(..., m, m, 2, D), got dtype {array.dtype}"
        )
    if array.ndim < 4 or array.shape[-4] != array.shape[-3] or array.shape[-2] != 2:
        raise ValueError(
            f"{function}: {name}: planes must have shape (..., m, m, 2, D), got {array.shape}"
        )
    return array


def all_unitary(planes: Planes) -> bool:
    """Whether R R^H is the identity within `UNITARY_WITHIN` for every block; O(R D m^3)."""
    for row in planes:  # one hypervector at a time: the copy stays small
        wide = row.astype(np.float64)
        blocks = np.moveaxis(wide[:, :, 0] + 1j * wide[:, :, 1], -1, 0)
        gram = blocks @ blocks.conj().swapaxes(-1, -2)
        deviation = np.abs(gram - np.eye(len(row))).max()
        if not deviation < UNITARY_WITHIN:  # NaN is not
            return False
    return True
