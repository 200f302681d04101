"""How far a mean, or the difference of two, may be off: bootstrap over independent units."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np


class Difference(NamedTuple):
    """Mean of the first system's values less that of the second's, and its interval."""

    mean: float
    low: float
    high: float


def bootstrap_interval(
    values: Sequence[float],
    units: Sequence[Hashable],
    level: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> tuple[float, float]:
    """Percentile interval of the mean of `values`, resampling whole units.

    Values with the same unit (paraphrases of one fact) are drawn together: they are no independent
    evidence. (nan, nan) without values. O(resamples * units).
    """
    if len(values) != len(units):
        raise ValueError(f"bootstrap_interval: {len(values)} values, but {len(units)} units")
    if not values:
        return float("nan"), float("nan")
    numbers = {unit: i for i, unit in enumerate(dict.fromkeys(units))}
    rows = [numbers[unit] for unit in units]
    sums, counts = np.bincount(rows, values), np.bincount(rows)
    drawn = np.random.default_rng(seed).multinomial(
        len(counts), np.full(len(counts), 1 / len(counts)), size=resamples
    )
    means = (drawn @ sums) / (drawn @ counts)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
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
