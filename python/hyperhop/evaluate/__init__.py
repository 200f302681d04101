"""Published benchmarks, exact metrics and the runs that produce reported numbers."""

from hyperhop.evaluate import benchmarks, metaqa, metrics, pathquestion, splits
from hyperhop.evaluate.benchmarks import Benchmark, Question
from hyperhop.evaluate.harness import Scores, evaluate
from hyperhop.evaluate.planning import examples, make_planner

__all__ = [
    "Benchmark",
    "Question",
    "Scores",
    "benchmarks",
    "evaluate",
    "examples",
    "make_planner",
    "metaqa",
    "metrics",
    "pathquestion",
    "splits",
]
