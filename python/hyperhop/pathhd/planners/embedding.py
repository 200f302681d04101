"""The planner that asks a text encoder how alike words are."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners.alignment import plan_by_words
from hyperhop.pathhd.planners.lexicon import RelationLexicon
from hyperhop.pathhd.planners.protocol import Plans, Span
from hyperhop.text.protocol import TextEncoder

_KEPT = 1 << 24  # similarities that stay in memory, 64 MiB

Floats = npt.NDArray[np.float32]


class EmbeddingPlanner:
    """Aligns each word of a question with the words of relations by cosine.

    What is encoded is single words, as they are: never a whole question, so that an encoder's
    `query_prompt` plays no part. Each distinct word is encoded once, those of all relations in one
    call of `encode`, the new ones of a question in another.
    """

    def __init__(self, symbols: Sequence[str], encoder: TextEncoder) -> None:
        """Encodes the words of a graph's symbols (`kg.symbols`)."""
        self._lexicon = RelationLexicon(symbols)
        self._encoder = encoder
        self._words = encoder.encode(self._lexicon.vocabulary)
        self._places = {word: place for place, word in enumerate(self._lexicon.vocabulary)}
        self._rows: dict[str, Floats] = {}  # of the words of questions
        self._most = max(1, _KEPT // max(1, len(self._words)))

    @property
    def name(self) -> str:
        """The name `get_planner` accepts."""
        return "embedding"

    def plan(self, question: str, mention: Span | None, candidates: Candidates) -> Plans:
        """All candidates, best first; see `align` for what it costs."""
        return plan_by_words(question, mention, candidates, self._lexicon, self._alike)

    def _alike(self, words: Sequence[str]) -> Floats:
        new = [word for word in words if word not in self._rows]
        if len(self._rows) + len(new) > self._most:
            self._rows.clear()
            new = list(words)
        if new:
            unknown = [word for word in new if word not in self._places]
            vectors = dict(
                zip(unknown, self._encoder.encode(unknown) if unknown else [], strict=True)
            )
            for word in new:
                known = self._places.get(word)
                vector = vectors[word] if known is None else self._words[known]
                # one at a time: the bits of a row do not depend on the words beside it
                self._rows[word] = np.maximum(self._words @ vector, 0)
        rows = [self._rows[word] for word in words]
        return np.array(rows, np.float32).reshape(len(words), len(self._words))
