"""Published benchmarks, exact metrics and the runs that produce reported numbers."""

from hyperhop.evaluate import metaqa, metrics, pathquestion, splits
from hyperhop.evaluate.harness import PathQuestionResult, evaluate_pathquestion

__all__ = [
    "PathQuestionResult",
    "evaluate_pathquestion",
    "metaqa",
    "metrics",
    "pathquestion",
    "splits",
]
