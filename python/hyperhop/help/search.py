"""The retrieval of HELP over one index: algorithm 1, eq. 4 and the hybrid quota."""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from hyperhop.evidence import Evidence, EvidencePassage, EvidenceScoring
from hyperhop.help.context import contextual_rows
from hyperhop.help.dense import Added, FlatSearch, Nearest, Rows
from hyperhop.help.hybrid import Chosen, choose
from hyperhop.help.hypernodes import NamedHyperNodes
from hyperhop.help.index import PassageIndex
from hyperhop.help.levels import expand_levels
from hyperhop.help.localize import Localized, distances, localize, ranked
from hyperhop.help.scorers import Cascade, Composition, Encoded, Scorer, Spent, canonical
from hyperhop.help.settings import RetrievalSettings
from hyperhop.help.titles import Titles
from hyperhop.help.wording import Wording
from hyperhop.retrieval.clock import Clock
from hyperhop.text import TextEncoder

Ids = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


_ADDED = 1 << 21  # numbers added to cosines, held at once: 16 MiB


class Search:
    """Finds evidence for encoded questions in an index that does not change."""

    def __init__(
        self, index: PassageIndex, settings: RetrievalSettings, encoder: Callable[[], TextEncoder]
    ) -> None:
        """`encoder` makes the encoder, where the scorer needs one."""
        self.index, self.settings = index, settings
        self._ranks = _ranks(index.passages.ids)
        self._weights = index.source_weights(settings.weighting)
        texts = (passage.full_text for passage in index.passages)
        self._wording = Wording.of(texts) if settings.lexical else None
        self._titles = Titles(index.passages.titles) if settings.named else None
        rows = index.triple_embeddings
        if settings.context:
            rows = contextual_rows(index, settings.context, self._ranks)
        self._scorer = _scorer(index, rows, settings, encoder)
        self._triples = FlatSearch(rows)
        self._passages = FlatSearch(index.passage_embeddings, self._ranks)

    def find(
        self,
        questions: Sequence[str],
        queries: npt.NDArray[np.float32],
        clock: Clock,
        threads: int | None,
    ) -> list[Evidence]:
        """Evidence for questions and their vectors (Q, d); `clock` times the stages."""
        widest = 0
        if self._wording is not None or self._titles is not None:
            widest = max(self.index.num_passages, self.index.num_triples)
        at_once = max(1, min(len(questions), _ADDED // max(1, widest)))
        found: list[Evidence] = []
        for start in range(0, len(questions), at_once):
            some = slice(start, start + at_once)
            found += self._find(questions[some], queries[some], clock, threads)
        return found

    def _find(
        self,
        questions: Sequence[str],
        queries: npt.NDArray[np.float32],
        clock: Clock,
        threads: int | None,
    ) -> list[Evidence]:
        how = self.settings
        named = self._named(questions)
        extra = self._by_triple(named)
        nearest = self._triples.search(queries, how.n, threads, extra=extra)
        seeds = [_numbers(found) for found in nearest]
        clock.lap("seeds")
        beam, spent = expand_levels(
            self._scorer, seeds, queries, how.levels, how.k, how.keep_parents, threads
        )
        clock.lap("expand")
        extra = self._by_words(questions, named)
        dense = self._passages.search(queries, how.passages, threads, extra=extra)
        clock.lap("dense")
        found = [
            self._evidence(
                beam.of(place),
                query,
                dense[place],
                None if extra is None else extra[place],
                spent[place],
            )
            for place, query in enumerate(queries)
        ]
        clock.lap("locate")
        return found

    def _named(self, questions: Sequence[str]) -> Added:
        """What passages get whose title a question names, (Q, P); None where there are none."""
        if self._titles is None:
            return None
        named = [self._titles.named(question) for question in questions]
        if not any(map(len, named)):
            return None
        added = np.zeros((len(questions), self.index.num_passages))
        for row, passages in zip(added, named, strict=True):
            row[passages] = self.settings.named
        return added

    def _by_triple(self, named: Added) -> Added:
        """The most that a passage of each triple gets, (Q, T)."""
        sources = self.index.sources
        if named is None or self.index.num_triples == 0:
            return None
        return np.maximum.reduceat(named[:, sources.passages], sources.offsets[:-1], axis=1)

    def _by_words(self, questions: Sequence[str], named: Added) -> Added:
        """What passages get for the words they share with a question, and for being named."""
        if self._wording is None:
            return named
        shares = np.stack([self._wording.shares(question) for question in questions])
        added = self.settings.lexical * shares
        return added if named is None else added + named

    def _evidence(
        self,
        hypernodes: Ids,
        query: npt.NDArray[np.float32],
        dense: Nearest,
        extra: Added,
        spent: Spent,
    ) -> Evidence:
        """What the last beam of one question leads to."""
        how = self.settings
        hypernodes, apart, again = self._measured(hypernodes, query)
        located = localize(
            self.index.sources, self._weights, self._ranks, hypernodes, how.sharpness * apart
        )
        if how.relevance:
            located = self._relevant(located, query, extra)
        chosen = choose(located, dense, how.quota, how.passages)
        return Evidence(
            passages=self._shown(chosen),
            hypernodes=NamedHyperNodes(self.index, hypernodes, apart, chosen.passages),
            scoring=EvidenceScoring(how.scorer, spent.encoded + again.encoded, spent.hits),
        )

    def _relevant(
        self, located: Localized, query: npt.NDArray[np.float32], extra: Added
    ) -> Localized:
        """Passages by the score of eq. 4 times what dense retrieval makes of them."""
        scores = self._passages.scores(query, located.passages, extra)
        factors = np.exp(self.settings.relevance * np.nan_to_num(scores))
        return ranked(located.passages, located.scores * factors, self._ranks)

    def _measured(
        self, hypernodes: Ids, query: npt.NDArray[np.float32]
    ) -> tuple[Ids, Floats, Spent]:
        """HyperNodes by their distance, those without one left out."""
        vectors, spent = self._scorer.vectors(hypernodes)
        apart = distances(vectors, query.astype(np.float64))
        order = np.lexsort((canonical(hypernodes), apart))
        order = order[apart[order] == apart[order]]
        return hypernodes[order], apart[order], spent

    def _shown(self, chosen: Chosen) -> list[EvidencePassage]:
        shown = []
        for place, (at, score) in enumerate(
            zip(chosen.passages.tolist(), chosen.scores.tolist(), strict=True)
        ):
            passage = self.index.passages[at]
            found: Literal["path", "dense"] = "path" if place < chosen.by_path else "dense"
            shown.append(EvidencePassage(passage.id, passage.text, score, passage.title, found))
        return shown


def _scorer(
    index: PassageIndex,
    rows: Rows,
    settings: RetrievalSettings,
    encoder: Callable[[], TextEncoder],
) -> Scorer:
    composition = Composition(index, rows)
    if settings.scorer == "composition":
        return composition
    encoded = Encoded(index, encoder(), settings.cached)
    if settings.scorer == "encoder":
        return encoded
    return Cascade(composition, encoded, settings.shortlist)


def _ranks(ids: Sequence[str]) -> Ids:
    """Rank of each passage in the order of ids."""
    names = list(ids)
    ranks = np.empty(len(names), np.int64)
    ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return ranks


def _numbers(found: Nearest) -> Ids:
    """Rows whose cosine is a number."""
    return found.rows[~np.isnan(found.scores)]
