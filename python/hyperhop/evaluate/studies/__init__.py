"""The studies of the papers, on questions that anyone can ask again.

    context = studies.Context("PQ-3H", "data/pathquestion", planner="gold")
    study = studies.run("operators", context)
    print(tables.markdown(study.table))

Those of PathHD plan every question once and rank the same candidates under all of their settings.
Those of RSF (`TRAINED`) train a model for each setting, and take a `TrainedContext`; those of HELP
(`ON_PASSAGES`) take a `PassageContext`.
"""

from collections.abc import Callable
from typing import TypeVar

from hyperhop.evaluate.passages.context import PassageContext
from hyperhop.evaluate.passages.studies import STUDIES as _ON_PASSAGES
from hyperhop.evaluate.studies import (
    backbone,
    dimension,
    final_step,
    gate,
    lambda1,
    operators,
    prompt,
    query_encoding,
    radius,
    similarity,
    switches,
    topk,
)
from hyperhop.evaluate.studies.context import Context
from hyperhop.evaluate.studies.study import Study
from hyperhop.evaluate.trained.context import TrainedContext

Run = TypeVar("Run")

_STUDIES: dict[str, Callable[[Context], Study]] = {
    "operators": operators.run,
    "topk": topk.run,
    "dimension": dimension.run,
    "similarity": similarity.run,
    "query-encoding": query_encoding.run,
}
_WITH_MODEL: dict[str, Callable[[Context], Study]] = {
    "final-step": final_step.run,
    "prompt": prompt.run,
    "backbone": backbone.run,
}
_TRAINED: dict[str, Callable[[TrainedContext], Study]] = {
    "switches": switches.run,
    "lambda1": lambda1.run,
    "radius": radius.run,
    "gate": gate.run,
}
WITH_MODEL = tuple(_WITH_MODEL)  # these ask a language model
TRAINED = tuple(_TRAINED)  # these train RSF
ON_PASSAGES = tuple(_ON_PASSAGES)  # these are of HELP
NAMES = (*_STUDIES, *_WITH_MODEL, *_TRAINED, *_ON_PASSAGES)

__all__ = [
    "NAMES",
    "ON_PASSAGES",
    "TRAINED",
    "WITH_MODEL",
    "Context",
    "PassageContext",
    "Study",
    "TrainedContext",
    "check_name",
    "run",
    "run_on_passages",
    "run_trained",
]


def check_name(name: str) -> None:
    """ValueError for what is no study; before questions are loaded and planned."""
    if name not in NAMES:
        raise ValueError(f"study: expected one of {', '.join(NAMES)}, got {name!r}")


def run(name: str, context: Context) -> Study:
    """The study of this name, one of PathHD's. ValueError for another."""
    return _of(name, _STUDIES | _WITH_MODEL)(context)


def run_trained(name: str, context: TrainedContext) -> Study:
    """The study of this name, one of `TRAINED`. ValueError for another."""
    return _of(name, _TRAINED)(context)


def run_on_passages(name: str, context: PassageContext) -> Study:
    """The study of this name, one of `ON_PASSAGES`. ValueError for another."""
    return _of(name, _ON_PASSAGES)(context)


def _of(name: str, studies: dict[str, Run]) -> Run:
    check_name(name)
    if name not in studies:
        raise ValueError(f"study: {name} needs another context, that of {', '.join(studies)}")
    return studies[name]
