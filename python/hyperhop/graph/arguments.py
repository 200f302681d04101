"""Arguments that several of the graph's methods share, checked with one wording."""

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

_LARGEST = 2**62


def integer(function: str, argument: str, value: Any) -> int:
    """`value` as an int. Raises TypeError for bool and for what is no integer."""
    if type(value) is int:  # nearly always, and so the quickest way
        return value
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"{function}: {argument} must be an integer, got {type(value).__name__}"
        ) from None


def at_least(function: str, argument: str, value: Any, least: int) -> int:
    """`value` as an int, at most 2**62. Raises as `integer`, and ValueError below `least`."""
    number = integer(function, argument, value)
    if number < least:
        raise ValueError(f"{function}: {argument} must be at least {least}, got {number}")
    return min(number, _LARGEST)


def check_hubs(function: str, hubs: object) -> None:
    """Raises ValueError unless `hubs` is a way to treat hubs."""
    if hubs not in ("sample", "skip"):
        raise ValueError(f"{function}: hubs must be 'sample' or 'skip', got {hubs!r}")


def mask_or_ids(
    function: str, mediators: npt.ArrayLike, num_ids: int
) -> npt.NDArray[np.bool_] | npt.NDArray[np.int32]:
    """Mediators as they were given: one bool an entity id (uncopied), or ascending ids.

    Raises TypeError or ValueError where they are neither.
    """
    given = np.asarray(mediators)
    if given.ndim == 1 and given.dtype == np.bool_:
        if given.size != num_ids:
            raise ValueError(
                f"{function}: mediators must hold one bool an entity id, {num_ids}, "
                f"got {given.size}"
            )
        return np.ascontiguousarray(given)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise TypeError(
            f"{function}: mediators must be a 1-D array of entity ids or of bool, "
            f"got {given.dtype} with shape {given.shape}"
        )
    if given.size and not 0 <= given.min() <= given.max() < num_ids:
        raise ValueError(
            f"{function}: mediators must be ids from 0 to {num_ids - 1}, "
            f"got {given.min()} to {given.max()}"
        )
    return np.unique(given).astype(np.int32)
