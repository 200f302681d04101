"""Metrics of a ranking: is what was asked for among the first k? Names are compared exactly."""

from collections.abc import Sequence, Set


def hits_at(k: int, predicted: Sequence[str], gold: Set[str]) -> bool:
    """Is one of the first k predictions gold? No prediction is a miss.

    Of entities this is Hits@k, of the ids of passages hit@k (any gold passage). O(k).
    """
    return any(name in gold for name in predicted[:k])


def recall_at(k: int, predicted: Sequence[str], gold: Set[str]) -> float:
    """Share of the gold names that are among the first k predictions.

    Recall@k of passages. ValueError without gold names: there is no share of nothing. O(k).
    """
    if not gold:
        raise ValueError("recall_at: needs at least one gold name, got none")
    return len(gold & set(predicted[:k])) / len(gold)


def path_hit_at(k: int, predicted: Sequence[Sequence[str]], gold: Set[tuple[str, ...]]) -> bool:
    """Is one of the first k relation paths a gold path, symbol by symbol? O(k)."""
    return any(tuple(path) in gold for path in predicted[:k])
