"""The planner that asks a text encoder how alike words are."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners.alignment import AlignmentWeights, Reading, align, read_question
from hyperhop.pathhd.planners.lexicon import RelationLexicon
from hyperhop.pathhd.planners.protocol import Plans, Span, ranked
from hyperhop.text.protocol import TextEncoder

# Chosen on PathQuestion dev (`disjoint`, seed 0, all four sets together) with WordLlama.
_WEIGHTS = AlignmentWeights(precision=0.0, steps=0.3, length=0.02)
_COSINE = 0.25

Floats = npt.NDArray[np.float32]


class EmbeddingPlanner:
    """Aligns by cosines of words and phrases, and adds the cosine of question and whole path.

    A path's vector is the normalised sum of its relations' vectors, the question's that of its
    groups. Relations are encoded once per graph, each question word once.
    """

    def __init__(self, symbols: Sequence[str], encoder: TextEncoder) -> None:
        """Encodes the words of a graph's symbols (`kg.symbols`)."""
        self._lexicon = RelationLexicon(symbols)
        self._words = encoder.encode(self._lexicon.vocabulary)
        self._relations = encoder.encode(self._lexicon.phrases)
        self._encode = lru_cache(maxsize=65536)(lambda text: encoder.encode([text])[0])
        self._dim = encoder.dim

    @property
    def name(self) -> str:
        """The name `get_planner` accepts."""
        return "embedding"

    def plan(self, question: str, mention: Span | None, candidates: Candidates) -> Plans:
        """All candidates, best first. O(groups * length * N + words * vocabulary * dim)."""
        reading = read_question(question, mention, self._lexicon, self._alike)
        groups = self._vectors([" ".join(words) for words in reading.groups])
        relations = self._relations[candidates.symbols]
        phrases = np.maximum(groups @ relations.T, 0)
        scores = align(reading, self._lexicon, candidates, _WEIGHTS, phrases)
        scores += _COSINE * self._cosine(reading, relations, candidates)
        return ranked(scores, candidates)

    def _vectors(self, texts: Sequence[str]) -> Floats:
        return np.array([self._encode(text) for text in texts], np.float32).reshape(-1, self._dim)

    def _alike(self, words: Sequence[str]) -> Floats:
        return np.asarray(np.maximum(self._vectors(words) @ self._words.T, 0), np.float32)

    def _cosine(
        self, reading: Reading, relations: Floats, candidates: Candidates
    ) -> npt.NDArray[np.float64]:
        """Cosine of question and path from the products of relations: no path vector is built."""
        words = self._vectors(reading.words)
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
