"""Which passages hold a question's words, the rare ones counting most."""

import math
from bisect import bisect_left
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from hyperhop.help.texts import TextTable
from hyperhop.text.words import words


class Wording:
    """The passages of each word (see `text.words.words`).

    Attributes:
        table: the distinct words, ascending.
        offsets: int64 (words + 1,), the entries of each word.
        passages: int64, positions of passages, ascending within a word.
        count: passages in all.
    """

    def __init__(
        self,
        table: TextTable,
        offsets: npt.NDArray[np.int64],
        passages: npt.NDArray[np.int64],
        count: int,
    ) -> None:
        self.table, self.offsets, self.passages, self.count = table, offsets, passages, count

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Wording":
        """The words of these texts. O(bytes)."""
        held: dict[str, list[int]] = {}
        count = 0
        for place, text in enumerate(texts):
            for word in set(words(text)):
                held.setdefault(word, []).append(place)
            count = place + 1
        table = sorted(held)
        offsets = np.zeros(len(table) + 1, np.int64)
        np.cumsum([len(held[word]) for word in table], out=offsets[1:])
        passages = np.array([place for word in table for place in held[word]], np.int64)
        return cls(TextTable.of(table), offsets, passages, count)

    def shares(self, question: str) -> npt.NDArray[np.float64]:
        """How much of the question's distinct words each passage holds, 0 to 1.

        A word in n of N passages weighs log(1 + (N - n + 1/2) / (n + 1/2)), as in BM25; the share
        is that of the weights. 0 for a question without words. O(entries of these words).
        """
        shares, total = np.zeros(self.count), 0.0
        for word in sorted(set(words(question))):
            held = self._of(word)
            weight = math.log1p((self.count - len(held) + 0.5) / (len(held) + 0.5))
            shares[held] += weight
            total += weight
        return shares / total if total else shares

    def _of(self, word: str) -> npt.NDArray[np.int64]:
        place = bisect_left(self.table, word)
        if place == len(self.table) or self.table[place] != word:
            return self.passages[:0]
        return self.passages[self.offsets[place] : self.offsets[place + 1]]
