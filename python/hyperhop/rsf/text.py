"""What a flow reads, as vectors of one encoder: entities, relations and questions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from hyperhop.graph import KnowledgeGraph
from hyperhop.rsf.graphs import FlowRelations
from hyperhop.text import TextEncoder, Verbalizer, encode_all, encode_queries
from hyperhop.text.batches import Progress
from hyperhop.text.mention import find_mention
from hyperhop.text.verbalize import is_opaque

Floats = npt.NDArray[np.float32]
Mention = Literal["kept", "hidden"]

_HIDDEN = "it"  # what stands in a question where its topic was named


@dataclass(frozen=True, eq=False)
class TextTables:
    """Vectors of texts by id.

    Attributes:
        entities: float32 (V, d), a row an entity id; zero where the name is an id without words
            (`m.0abc`) or the id is retired. None where a model does not read them.
        relations: float32 (2 R + 1, d), a row a symbol of `FlowRelations`.
    """

    entities: Floats | None
    relations: Floats

    @property
    def dim(self) -> int:
        """Length of a vector d."""
        return int(self.relations.shape[1])


def text_tables(
    kg: KnowledgeGraph,
    relations: FlowRelations,
    encoder: TextEncoder,
    verbalizer: Verbalizer | None = None,
    progress: Progress | None = None,
    *,
    entities: bool = True,
) -> TextTables:
    """Encode every symbol of a graph and, unless `entities` is False, every entity.

    Give a `CachedEncoder` to encode each text once in the life of its folder. `progress` is told
    (texts done, of). O(V + R) texts, 4 d bytes each.
    """
    words = Verbalizer() if verbalizer is None else verbalizer
    rows = encode_entities(kg, encoder, words, progress) if entities else None
    return TextTables(rows, encode_all(encoder, relations.texts(words)))


def encode_entities(
    kg: KnowledgeGraph,
    encoder: TextEncoder,
    verbalizer: Verbalizer | None = None,
    progress: Progress | None = None,
) -> Floats:
    """The entities' rows alone: float32 (num_entity_ids, dim)."""
    words = Verbalizer() if verbalizer is None else verbalizer
    ids = kg.entity_ids
    rows = np.zeros((kg.num_entity_ids, encoder.dim), np.float32)
    rows[ids] = encode_all(encoder, entity_texts(kg.entity_names(ids), words), progress=progress)
    return rows


def entity_texts(names: Sequence[str], verbalizer: Verbalizer) -> list[str]:
    """What is encoded of entities: label or name, "_" as a space; "" of an id without words."""
    labels = map(verbalizer.entity, names)
    return ["" if is_opaque(label) else label.replace("_", " ") for label in labels]


@dataclass(frozen=True, eq=False)
class QuestionVectors:
    """G questions as a model reads them.

    Attributes:
        pooled: float32 (G, d), a row a question.
        states: float32 (total, d), token states of all questions, or None where only the pooled
            vectors are read.
        offsets: int64 (G + 1,), where each question's states start, or None as `states`.
    """

    pooled: Floats
    states: Floats | None = None
    offsets: npt.NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.pooled)

    def take(self, places: Sequence[int] | npt.NDArray[np.integer]) -> "QuestionVectors":
        """Questions by place, in this order."""
        chosen = np.asarray(places, np.int64)
        if self.states is None or self.offsets is None:
            return QuestionVectors(self.pooled[chosen])
        counts = np.diff(self.offsets)[chosen]
        offsets = np.zeros(len(chosen) + 1, np.int64)
        np.cumsum(counts, out=offsets[1:])
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], counts)
        return QuestionVectors(self.pooled[chosen], self.states[rows], offsets)


def question_vectors(
    encoder: TextEncoder, questions: Sequence[str], tokens: bool = False
) -> QuestionVectors:
    """Encode questions, with the encoder's prompt for them; `tokens` also gives their states.

    ValueError where the encoder has no token states.
    """
    pooled = encode_queries(encoder, questions)
    if not tokens:
        return QuestionVectors(pooled)
    encode_tokens = getattr(encoder, "encode_tokens", None)
    if encode_tokens is None:
        raise ValueError(
            f"the encoder {encoder.name!r} has no token states, which this model reads: "
            "take wordllama, minilm or a sentence-transformers model"
        )
    states, offsets = encode_tokens(list(questions))
    return QuestionVectors(pooled, states, offsets)


def asked(question: str, topics: Sequence[str], mention: Mention) -> str:
    """The question as it is encoded: "hidden" puts "it" where it names a topic.

    What the topic is called says nothing of where to go from it. "_" is a space, as it is in the
    texts of entities and relations.
    """
    for topic in topics if mention == "hidden" else ():
        span = find_mention(question, topic)
        if span is not None:
            question = f"{question[: span[0]]}{_HIDDEN}{question[span[1] :]}"
    return question.replace("_", " ")
