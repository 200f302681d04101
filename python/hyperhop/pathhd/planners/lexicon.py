"""The words of a graph's relations, indexed once per graph."""

from collections import defaultdict
from collections.abc import Sequence, Set

import numpy as np
import numpy.typing as npt

from hyperhop.text.relations import relation_words, split_symbol
from hyperhop.text.words import FUNCTION_WORDS, REQUEST_WORDS, stem


class Ragged:
    """Lists of word ids, end to end."""

    def __init__(self, lists: Sequence[Sequence[int]]) -> None:
        self.values = np.array([value for one in lists for value in one], np.int64)
        self.offsets = np.zeros(len(lists) + 1, np.int64)
        np.cumsum([len(one) for one in lists], out=self.offsets[1:])

    def take(
        self, rows: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Values of some rows end to end, and where each row starts."""
        lengths = self.offsets[rows + 1] - self.offsets[rows]
        starts = np.cumsum(lengths) - lengths
        within = np.arange(lengths.sum()) - np.repeat(starts, lengths)
        return self.values[np.repeat(self.offsets[rows], lengths) + within], starts


class RelationLexicon:
    """Words of every symbol of a graph.

    Attributes:
        vocabulary: the distinct words of all relations, sorted.
        core, context: word ids of each symbol. Function words are left out of a core that has
            others. A symbol without context words repeats its core, so that no row is empty.
        inverse: bool (S,), whether the symbol walks its relation backwards.
        phrases: the core words of each symbol, as text.
        keep: question words that count although they are function or request words, because some
            relation needs them.
        literal: stems of the content words of each core of two words or more.
    """

    def __init__(self, symbols: Sequence[str]) -> None:
        split = [split_symbol(symbol) for symbol in symbols]
        self.inverse = np.array([inverse for _, inverse in split], bool)
        named = [relation_words(name) for name, _ in split]
        cores = [_content(one.core) for one in named]
        contexts = [one.context or core for one, core in zip(named, cores, strict=True)]
        self.vocabulary = sorted({word for words in (*cores, *contexts) for word in words})
        ids = {word: i for i, word in enumerate(self.vocabulary)}
        self.core = Ragged([[ids[word] for word in core] for core in cores])
        self.context = Ragged([[ids[word] for word in context] for context in contexts])
        number = {name: i for i, name in enumerate(dict.fromkeys(name for name, _ in split), 1)}
        self.relation = np.array([-number[n] if back else number[n] for n, back in split], np.int64)
        self.phrases = [" ".join(core) for core in cores]
        self.keep = frozenset(
            word for core in cores for word in core if word in FUNCTION_WORDS | REQUEST_WORDS
        )
        self._naming: dict[str, set[str]] = defaultdict(set)
        for core, phrase in zip(cores, self.phrases, strict=True):
            for word in core:
                self._naming[stem(word)].add(phrase)
        self.literal = frozenset(frozenset(map(stem, core)) for core in cores if len(core) > 1)

    def naming(self, word: str) -> Set[str]:
        """Phrases of the relations whose core has a word of the same stem."""
        return self._naming.get(stem(word), frozenset())

    def nearest(self, similarity: npt.NDArray[np.float32]) -> str:
        """Phrase of the relation whose core has the word most alike; `similarity` as of Reading."""
        best = np.maximum.reduceat(similarity.max(axis=0)[self.core.values], self.core.offsets[:-1])
        most = best.max()
        return min(self.phrases[i] for i in np.flatnonzero(best == most))


def _content(core: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in core if word not in FUNCTION_WORDS) or core
