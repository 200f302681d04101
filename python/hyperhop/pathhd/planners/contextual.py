"""The planner that asks a text encoder how alike words are where they stand."""

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners.alignment import plan_by_words
from hyperhop.pathhd.planners.features import masked
from hyperhop.pathhd.planners.lexicon import RelationLexicon
from hyperhop.pathhd.planners.protocol import Plans, Span
from hyperhop.text.protocol import TextEncoder

_KEPT = 65536  # words whose number of tokens stays in memory

Floats = npt.NDArray[np.float32]
Tokens = Callable[[Sequence[str]], tuple[Floats, npt.NDArray[np.int64]]]
Vectors = dict[str, Floats]


class ContextualPlanner:
    """Aligns words as "embedding" does, but by their token states in the whole question.

    For encoders whose states depend on the words around ("minilm"), which then tell "who directed"
    from "directed by": much better on questions, and slower, as every question is encoded. The
    question is encoded without its topic; a word that stands in it twice has the mean of both.
    """

    def __init__(self, symbols: Sequence[str], encoder: TextEncoder) -> None:
        """Encodes the names of a graph's relations. TypeError without `encode_tokens`."""
        tokens: Tokens | None = getattr(encoder, "encode_tokens", None)
        if tokens is None:
            raise TypeError(
                "get_planner: the planner 'contextual' needs an encoder with encode_tokens, got "
                f"{encoder.name!r}"
            )
        self._lexicon = RelationLexicon(symbols)
        self._tokens = tokens
        self._counts: dict[str, int] = {}
        found: dict[str, list[Floats]] = defaultdict(list)
        for phrase in self._lexicon.phrases:
            for word, vector in self._in_context(phrase).items():
                found[word].append(vector)
        self._words = np.array([_unit(found[word]) for word in self._lexicon.vocabulary])

    @property
    def name(self) -> str:
        """The name `get_planner` accepts."""
        return "contextual"

    def plan(self, question: str, mention: Span | None, candidates: Candidates) -> Plans:
        """All candidates, best first: one call of the encoder, and what `align` costs."""
        vectors = self._in_context(masked(question, mention).replace("_", " ").split())

        def alike(words: Sequence[str]) -> Floats:
            for word in words:
                if word not in vectors:  # "son", read from "grandson"
                    vectors.update(self._in_context([word]))
            rows = [np.maximum(self._words @ vectors[word], 0) for word in words]
            return np.array(rows, np.float32).reshape(len(words), len(self._words))

        return plan_by_words(question, mention, candidates, self._lexicon, alike)

    def _in_context(self, words: Sequence[str]) -> Vectors:
        """Vector of each distinct word of a text; one that the encoder cut off has a zero row."""
        states, _ = self._tokens([" ".join(words)])
        ends = np.cumsum(self._lengths(words)).tolist()
        found: dict[str, list[Floats]] = defaultdict(list)
        for word, start, end in zip(words, [0, *ends], ends, strict=False):
            found[word].append(states[start:end].sum(axis=0))
        return {word: _unit(vectors) for word, vectors in found.items()}

    def _lengths(self, words: Sequence[str]) -> list[int]:
        """How many tokens each word is."""
        if len(self._counts) > _KEPT:
            self._counts.clear()
        new = [word for word in dict.fromkeys(words) if word not in self._counts]
        if new:
            _, offsets = self._tokens(new)
            self._counts.update(zip(new, np.diff(offsets).tolist(), strict=True))
        return [self._counts[word] for word in words]


def _unit(vectors: Sequence[Floats]) -> Floats:
    total = np.sum(vectors, axis=0, dtype=np.float32)
    norm = np.sqrt(np.square(total).sum())
    return np.asarray(total / norm if norm > 0 else total, np.float32)
