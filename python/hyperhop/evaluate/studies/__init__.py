"""The studies of the PathHD paper, on questions that anyone can ask again.

    context = studies.Context("PQ-3H", "data/pathquestion", planner="gold")
    study = studies.run("operators", context)
    print(tables.markdown(study.table))

Each study plans every question once and ranks the same candidates under all of its settings.
"""

from collections.abc import Callable

from hyperhop.evaluate.studies import (
    backbone,
    dimension,
    final_step,
    operators,
    prompt,
    query_encoding,
    similarity,
    topk,
)
from hyperhop.evaluate.studies.context import Context
from hyperhop.evaluate.studies.study import Study

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
_ALL = _STUDIES | _WITH_MODEL
WITH_MODEL = tuple(_WITH_MODEL)  # these ask a language model
NAMES = tuple(_ALL)

__all__ = ["NAMES", "WITH_MODEL", "Context", "Study", "check_name", "run"]


def check_name(name: str) -> None:
    """ValueError for what is no study; before questions are loaded and planned."""
    if name not in _ALL:
        raise ValueError(f"study: expected one of {', '.join(NAMES)}, got {name!r}")


def run(name: str, context: Context) -> Study:
    """The study of this name, one of `NAMES`. ValueError for another."""
    check_name(name)
    return _ALL[name](context)
