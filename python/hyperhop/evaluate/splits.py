"""The three splits every reported number names; a pure function of the data and the seed."""

import random
from collections.abc import Hashable, Sequence
from typing import NamedTuple, TypeVar

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


class Split(NamedTuple):
    """Indices of questions, ascending in each part."""

    train: list[int]
    dev: list[int]
    test: list[int]


def _cut(items: list[Item]) -> tuple[list[Item], list[Item], list[Item]]:
    """First 80 %, next 10 %, last 10 %."""
    a, b = int(0.8 * len(items)), int(0.9 * len(items))
    return items[:a], items[a:b], items[b:]


def random_split(count: int, seed: int = 0) -> Split:
    """Shuffle the questions: the published protocol; paraphrases fall on both sides."""
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return Split(*(sorted(part) for part in _cut(order)))


def _shuffled_keys(keys: Sequence[Key], seed: int) -> list[Key]:
    distinct = sorted(set(keys))  # type: ignore[type-var]  # Hashable does not promise an order
    random.Random(seed).shuffle(distinct)
    return distinct


def _assign(keys: Sequence[Key], parts: Sequence[Sequence[Key]]) -> Split:
    part_of = {key: i for i, part in enumerate(parts) for key in part}
    split = Split([], [], [])
    for i, key in enumerate(keys):
        split[part_of[key]].append(i)
    return split


def disjoint_split(keys: Sequence[Key], seed: int = 0) -> Split:
    """Shuffle the distinct keys; `keys[i]` is question i's, which goes where its key went."""
    return _assign(keys, _cut(_shuffled_keys(keys, seed)))


def fold_split(keys: Sequence[Key], fold: int, folds: int = 10, seed: int = 0) -> Split:
    """Fold i tests every tenth key from i, tunes on those from i + 1, trains on the rest."""
    if not 0 <= fold < folds:
        raise ValueError(f"fold_split: fold must be in 0..{folds - 1}, got {fold}")
    distinct = _shuffled_keys(keys, seed)
    test, dev = distinct[fold::folds], distinct[(fold + 1) % folds :: folds]
    held_out = {*test, *dev}
    return _assign(keys, ([k for k in distinct if k not in held_out], dev, test))
