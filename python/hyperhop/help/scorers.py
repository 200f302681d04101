"""Scorers: how near a HyperNode is to a question, and one level of algorithm 1 by it."""

from collections.abc import Sequence
from threading import Lock
from typing import Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from hyperhop.help.context import unit
from hyperhop.help.dense import Rows, cosine_rows
from hyperhop.help.index import PassageIndex
from hyperhop.hypernode import beam_step, expand
from hyperhop.text import TextEncoder

Ids = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Queries = npt.NDArray[np.float32]
ScorerName = Literal["composition", "encoder", "cascade"]

_BLOCK = 1024  # HyperNodes encoded in one call, and vectors held at once
CACHED = 1 << 16  # texts whose vectors an encoder's cache keeps


class Beam(NamedTuple):
    """HyperNodes of Q questions, best first: int64 (n, levels) padded with -1, offsets (Q + 1,)."""

    hypernodes: Ids
    offsets: Ids

    def of(self, question: int) -> Ids:
        """Those of one question."""
        return self.hypernodes[self.offsets[question] : self.offsets[question + 1]]


class Spent(NamedTuple):
    """HyperNodes encoded, and HyperNodes whose vector the cache held."""

    encoded: int = 0
    hits: int = 0

    def plus(self, other: "Spent") -> "Spent":
        """Both together."""
        return Spent(self.encoded + other.encoded, self.hits + other.hits)


class Scorer(Protocol):
    """What algorithm 1 needs of a scorer."""

    name: ScorerName

    def step(
        self, beam: Beam, queries: Queries, k: int, keep_parents: bool, threads: int | None
    ) -> tuple[Beam, list[Spent]]:
        """The k best HyperNodes one triple larger, for each question, and what it took.

        Equal ones are in the canonical order of `hypernode.expand`.
        """
        ...

    def vectors(self, hypernodes: Ids) -> tuple[Floats, Spent]:
        """Unit vectors (n, d) of HyperNodes; zero rows where there is none."""
        ...


class Composition:
    """A HyperNode's vector is the normalised sum of those of its triples: nothing is encoded."""

    name: ScorerName = "composition"

    def __init__(self, index: PassageIndex, rows: Rows) -> None:
        """`rows` (T, d): a unit vector of each triple, or zero."""
        self._index, self._rows = index, rows

    def step(
        self, beam: Beam, queries: Queries, k: int, keep_parents: bool, threads: int | None
    ) -> tuple[Beam, list[Spent]]:
        """See `Scorer`; one call of the kernel for all questions."""
        rows, _, offsets = beam_step(
            self._index.triple_index,
            beam.hypernodes,
            self._rows,
            queries,
            k,
            offsets=beam.offsets,
            keep_parents=keep_parents,
            threads=threads,
        )
        return Beam(rows, offsets), [Spent()] * len(queries)

    def vectors(self, hypernodes: Ids) -> tuple[Floats, Spent]:
        """See `Scorer`; sums in float64, in the canonical order of the triples."""
        total = np.zeros((len(hypernodes), self._rows.shape[1]))
        for column in hypernodes.T:
            real = column >= 0
            total[real] += self._rows[column[real]]
        return unit(total), Spent()


