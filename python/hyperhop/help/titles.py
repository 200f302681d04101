"""Passages that a question names by their title."""

import re
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from hyperhop.text.words import words

_APART = re.compile(r"\([^()]*\)\s*$")  # "Mercury (planet)" is named as Mercury


class Titles:
    """Passages by the words of their title (see `text.words.words`)."""

    def __init__(self, titles: Iterable[str]) -> None:
        """A title a passage, "" for none; what stands in "(...)" at its end is left out."""
        self._passages: dict[tuple[str, ...], list[int]] = {}
        self._lengths: dict[str, set[int]] = {}  # of the titles that begin with a word
        for place, title in enumerate(titles):
            named = tuple(words(_APART.sub("", title)))
            if named:
                self._passages.setdefault(named, []).append(place)
                self._lengths.setdefault(named[0], set()).add(len(named))

    def named(self, question: str) -> npt.NDArray[np.int64]:
        """Passages whose title stands in the question as whole words, ascending.

        O(words of the question x lengths of the titles that begin with one).
        """
        asked = words(question)
        found: set[int] = set()
        for start, first in enumerate(asked):
            for length in self._lengths.get(first, ()):
                found.update(self._passages.get(tuple(asked[start : start + length]), ()))
        return np.array(sorted(found), np.int64)
