"""Metrics of a set of answers against the set of gold answers. Names are compared exactly."""

from collections.abc import Collection, Set


def set_exact(predicted: Collection[str], gold: Set[str]) -> bool:
    """Are the predicted entities the gold answers, no more and no fewer?"""
    return set(predicted) == set(gold)


def f1(predicted: Collection[str], gold: Set[str]) -> float:
    """Harmonic mean of precision and recall of the predicted set; 1 where both sets are empty."""
    found = set(predicted)
    if not found and not gold:
        return 1.0
    return 2 * len(found & set(gold)) / (len(found) + len(gold))
