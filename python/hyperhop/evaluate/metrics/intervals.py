"""How far a mean, or the difference of two, may be off: bootstrap over independent units."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_AT_ONCE = 64  # resamples


class Difference(NamedTuple):
    """Mean of the first system's values less that of the second's, and its interval."""

    mean: float
    low: float
    high: float


def bootstrap_intervals(
    values: npt.ArrayLike,
    units: Sequence[Hashable],
    level: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> npt.NDArray[np.float64]:
    """Percentile intervals of the means of m columns, resampling whole units: float64 (m, 2).

    `values` is (n, m); NaN says that a column has nothing to say about a row, which its mean leaves
    out. Values with the same unit (paraphrases of one fact) are drawn together: they are no
    independent evidence. NaN for a column without values. O(resamples * units * m) time, O(units *
    m) memory.
    """
    table = np.asarray(values, np.float64)
    if len(table) != len(units):
        raise ValueError(f"bootstrap_interval: {len(table)} values, but {len(units)} units")
    numbers = {unit: i for i, unit in enumerate(dict.fromkeys(units))}
    rows = [numbers[unit] for unit in units]
    said = ~np.isnan(table)
    sums, counts = np.zeros((2, len(numbers), table.shape[1]))
    np.add.at(sums, rows, np.where(said, table, 0))
    np.add.at(counts, rows, said)
    if not numbers:
        return np.full((table.shape[1], 2), np.nan)
    generator, share = np.random.default_rng(seed), np.full(len(numbers), 1 / len(numbers))
    means = []
    for start in range(0, resamples, _AT_ONCE):
        size = min(_AT_ONCE, resamples - start)
        drawn = generator.multinomial(len(numbers), share, size=size)
        total = drawn @ counts
        means.append(np.divide(drawn @ sums, total, np.full_like(total, np.nan), where=total > 0))
    chosen = np.concatenate(means)
    empty = ~said.any(axis=0)
    chosen[:, empty] = 0  # nanquantile warns about columns of NaN
    bounds = np.nanquantile(chosen, [(1 - level) / 2, (1 + level) / 2], axis=0).T
    bounds[empty] = np.nan
    return np.asarray(bounds, np.float64)


def bootstrap_interval(
    values: Sequence[float],
    units: Sequence[Hashable],
    level: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> tuple[float, float]:
    """`bootstrap_intervals` of one column: (low, high), (nan, nan) without values."""
    column = np.asarray(values, np.float64).reshape(-1, 1)
    low, high = bootstrap_intervals(column, units, level, resamples, seed)[0]
    return float(low), float(high)


def paired_difference(
    first: Sequence[float],
    second: Sequence[float],
    units: Sequence[Hashable],
    level: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> Difference:
    """Difference of two systems on the same questions, `first[i]` and `second[i]` of question i.

    The interval is `bootstrap_interval` of the differences: what is hard for both cancels, so it is
    much narrower than the two intervals apart. An interval that holds 0 decides nothing. ValueError
    for different lengths, nan without values.
    """
    if len(first) != len(second):
        raise ValueError(f"paired_difference: {len(first)} values, but {len(second)} of the second")
    gains = [a - b for a, b in zip(first, second, strict=True)]
    mean = float(np.mean(gains)) if gains else float("nan")
    return Difference(mean, *bootstrap_interval(gains, units, level, resamples, seed))
