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
        for place, title in enumerate(titles):
            named = tuple(words(_APART.sub("", title)))
            if named:
                self._passages.setdefault(named, []).append(place)
        self._longest = max(map(len, self._passages), default=0)

    def named(self, question: str) -> npt.NDArray[np.int64]:
        """Passages whose title stands in the question as whole words, ascending.

        O(words of the question x words of the longest title).
        """
        asked = words(question)
        found: set[int] = set()
        for start in range(len(asked)):
            for stop in range(start + 1, min(start + self._longest, len(asked)) + 1):
                found.update(self._passages.get(tuple(asked[start:stop]), ()))
        return np.array(sorted(found), np.int64)
