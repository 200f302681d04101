"""The words of a graph's relations, indexed once per graph."""

from collections import defaultdict
from collections.abc import Sequence, Set

import numpy as np
import numpy.typing as npt

from hyperhop.text.relations import relation_words, split_symbol
from hyperhop.text.words import FUNCTION_WORDS, REQUEST_WORDS, SHARED_WORDS, stem

Floats = npt.NDArray[np.float32]


class Ragged:
    """Lists of word ids, none of them empty, end to end."""

    def __init__(self, lists: Sequence[Sequence[int]]) -> None:
        self._values = np.array([value for one in lists for value in one], np.int64)
        self._lengths = np.array([len(one) for one in lists], np.int64)
        self._starts = np.cumsum(self._lengths) - self._lengths

    def best_and_mean(self, similarity: Floats) -> tuple[Floats, Floats]:
        """Highest value and mean of each list in each row: two times float32 (rows, lists)."""
        values = similarity[:, self._values]
        best = np.maximum.reduceat(values, self._starts, axis=1)
        mean = np.add.reduceat(values, self._starts, axis=1)
        mean /= self._lengths.astype(np.float32)
        return best, mean


class RelationLexicon:
    """Words of every relation of a graph.

    Attributes:
        vocabulary: the distinct words of all relations, sorted.
        relation: int64 (S,), of each symbol; both directions of a relation have the same.
        inverse: bool (S,), whether the symbol walks its relation backwards.
        core: word ids of each relation. Function words are left out of a core that has others.
        context: the same of the words that say which kind of thing has it; a relation without any
            repeats its core. None if no relation has any.
        phrases: the distinct cores and contexts, sorted.
        with_word: for each word, the relations (as text) whose core or context has it.
        keep: question words that count although they are words of structure, because some relation
            needs them.
        literal: stems of the content words of each core of two words or more.
    """

    def __init__(self, symbols: Sequence[str]) -> None:
        split = [split_symbol(symbol) for symbol in symbols]
        self.inverse = np.array([inverse for _, inverse in split], bool)
        place = {name: i for i, name in enumerate(dict.fromkeys(name for name, _ in split))}
        self.relation = np.array([place[name] for name, _ in split], np.int64)
        named = [relation_words(name) for name in place]
        cores = [_content(one.core) for one in named]
        contexts = [one.context or core for one, core in zip(named, cores, strict=True)]
        self.vocabulary = sorted({word for words in (*cores, *contexts) for word in words})
        ids = {word: i for i, word in enumerate(self.vocabulary)}
        self.core = Ragged([[ids[word] for word in core] for core in cores])
        self.context = (
            Ragged([[ids[word] for word in context] for context in contexts])
            if any(one.context for one in named)
            else None
        )
        self.phrases = sorted({*cores, *contexts})
        self.with_word: list[set[str]] = [set() for _ in self.vocabulary]
        self.keep = frozenset(
            word
            for core in cores
            for word in core
            if word in FUNCTION_WORDS | REQUEST_WORDS | SHARED_WORDS
        )
        self._naming: dict[str, set[str]] = defaultdict(set)
        for name, core, context in zip(place, cores, contexts, strict=True):
            for word in (*core, *context):
                self.with_word[ids[word]].add(name)
            for word in core:
                self._naming[stem(word)].add(" ".join(core))
        self.literal = frozenset(frozenset(map(stem, core)) for core in cores if len(core) > 1)

    def naming(self, word: str) -> Set[str]:
        """Cores of the relations whose core has a word of the same stem."""
        return self._naming.get(stem(word), frozenset())


def _content(core: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in core if word not in FUNCTION_WORDS) or core
