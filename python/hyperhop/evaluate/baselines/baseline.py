"""What the baselines share: an index of passages, and evidence in HELP's shape."""

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from hyperhop.evidence import Evidence, EvidencePassage
from hyperhop.graph.arguments import at_least
from hyperhop.help.index import PassageIndex
from hyperhop.retrieval.clock import Clock
from hyperhop.text import TextEncoder
from hyperhop.text.batches import encode_queries


class Baseline(ABC):
    """Ranks the passages of an index for a question."""

    def __init__(self, index: PassageIndex, passages: int = 10) -> None:
        """`passages` is how many are returned. ValueError unless positive."""
        self.index = index
        self.passages = at_least(type(self).__name__, "passages", passages, 1)

    @abstractmethod
    def retrieve(self, question: str, topic: str | None = None) -> Evidence:
        """Evidence of passages alone, best first; the topic is not used."""

    def _evidence(
        self, ranked: npt.NDArray[np.int64], scores: npt.NDArray[np.floating], clock: Clock
    ) -> Evidence:
        best = ranked[: self.passages].tolist()
        found = [self.index.passages[place] for place in best]
        kept = [
            EvidencePassage(passage.id, passage.text, float(scores[place]), passage.title)
            for passage, place in zip(found, best, strict=True)
        ]
        clock.lap("passages")
        return Evidence(passages=kept, timings=clock.laps)


class VectorBaseline(Baseline):
    """A baseline that reads the question as the vector of an encoder, the index's own."""

    def __init__(self, index: PassageIndex, encoder: TextEncoder, passages: int = 10) -> None:
        super().__init__(index, passages)
        self.encoder = encoder

    @abstractmethod
    def scores(self, query: npt.NDArray[np.float32]) -> npt.NDArray[np.floating]:
        """A score for each passage (P,) of one question's unit vector (d,)."""

    def rank(self, query: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
        """All passages, best first, equal ones by position; a full sort."""
        return np.argsort(-self.scores(query), kind="stable")

    def retrieve(self, question: str, topic: str | None = None) -> Evidence:
        """Evidence of passages alone, best first; the topic is not used."""
        clock = Clock()
        query = encode_queries(self.encoder, [question])[0]
        clock.lap("encode")
        scores = self.scores(query)
        ranked = np.argsort(-scores, kind="stable")
        clock.lap("rank")
        return self._evidence(ranked, scores, clock)
