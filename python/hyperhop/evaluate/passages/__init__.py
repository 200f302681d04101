"""Questions with gold passages: the sets, and how systems are measured on them."""

from hyperhop.evaluate.passages.comparison import passages_figure, passages_table
from hyperhop.evaluate.passages.context import SYSTEMS, PassageContext
from hyperhop.evaluate.passages.passage_set import PassageSet
from hyperhop.evaluate.passages.run import PassageRun, measure
from hyperhop.evaluate.passages.sets import is_here, load, names
from hyperhop.evaluate.passages.tuning import GRID, PassageTuning, tune

__all__ = [
    "GRID",
    "SYSTEMS",
    "PassageContext",
    "PassageRun",
    "PassageSet",
    "PassageTuning",
    "is_here",
    "load",
    "measure",
    "names",
    "passages_figure",
    "passages_table",
    "tune",
]
