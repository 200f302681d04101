"""HippoRAG-style retrieval: personalised PageRank over entities and passages."""

import numpy as np
import numpy.typing as npt

from hyperhop._topk import topk
from hyperhop.evaluate.baselines.baseline import VectorBaseline
from hyperhop.evaluate.baselines.rank_graph import RankGraph
from hyperhop.graph.arguments import at_least
from hyperhop.help.index import PassageIndex
from hyperhop.text import TextEncoder


class PPR(VectorBaseline):
    """Walks that start at what the best triples name, and a little at every passage.

    After HippoRAG 2 (Gutierrez et al., ICML 2025) with its published constants, without its call of
    a language model that filters triples: the `triples` best of all are taken as they are. Each of
    their entities starts walks in proportion to the triple's score divided by the number of
    passages that mention the entity, averaged over its triples; the `entities` best are kept. Every
    passage starts walks too, in proportion to `passage_weight` times its score. Scores are cosines,
    of all triples or all passages stretched to 0 to 1. Passages are sorted by the walk's stationary
    share, all of them.
    """

    def __init__(
        self,
        index: PassageIndex,
        encoder: TextEncoder,
        passages: int = 10,
        *,
        triples: int = 5,
        entities: int = 5,
        damping: float = 0.5,
        passage_weight: float = 0.05,
    ) -> None:
        """Builds the graph. ValueError without triples, ImportError without the extra `igraph`."""
        super().__init__(index, encoder, passages)
        if not index.num_triples:
            raise ValueError("PPR: needs triples, but the index has none")
        self.triples = at_least("PPR", "triples", triples, 1)
        self.entities = at_least("PPR", "entities", entities, 1)
        self.damping, self.passage_weight = damping, passage_weight
        self.graph = RankGraph(
            index.triples,
            index.sources.offsets,
            index.sources.passages,
            index.links,
            index.similarities,
            index.num_entities,
            index.num_passages,
        )
        self._triple_rows = np.asarray(index.triple_embeddings, np.float32)
        self._passage_rows = np.asarray(index.passage_embeddings, np.float32)

    def scores(self, query: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
        """The share of each passage (P,) in the walks of one question's unit vector (d,)."""
        starts = np.concatenate(
            [
                self._starts(_stretched(self._triple_rows @ query)),
                self.passage_weight * _stretched(self._passage_rows @ query),
            ]
        )
        return self.graph.rank(starts, self.damping)[self.graph.num_entities :]

    def _starts(self, scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """How much each entity starts walks (V,)."""
        best = topk(scores, self.triples)[0]
        named = self.index.triples[best][:, [0, 2]].reshape(-1)
        rarity = np.repeat(scores[best], 2) / self.graph.mentions[named]
        entities, places, times = np.unique(named, return_inverse=True, return_counts=True)
        weights = np.bincount(places, rarity) / times
        kept = topk(weights, self.entities)[0]
        starts = np.zeros(self.graph.num_entities)
        starts[entities[kept]] = weights[kept]
        return starts


def _stretched(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """From 0 for the least to 1 for the most; all 1 where they are equal."""
    wide = values.astype(np.float64)
    low, high = wide.min(), wide.max()
    return np.ones_like(wide) if low == high else (wide - low) / (high - low)
