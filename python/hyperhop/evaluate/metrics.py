"""Exact-match metrics; every one compares names, nothing is normalised."""

from collections.abc import Hashable, Sequence, Set

import numpy as np


def hits_at(k: int, predicted: Sequence[str], gold: Set[str]) -> bool:
    """Is one of the first k predicted entities a gold answer? No prediction is a miss."""
    return any(entity in gold for entity in predicted[:k])


def set_exact(predicted: Sequence[str], gold: Set[str]) -> bool:
    """Are the predicted entities the gold answers, no more and no fewer?"""
    return set(predicted) == set(gold)


def f1(predicted: Sequence[str], gold: Set[str]) -> float:
    """Harmonic mean of precision and recall of the predicted set; 1 where both sets are empty."""
    found = set(predicted)
    if not found and not gold:
        return 1.0
    return 2 * len(found & set(gold)) / (len(found) + len(gold))


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
