"""BM25 by the library bm25s (extra `bm25`)."""

import logging
import re

import numpy as np

from hyperhop._extras import optional
from hyperhop.evaluate.baselines.baseline import Baseline
from hyperhop.evidence import Evidence
from hyperhop.help.index import PassageIndex
from hyperhop.retrieval.clock import Clock

_WORD = re.compile(r"\w+")


class BM25(Baseline):
    """Passages by BM25 of title and text: k1 1.2, b 0.75, the idf of Lucene.

    Words are runs of letters, digits and _ without regard to case; none is left out or stemmed.
    """

    def __init__(self, index: PassageIndex, passages: int = 10) -> None:
        """Counts all words. ImportError without the extra."""
        super().__init__(index, passages)
        bm25s = optional("bm25s", "BM25", "bm25")
        logging.getLogger("bm25s").setLevel(logging.WARNING)  # it logs every index otherwise
        self._model = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
        words = [_words(passage.full_text) for passage in index.passages]
        self._known = {word for of in words for word in of}
        if self._known:  # it takes no corpus without words
            self._model.index(words, show_progress=False)

    def retrieve(self, question: str, topic: str | None = None) -> Evidence:
        """Evidence of passages alone, best first; the topic is not used."""
        clock = Clock()
        known = [word for word in _words(question) if word in self._known]
        scores = np.zeros(self.index.num_passages, np.float32)
        if known:
            scores = np.asarray(self._model.get_scores(known), np.float32)
        ranked = np.argsort(-scores, kind="stable")
        clock.lap("rank")
        return self._evidence(ranked, scores, clock)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
