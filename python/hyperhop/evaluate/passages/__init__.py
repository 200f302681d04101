"""Questions with gold passages: the sets, and how systems are measured on them."""

from hyperhop.evaluate.passages.passage_set import PassageSet
from hyperhop.evaluate.passages.sets import is_here, load, names

__all__ = ["PassageSet", "is_here", "load", "names"]
