"""The studies of the PathHD paper, on questions that anyone can ask again.

    context = studies.Context("PQ-3H", "data/pathquestion", planner="gold")
    study = studies.run("operators", context)
    print(tables.markdown(study.table))

Each study plans every question once and ranks the same candidates under all of its settings.
"""

from collections.abc import Callable

from hyperhop.evaluate.studies import dimension, operators, query_encoding, similarity, topk
from hyperhop.evaluate.studies.context import Context
from hyperhop.evaluate.studies.study import Study

_STUDIES: dict[str, Callable[[Context], Study]] = {
    "operators": operators.run,
    "topk": topk.run,
    "dimension": dimension.run,
    "similarity": similarity.run,
    "query-encoding": query_encoding.run,
}
NAMES = tuple(_STUDIES)

__all__ = ["NAMES", "Context", "Study", "check_name", "run"]


def check_name(name: str) -> None:
    """ValueError for what is no study; before questions are loaded and planned."""
    if name not in _STUDIES:
        raise ValueError(f"study: expected one of {', '.join(NAMES)}, got {name!r}")


def run(name: str, context: Context) -> Study:
    """The study of this name, one of `NAMES`. ValueError for another."""
    check_name(name)
    return _STUDIES[name](context)
