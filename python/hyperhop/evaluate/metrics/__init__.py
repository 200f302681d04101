"""Metrics under distinct names; which number is which is decided here and nowhere else.

`ranked` and `sets` compare names exactly: nothing is normalised. `words` compares text after
normalising it. `intervals` says how far a mean may be off.
"""

from hyperhop.evaluate.metrics.intervals import (
    Difference,
    bootstrap_interval,
    bootstrap_intervals,
    paired_difference,
)
from hyperhop.evaluate.metrics.ranked import hits_at, path_hit_at, recall_at
from hyperhop.evaluate.metrics.sets import f1, set_exact
from hyperhop.evaluate.metrics.words import (
    alias_hit,
    contains_answer,
    exact_match,
    normalize,
    token_f1,
)

__all__ = [
    "Difference",
    "alias_hit",
    "bootstrap_interval",
    "bootstrap_intervals",
    "contains_answer",
    "exact_match",
    "f1",
    "hits_at",
    "normalize",
    "paired_difference",
    "path_hit_at",
    "recall_at",
    "set_exact",
    "token_f1",
]
