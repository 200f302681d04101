"""The planner that asks a text encoder how alike words are."""

from collections import ChainMap
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners.alignment import (
    AlignmentWeights,
    Reading,
    align,
    read_groups,
    split_question,
)
from hyperhop.pathhd.planners.lexicon import RelationLexicon
from hyperhop.pathhd.planners.protocol import Plans, Span, ranked
from hyperhop.text.protocol import TextEncoder

# Chosen on PathQuestion dev (`disjoint`, seed 0, all four sets together) with WordLlama.
_WEIGHTS = AlignmentWeights(precision=0.0, steps=0.3, length=0.02)
_COSINE = 0.25
_KEPT = 65536  # texts of questions whose vectors stay in memory

Floats = npt.NDArray[np.float32]


class EmbeddingPlanner:
    """Aligns by cosines of words and phrases, and adds the cosine of question and whole path.

    A path's vector is the normalised sum of its relations' vectors, the question's that of its
    groups. What is encoded is words and groups of words, as they are: never a whole question, so
    that an encoder's `query_prompt` plays no part. Each distinct text is encoded once, those of all
    relations in one call of `encode`, the new ones of a question in another.
    """

    def __init__(self, symbols: Sequence[str], encoder: TextEncoder) -> None:
        """Encodes the words of a graph's symbols (`kg.symbols`)."""
        self._lexicon = RelationLexicon(symbols)
        vocabulary, phrases = self._lexicon.vocabulary, self._lexicon.phrases
        places = {text: i for i, text in enumerate(dict.fromkeys([*vocabulary, *phrases]))}
        rows = encoder.encode(list(places))
        self._words = rows[[places[word] for word in vocabulary]]
        self._relations = rows[[places[phrase] for phrase in phrases]]
        self._encoder = encoder
        self._of_relations: dict[str, Floats] = dict(zip(places, rows, strict=True))
        self._of_questions: dict[str, Floats] = {}

    @property
    def name(self) -> str:
        """The name `get_planner` accepts."""
        return "embedding"

    def plan(self, question: str, mention: Span | None, candidates: Candidates) -> Plans:
        """All candidates, best first. O(groups * length * N + words * vocabulary * dim)."""
        parts = split_question(question, mention, self._lexicon)
        vectors = self._vectors(list(dict.fromkeys(word for part in parts for word in part.words)))

        def alike(words: Sequence[str]) -> Floats:
            return np.asarray(np.maximum(self._stack(vectors, words) @ self._words.T, 0))

        reading = read_groups(parts, self._lexicon, alike)
        words = self._stack(vectors, reading.words)
        groups = _sums(words, reading)
        relations = self._relations[candidates.symbols]
        phrases = np.maximum(groups @ relations.T, 0)
        scores = align(reading, self._lexicon, candidates, _WEIGHTS, phrases)
        scores += _COSINE * _cosine(words, reading, relations, candidates)
        return ranked(scores, candidates)

    def _vectors(self, texts: Sequence[str]) -> dict[str, Floats]:
        """Vector of each text; those not met before are encoded in one call."""
        known = ChainMap(self._of_relations, self._of_questions)
        found = {text: row for text in texts if (row := known.get(text)) is not None}
        new = [text for text in texts if text not in found]
        if new:
            rows = dict(zip(new, self._encoder.encode(new), strict=True))
            found |= rows
            if len(self._of_questions) + len(rows) > _KEPT:
                self._of_questions.clear()
            self._of_questions.update(rows)
        return found

    def _stack(self, vectors: dict[str, Floats], texts: Sequence[str]) -> Floats:
        rows = [vectors[text] for text in texts]
        return np.array(rows, np.float32).reshape(-1, self._words.shape[1])


def _sums(words: Floats, reading: Reading) -> Floats:
    """A unit vector of each group; that of no words is empty."""
    sums = np.zeros((len(reading.starts), words.shape[1]), np.float32)
    if len(words):
        np.add.reduceat(words, reading.starts, axis=0, out=sums)
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    np.divide(sums, norms, out=sums, where=norms > 0)
    return sums


def _cosine(
    words: Floats, reading: Reading, relations: Floats, candidates: Candidates
) -> npt.NDArray[np.float64]:
    """Cosine of question and path from the products of relations: no path vector is built."""
    sizes = np.diff([*reading.starts, len(words)])
    question = (words / np.repeat(sizes, sizes)[:, None]).sum(axis=0)
    dots, gram = relations @ question, relations @ relations.T
    inside = candidates.table >= 0
    dot = np.where(inside, dots[candidates.table], 0.0).sum(axis=1)
    hops = range(candidates.table.shape[1])
    squared = np.zeros(len(candidates))
    for a in hops:
        for b in hops:
            both = inside[:, a] & inside[:, b]
            products = gram[candidates.table[:, a], candidates.table[:, b]]
            squared += np.where(both, products, 0.0)
    norms = np.sqrt(np.maximum(squared, 0.0)) * np.linalg.norm(question)
    cosines = np.zeros(len(dot))
    np.divide(dot, norms, out=cosines, where=norms > 1e-6)
    return cosines
