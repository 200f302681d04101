"""Triples of an iterable."""

import itertools
from collections.abc import Iterable

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
        numbers = list(range(number, number + len(batch)))
        intake.check(intake.builder.add_rows(batch, numbers))
        number += len(batch)
    return intake
