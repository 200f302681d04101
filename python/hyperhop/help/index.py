"""The index of a corpus: passages, the graph of their triples, and what ties the two together."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hyperhop.help.statements import Statements
from hyperhop.help.texts import PassageTable, TextTable
from hyperhop.help.triples import Triple
from hyperhop.hypernode import TripleIndex
from hyperhop.text.settings import EncoderSettings

Storage = Literal["float32", "float16"]
Weighting = Literal["inverse", "root", "equal"]

_BETWEEN_TRIPLES = ". "


@dataclass(frozen=True, eq=False)
class Sources:
    """Which passages state a triple (HELP, section 3.1): compressed rows, by triple.

    Attributes:
        offsets: int64 (T + 1,), the entries of each triple; there is at least one.
        passages: int64 (M,), positions of passages, ascending within a triple.
        weights: float32 (M,), w = 1 / |T_i|, where |T_i| counts the distinct triples of the
            passage.
    """

    offsets: npt.NDArray[np.int64]
    passages: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class PassageIndex:
    """A corpus ready for retrieval; immutable. Made by `build_index`, `load`, `add` and the like.

    Names of equal `name_key` are one entity, or one relation; it is shown in the form that passages
    write most often (of equally frequent ones the first by text). Ids are ranks of the text shown,
    and a triple's id is its rank by (head, relation, tail): so the graph does not depend on the
    order of the passages. Passages are known by their position.

    Attributes:
        passages: all passages, as they were given.
        entities, relations: the names shown, ascending.
        triples: int64 (T, 3), distinct (head, relation, tail) ids, ascending.
        sources: the passages of each triple.
        statements: what each passage states, in its own words.
        triple_embeddings: (T, d) float32 or float16, unit rows of `triple_text`; zero where the
            text has no words, NaN where the encoder gave a number that is not finite.
        passage_embeddings: (P, d), likewise of `Passage.full_text`.
        entity_embeddings: (E, d), likewise of the names; None without synonyms.
        links: int64 (L, 2), pairs of entities that count as one when triples are joined, the lower
            id first, ascending; none without synonyms.
        similarities: float32 (L,), their cosines.
        synonyms: the least cosine of a link; None without synonyms.
        encoder: settings of the encoder.
    """

    passages: PassageTable
    entities: TextTable
    relations: TextTable
    triples: npt.NDArray[np.int64]
    sources: Sources
    statements: Statements
    triple_embeddings: npt.NDArray[Any]
    passage_embeddings: npt.NDArray[Any]
    entity_embeddings: npt.NDArray[Any] | None
    links: npt.NDArray[np.int64]
    similarities: npt.NDArray[np.float32]
    synonyms: float | None
    encoder: EncoderSettings

    @property
    def num_passages(self) -> int:
        """P."""
        return len(self.passages)

    @property
    def num_triples(self) -> int:
        """T, distinct over the corpus."""
        return len(self.triples)

    @property
    def num_entities(self) -> int:
        """E."""
        return len(self.entities)

    @property
    def num_relations(self) -> int:
        """R."""
        return len(self.relations)

    @property
    def storage(self) -> Storage:
        """The dtype that embeddings are kept in."""
        return "float16" if self.triple_embeddings.dtype == np.float16 else "float32"

    @property
    def triple_counts(self) -> npt.NDArray[np.int64]:
        """Int64 (P,): how many distinct triples each passage states."""
        return np.diff(self.statements.offsets)

    @cached_property
    def triple_index(self) -> TripleIndex:
        """What HyperNodes are expanded over; made once. O(T + L)."""
        heads, tails = self.triples[:, 0], self.triples[:, 2]
        return TripleIndex(heads, tails, self.num_entities, links=self.links)

    def source_weights(self, weighting: Weighting = "inverse") -> npt.NDArray[np.float32]:
        """Float32 (M,): other weights for `sources`, from the number n of a passage's triples.

        "inverse" is the paper's 1 / n, "root" 1 / sqrt(n), "equal" 1.
        ValueError for another weighting.
        """
        if weighting == "inverse":
            return self.sources.weights
        if weighting == "equal":
            return np.ones(len(self.sources.passages), np.float32)
        if weighting != "root":
            raise ValueError(
                f"source_weights: weighting must be inverse, root or equal, got {weighting!r}"
            )
        return (1 / np.sqrt(self.triple_counts[self.sources.passages])).astype(np.float32)

    def triple(self, triple: int) -> Triple:
        """Head, relation and tail of a triple id, as they are shown."""
        head, relation, tail = self.triples[triple]
        return self.entities[head], self.relations[relation], self.entities[tail]

    def triple_text(self, triple: int) -> str:
        """What of a triple is embedded: its parts, joined by a space."""
        return joined_parts(*self.triple(triple))

    def serialize(self, hypernode: Iterable[int]) -> str:
        """S(H) of equation 2: the texts of a HyperNode's triples, in order, joined by ". ".

        The order is that of the text shown, which is that of the ids. The -1 that pads a row is
        left out.
        """
        ids = sorted(int(triple) for triple in hypernode if triple >= 0)
        return _BETWEEN_TRIPLES.join(map(self.triple_text, ids))


def joined_parts(head: str, relation: str, tail: str) -> str:
    """The text of a triple."""
    return f"{head} {relation} {tail}"
