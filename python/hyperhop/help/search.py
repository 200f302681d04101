"""The retrieval of HELP over one index: algorithm 1, eq. 4 and the hybrid quota."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from hyperhop.evidence import Evidence, EvidencePassage, EvidenceScoring
from hyperhop.help.dense import FlatSearch, Nearest
from hyperhop.help.hybrid import Chosen, choose
from hyperhop.help.hypernodes import NamedHyperNodes
from hyperhop.help.index import PassageIndex
from hyperhop.help.levels import expand_levels
from hyperhop.help.localize import distances, localize
from hyperhop.help.scorers import Cascade, Composition, Encoded, Scorer, Spent, canonical
from hyperhop.help.settings import RetrievalSettings
from hyperhop.retrieval.clock import Clock
from hyperhop.text import TextEncoder

Ids = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Search:
    """Finds evidence for encoded questions in an index that does not change."""

    def __init__(
        self, index: PassageIndex, settings: RetrievalSettings, encoder: Callable[[], TextEncoder]
    ) -> None:
        """`encoder` makes the encoder, where the scorer needs one."""
        self.index, self.settings = index, settings
        self._scorer = _scorer(index, settings, encoder)
        self._ranks = _ranks(index.passages.ids)
        self._weights = index.source_weights(settings.weighting)
        self._triples = FlatSearch(index.triple_embeddings)
        self._passages = FlatSearch(index.passage_embeddings, self._ranks)

    def find(
        self, queries: npt.NDArray[np.float32], clock: Clock, threads: int | None
    ) -> list[Evidence]:
        """Evidence for each query, float32 (Q, d), unit or zero rows; `clock` times the stages."""
        how = self.settings
        seeds = [_numbers(found) for found in self._triples.search(queries, how.n)]
        clock.lap("seeds")
        beam, spent = expand_levels(
            self._scorer, seeds, queries, how.levels, how.k, how.keep_parents, threads
        )
        clock.lap("expand")
        dense = self._passages.search(queries, how.passages)
        clock.lap("dense")
        found = [
            self._evidence(beam.of(place), query, dense[place], spent[place])
            for place, query in enumerate(queries)
        ]
        clock.lap("locate")
        return found

    def _evidence(
        self, hypernodes: Ids, query: npt.NDArray[np.float32], dense: Nearest, spent: Spent
    ) -> Evidence:
        """What the last beam of one question leads to."""
        hypernodes, apart, again = self._measured(hypernodes, query)
        located = localize(self.index.sources, self._weights, self._ranks, hypernodes, apart)
        chosen = choose(located, dense, self.settings.quota, self.settings.passages)
        return Evidence(
            passages=self._named(chosen),
            hypernodes=NamedHyperNodes(self.index, hypernodes, apart, chosen.passages),
            scoring=EvidenceScoring(
                self.settings.scorer, spent.encoded + again.encoded, spent.hits
            ),
        )

    def _measured(
        self, hypernodes: Ids, query: npt.NDArray[np.float32]
    ) -> tuple[Ids, Floats, Spent]:
        """HyperNodes by their distance, those without one left out."""
        vectors, spent = self._scorer.vectors(hypernodes)
        apart = distances(vectors, query.astype(np.float64))
        order = np.lexsort((canonical(hypernodes), apart))
        order = order[apart[order] == apart[order]]
        return hypernodes[order], apart[order], spent

    def _named(self, chosen: Chosen) -> list[EvidencePassage]:
        named = []
        for place, (at, score) in enumerate(
            zip(chosen.passages.tolist(), chosen.scores.tolist(), strict=True)
        ):
            passage = self.index.passages[at]
            found = "path" if place < chosen.by_path else "dense"
            named.append(EvidencePassage(passage.id, passage.text, score, passage.title, found))
        return named


def _scorer(
    index: PassageIndex, settings: RetrievalSettings, encoder: Callable[[], TextEncoder]
) -> Scorer:
    if settings.scorer == "composition":
        return Composition(index)
    encoded = Encoded(index, encoder(), settings.cached)
    if settings.scorer == "encoder":
        return encoded
    return Cascade(index, encoded, settings.shortlist)


def _ranks(ids: Sequence[str]) -> Ids:
    """Rank of each passage in the order of ids."""
    names = list(ids)
    ranks = np.empty(len(names), np.int64)
    ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return ranks


def _numbers(found: Nearest) -> Ids:
    """Rows whose cosine is a number."""
    return found.rows[~np.isnan(found.cosines)]
