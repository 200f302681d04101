"""The retrieval of HELP over one index: algorithm 1, eq. 4 and the hybrid quota."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from hyperhop.evidence import Evidence, EvidencePassage, EvidenceScoring
from hyperhop.help.context import contextual_rows
from hyperhop.help.dense import Added, FlatSearch, Nearest, Rows, among
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


_SHARES = 1 << 21  # of passages in words, held at once: 16 MiB


class _AddedToOne(NamedTuple):
    """What is added to the cosines of one question: for words, and to the passages it names."""

    shares: Added
    named: Ids


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
        self._stated, self._states = _triples_by_passage(index)
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
        at_once = max(1, len(questions))
        if self._wording is not None:
            at_once = max(1, _SHARES // max(1, self._wording.count))
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
        named = [self._named(question) for question in questions]
        found = self._triples.search(queries, how.n, threads)
        seeds = [_numbers(self._seeds(*one)) for one in zip(queries, found, named, strict=True)]
        clock.lap("seeds")
        beam, spent = expand_levels(
            self._scorer, seeds, queries, how.levels, how.k, how.keep_parents, threads
        )
        clock.lap("expand")
        extra = None
        if self._wording is not None:
            extra = how.lexical * np.stack([self._wording.shares(one) for one in questions])
        dense = self._passages.search(queries, how.passages, threads, extra=extra)
        clock.lap("dense")
        evidence = []
        for place, query in enumerate(queries):
            added = _AddedToOne(None if extra is None else extra[place], named[place])
            evidence.append(
                self._evidence(beam.of(place), query, dense[place], added, spent[place])
            )
        clock.lap("locate")
        return evidence

    def _named(self, question: str) -> Ids:
        """Passages whose title a question names."""
        return np.empty(0, np.int64) if self._titles is None else self._titles.named(question)

    def _seeds(self, query: npt.NDArray[np.float32], found: Nearest, named: Ids) -> Nearest:
        """The nearest triples, those of the passages named being nearer than they are."""
        triples = [self._stated[self._states[one] : self._states[one + 1]] for one in named]
        if not triples:
            return found
        places = np.unique(np.concatenate(triples))
        return self._triples.raised(query, found, places, self.settings.named)

    def _evidence(
        self,
        hypernodes: Ids,
        query: npt.NDArray[np.float32],
        dense: Nearest,
        added: _AddedToOne,
        spent: Spent,
    ) -> Evidence:
        """What the last beam of one question leads to."""
        how = self.settings
        dense = self._passages.raised(query, dense, added.named, how.named, added.shares)
        hypernodes, apart, again = self._measured(hypernodes, query)
        located = localize(
            self.index.sources, self._weights, self._ranks, hypernodes, how.sharpness * apart
        )
        if how.relevance:
            located = self._relevant(located, query, added)
        chosen = choose(located, dense, how.quota, how.passages)
        return Evidence(
            passages=self._shown(chosen),
            hypernodes=NamedHyperNodes(self.index, hypernodes, apart, chosen.passages),
            scoring=EvidenceScoring(how.scorer, spent.encoded + again.encoded, spent.hits),
        )

    def _relevant(
        self, located: Localized, query: npt.NDArray[np.float32], added: _AddedToOne
    ) -> Localized:
        """Passages by the score of eq. 4 times what dense retrieval makes of them."""
        how = self.settings
        scores = self._passages.scores(query, located.passages, added.shares)
        scores += how.named * among(located.passages, added.named)
        factors = np.exp(how.relevance * (np.nan_to_num(scores) - 1))
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


def _triples_by_passage(index: PassageIndex) -> tuple[Ids, Ids]:
    """The triples that each passage states, and where those of each begin, (P + 1,)."""
    sources = index.sources
    triples = np.repeat(np.arange(index.num_triples), np.diff(sources.offsets))
    counts = np.bincount(sources.passages, minlength=index.num_passages)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return triples[np.argsort(sources.passages, kind="stable")], starts


def _ranks(ids: Sequence[str]) -> Ids:
    """Rank of each passage in the order of ids."""
    names = list(ids)
    ranks = np.empty(len(names), np.int64)
    ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return ranks


def _numbers(found: Nearest) -> Ids:
    """Rows whose cosine is a number."""
    return found.rows[~np.isnan(found.scores)]
