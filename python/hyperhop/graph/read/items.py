"""Triples of an iterable."""

import itertools
from collections.abc import Iterable, Mapping, Set

from hyperhop.graph.read.report import Intake

Triples = Iterable[Iterable[str]]
_BATCH_ROWS = 4096


def read_items(items: Triples, skip_bad: bool) -> Intake:
    """Triples of str, in any iterable."""
    if not isinstance(items, Iterable):
        raise TypeError(
            f"from_triples: expected a path or an iterable of triples, got {type(items).__name__}"
        )
    intake = Intake("", "triples", "item", "3 non-empty str", skip_bad=skip_bad)
    remaining = iter(items)
    number = 1
    while batch := list(itertools.islice(remaining, _BATCH_ROWS)):
        for kind in {*map(type, batch)}:
            if issubclass(kind, Mapping | Set):  # its keys or its order would make the fact
                at = number + [*map(type, batch)].index(kind)
                raise TypeError(
                    f"from_triples: item {at} must be a tuple of three str, got {kind.__name__}"
                )
        numbers = list(range(number, number + len(batch)))
        intake.check(intake.builder.add_rows(batch, numbers))
        number += len(batch)
    return intake
