"""Published benchmarks, metrics under distinct names, and the runs behind reported numbers."""

from hyperhop.evaluate import (
    baselines,
    benchmarks,
    comparison,
    cwq,
    freebase,
    grailqa,
    metaqa,
    metrics,
    nsm,
    passages,
    pathquestion,
    plots,
    rog,
    splits,
    studies,
    tables,
    tune,
    webqsp,
    webqsp_official,
)
from hyperhop.evaluate.asking import ask, ask_one, judge
from hyperhop.evaluate.benchmarks import Benchmark, Question
from hyperhop.evaluate.coverage import Coverage
from hyperhop.evaluate.harness import evaluate
from hyperhop.evaluate.path_ranking import PathScores, rank_paths
from hyperhop.evaluate.planning import examples, make_planner
from hyperhop.evaluate.records import Record, compare, read_records, write_records
from hyperhop.evaluate.scores import Scores, summarize

__all__ = [
    "Benchmark",
    "Coverage",
    "PathScores",
    "Question",
    "Record",
    "Scores",
    "ask",
    "ask_one",
    "baselines",
    "benchmarks",
    "compare",
    "comparison",
    "cwq",
    "evaluate",
    "examples",
    "freebase",
    "grailqa",
    "judge",
    "make_planner",
    "metaqa",
    "metrics",
    "nsm",
    "passages",
    "pathquestion",
    "plots",
    "rank_paths",
    "read_records",
    "rog",
    "splits",
    "studies",
    "summarize",
    "tables",
    "tune",
    "webqsp",
    "webqsp_official",
    "write_records",
]
