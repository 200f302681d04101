"""Entities whose names mean nearly the same: pairs of rows with a high cosine."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_ROWS = 1024  # compared at once with as many columns as fit in _CELLS
_CELLS = 1 << 22
_MARGIN = 1e-3  # a product of a block may be less than the one taken row by row
_NUMBER = re.compile(r"\d+")

Pairs = tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]


def near_pairs(
    rows: npt.NDArray[Any], threshold: float, among: npt.NDArray[np.int64] | None = None
) -> Pairs:
    """Pairs of rows whose inner product is at least `threshold`.

    Products that count are taken row by row in float64, so the pairs do not depend on blocks or
    threads. Zero rows and NaN are in no pair.

    Args:
        rows: (n, d) float32 or float16, unit rows.
        threshold: above 0.
        among: only pairs with one of these rows, ascending; None for all pairs.

    Returns:
        (int64 (L, 2), the lower row first, ascending, and their products, float32 (L,)).

    O(n * rows in `among` * d); memory: blocks of 16 MiB, and the pairs.
    """
    chosen = np.arange(len(rows)) if among is None else among
    width = _CELLS // _ROWS
    found = [np.zeros((0, 2), np.int64)]
    for start in range(0, len(chosen), _ROWS):
        block = chosen[start : start + _ROWS]
        queries = rows[block].astype(np.float32, copy=False)
        for left in range(start if among is None else 0, len(rows), width):
            others = rows[left : left + width].astype(np.float32, copy=False)
            with np.errstate(invalid="ignore"):
                near = np.argwhere(queries @ others.T >= threshold - _MARGIN)
            pairs = np.stack([block[near[:, 0]], left + near[:, 1]], axis=1)
            found.append(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1))
    pairs = np.unique(np.concatenate(found), axis=0)
    products = _products(rows, pairs)
    kept = products >= threshold
    return pairs[kept], products[kept].astype(np.float32)


def of_same_numbers(names: Sequence[str], pairs: Pairs) -> Pairs:
    """The pairs whose names hold the same numbers in the same order, or none.

    Encoders think nearly the same of "1887" and "1888", of "5 km" and "50 km".
    """
    numbers = {place: _NUMBER.findall(names[place]) for place in np.unique(pairs[0]).tolist()}
    same = np.array([numbers[left] == numbers[right] for left, right in pairs[0].tolist()], bool)
    return pairs[0][same], pairs[1][same]


def no_pairs() -> Pairs:
    """Nothing found."""
    return np.zeros((0, 2), np.int64), np.zeros(0, np.float32)


def joined_pairs(first: Pairs, second: Pairs) -> Pairs:
    """The pairs of both, ascending; none is in both."""
    pairs = np.concatenate([first[0], second[0]])
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    return pairs[order], np.concatenate([first[1], second[1]])[order]


def _products(rows: npt.NDArray[Any], pairs: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    products = np.empty(len(pairs))
    for start in range(0, len(pairs), _ROWS):
        block = pairs[start : start + _ROWS]
        left, right = (rows[block[:, side]].astype(np.float64) for side in (0, 1))
        products[start : start + _ROWS] = (left * right).sum(axis=1)
    return products
