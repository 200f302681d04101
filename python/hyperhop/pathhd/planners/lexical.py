"""The planner that needs nothing: words, stems and pieces of words."""

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners.alignment import plan_by_words
from hyperhop.pathhd.planners.lexicon import RelationLexicon
from hyperhop.pathhd.planners.protocol import Plans, Span
from hyperhop.text.words import stem

_SAME_STEM = 0.95  # below 1, so that "recordings" prefers `recordings` to `recording`
_PIECES, _LEAST_PIECES = 0.8, 0.5


class LexicalPlanner:
    """Knows no synonyms: what it cannot match, it places by the shape of the question."""

    def __init__(self, symbols: Sequence[str]) -> None:
        """Indexes the words of a graph's symbols (`kg.symbols`)."""
        self._symbols = tuple(symbols)
        self._lexicon = RelationLexicon(symbols)
        self._by_stem: dict[str, list[int]] = defaultdict(list)
        self._by_gram: dict[str, list[int]] = defaultdict(list)
        vocabulary = self._lexicon.vocabulary
        self._grams = np.array([len(_trigrams(word)) for word in vocabulary], np.int64)
        for i, word in enumerate(vocabulary):
            self._by_stem[stem(word)].append(i)
            for gram in _trigrams(word):
                self._by_gram[gram].append(i)
        self._row = lru_cache(maxsize=4096)(self._word)

    def __reduce__(self) -> tuple[type["LexicalPlanner"], tuple[tuple[str, ...]]]:
        return type(self), (self._symbols,)

    @property
    def name(self) -> str:
        """The name `get_planner` accepts."""
        return "lexical"

    def plan(self, question: str, mention: Span | None, candidates: Candidates) -> Plans:
        """All candidates, best first; see `align` for what it costs."""
        return plan_by_words(question, mention, candidates, self._lexicon, self._alike)

    def _alike(self, words: Sequence[str]) -> npt.NDArray[np.float32]:
        rows = [self._row(word) for word in words]
        return np.array(rows, np.float32).reshape(len(words), len(self._lexicon.vocabulary))

    def _word(self, word: str) -> npt.NDArray[np.float32]:
        """1 for the same word, a little less for the same stem, Dice's coefficient of trigrams."""
        grams = _trigrams(word)
        shared = np.zeros(len(self._grams), np.int64)
        for gram in grams:
            shared[self._by_gram.get(gram, [])] += 1
        dice = 2 * shared / (self._grams + len(grams))
        row = np.where(dice >= _LEAST_PIECES, _PIECES * dice, 0.0)
        same_stem = self._by_stem.get(stem(word), [])
        row[same_stem] = _SAME_STEM
        for i in same_stem:
            if self._lexicon.vocabulary[i] == word:
                row[i] = 1.0
        return row.astype(np.float32)


def _trigrams(word: str) -> frozenset[str]:
    marked = f"<{word}>"
    return frozenset(marked[i : i + 3] for i in range(len(marked) - 2))
