"""Integer arguments of the graph's methods, checked with one wording."""

import operator
from typing import Any

import numpy as np

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