class Encoded:
    """A HyperNode's vector is what the encoder makes of its text S(H), as the paper has it.

    Vectors are kept by text, `cached` of them at most, those least recently used leave first. Of a
    single triple the index holds it. May be used by several threads.
    """

    name: ScorerName = "encoder"

    def __init__(self, index: PassageIndex, encoder: TextEncoder, cached: int = CACHED) -> None:
        self._index, self._encoder, self._cached = index, encoder, cached
        self._kept: dict[str, npt.NDArray[np.float32]] = {}
        self._lock = Lock()

    def step(
        self, beam: Beam, queries: Queries, k: int, keep_parents: bool, threads: int | None
    ) -> tuple[Beam, list[Spent]]:
        """See `Scorer`; candidates are encoded in blocks."""
        candidates = Beam(
            *expand(
                self._index.triple_index,
                beam.hypernodes,
                keep_parents=keep_parents,
                offsets=beam.offsets,
                threads=threads,
            )
        )
        return self.best(candidates, queries, k)

    def best(self, candidates: Beam, queries: Queries, k: int) -> tuple[Beam, list[Spent]]:
        """The k best candidates of each question; equal ones in the order of their triples."""
        kept, spent = [], []
        for question, query in enumerate(queries):
            rows = candidates.of(question)
            cosines, took = self._cosines(rows, query)
            order = np.lexsort((canonical(rows), -cosines))[:k]
            kept.append(rows[order])
            spent.append(took)
        return joined(kept, candidates.hypernodes.shape[1]), spent

    def vectors(self, hypernodes: Ids) -> tuple[Floats, Spent]:
        """See `Scorer`."""
        out = np.zeros((len(hypernodes), self._index.triple_embeddings.shape[1]))
        single = (hypernodes >= 0).sum(axis=1) == 1
        out[single] = self._index.triple_embeddings[hypernodes[single].max(axis=1, initial=-1)]
        larger = np.flatnonzero(~single)
        texts = [self._index.serialize(row[row >= 0]) for row in hypernodes[larger]]
        out[larger], spent = self._encode(texts)
        return unit(out), spent

    def _cosines(self, rows: Ids, query: npt.NDArray[np.float32]) -> tuple[Floats, Spent]:
        cosines, spent = np.empty(len(rows)), Spent()
        for start in range(0, len(rows), _BLOCK):
            vectors, took = self.vectors(rows[start : start + _BLOCK])
            cosines[start : start + _BLOCK] = cosine_rows(vectors, query)
            spent = spent.plus(took)
        return cosines, spent

    def _encode(self, texts: Sequence[str]) -> tuple[npt.NDArray[np.float32], Spent]:
        rows = np.empty((len(texts), self._index.triple_embeddings.shape[1]), np.float32)
        with self._lock:
            known = {text: self._kept.pop(text) for text in set(texts).intersection(self._kept)}
            self._keep(known)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            fresh = dict(zip(missing, self._encoder.encode(missing), strict=True))
            with self._lock:
                self._keep(fresh)
            known |= fresh
        for place, text in enumerate(texts):
            rows[place] = known[text]
        return rows, Spent(len(missing), len(texts) - len(missing))

    def _keep(self, vectors: dict[str, npt.NDArray[np.float32]]) -> None:
        """The last ones used stand last; what is one too many leaves at the front."""
        for text in vectors:
            self._kept.pop(text, None)
        self._kept |= vectors
        for text in list(self._kept)[: max(0, len(self._kept) - self._cached)]:
            del self._kept[text]


class Cascade:
    """A shortlist by composition, of which the encoder then keeps the best."""

    name: ScorerName = "cascade"

    def __init__(self, composition: Composition, encoded: Encoded, shortlist: int) -> None:
        self._composition, self._encoded = composition, encoded
        self._shortlist = shortlist

    def step(
        self, beam: Beam, queries: Queries, k: int, keep_parents: bool, threads: int | None
    ) -> tuple[Beam, list[Spent]]:
        """See `Scorer`."""
        most = max(k, self._shortlist)
        shortlist, _ = self._composition.step(beam, queries, most, keep_parents, threads)
        return self._encoded.best(shortlist, queries, k)

    def vectors(self, hypernodes: Ids) -> tuple[Floats, Spent]:
        """See `Scorer`: the encoder's."""
        return self._encoded.vectors(hypernodes)


def joined(rows: Sequence[Ids], width: int) -> Beam:
    """The HyperNodes of many questions as one beam of rows of `width` triples."""
    sizes = np.array([0, *map(len, rows)], np.int64)
    total = np.concatenate(rows) if rows else np.empty((0, width), np.int64)
    return Beam(total, np.cumsum(sizes))


def canonical(rows: Ids) -> Ids:
    """Rank of each row in the order of its triples, whose ids are ranks of their texts.

    Where one begins with all of another, the shorter one comes first. O(n log n).
    """
    places = np.empty(len(rows), np.int64)
    places[np.lexsort(rows.T[::-1])] = np.arange(len(rows))
    return places
