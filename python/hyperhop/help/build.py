"""Building an index from passages and the triples they state."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from hyperhop.help.assemble import assemble
from hyperhop.help.extracted import Extraction
from hyperhop.help.index import PassageIndex, Storage
from hyperhop.help.passages import Passage, as_passages
from hyperhop.help.statements import Statements
from hyperhop.help.texts import PassageTable
from hyperhop.help.triples import Triple
from hyperhop.text import TextEncoder, get_encoder
from hyperhop.text.batches import Progress

Triples = Iterable[Iterable[Triple]] | Mapping[str, Iterable[Triple]] | Extraction
_log = logging.getLogger(__name__)


def build_index(
    passages: Iterable[Passage | str | Mapping[str, Any]] | None,
    triples: Triples | None = None,
    encoder: str | TextEncoder = "hashing",
    *,
    storage: Storage = "float32",
    synonyms: float | None = None,
    progress: Progress | None = None,
) -> PassageIndex:
    """The index of a corpus (HELP, section 3.1).

    A passage without triples, or without text, is kept, for dense retrieval; so is every one of
    several equal passages. Triples whose names have equal keys (`name_key`) are one triple, with
    each passage that states it.

    Args:
        passages: see `as_passages`; None for those of an Extraction.
        triples: of (head, relation, tail), one list a passage, or lists by passage id (a passage
            that has none may be left out), or an Extraction, whose failed passages have none. None
            for no triples at all.
        encoder: of triples, passages and questions, or its name. Give a `CachedEncoder` to encode
            each text once in the life of its folder.
        storage: dtype of the stored rows. float16 takes half the room and changes a cosine by 1e-3
            at most.
        synonyms: cosine of two names from which on they are linked, above 0 and at most 1, if they
            hold the same numbers; None for no links. Every entity is then encoded too, and compared
            with every other one.
        progress: called with (texts encoded, in all).

    Raises ValueError for a list of triples too many or too few, a passage id that is not there, a
    part of a triple that is blank or not valid Unicode, and bad arguments; TypeError for what is no
    triple of strings; what the encoder raises. A row that is not finite becomes NaN and is
    logged; nothing with such a row is ever found before something else.

    O(texts encoded + triples log triples); with synonyms O(entities^2 dim). Memory: the index, its
    passages once, and a batch of texts.
    """
    if storage not in get_args(Storage):
        raise ValueError(f"build_index: storage must be float32 or float16, got {storage!r}")
    if synonyms is not None and not 0 < synonyms <= 1:
        raise ValueError(
            f"build_index: synonyms must be above 0 and at most 1, or None, got {synonyms!r}"
        )
    if passages is None:
        if not isinstance(triples, Extraction):
            raise TypeError("build_index: passages must be given unless triples is an Extraction")
        passages = [one.passage for one in triples.passages]
    listed = as_passages(passages)
    statements = Statements.of(triples_of("build_index", listed, triples))
    chosen = get_encoder(encoder) if isinstance(encoder, str) else encoder
    return assemble(PassageTable.of(listed), statements, chosen, storage, synonyms, progress)


def triples_of(
    function: str, passages: Sequence[Passage], triples: Triples | None
) -> list[list[Triple]]:
    """One list of checked triples a passage."""
    if triples is None:
        return [[] for _ in passages]
    if isinstance(triples, Extraction):
        failed = triples.failed
        if failed:
            _log.warning("%d passages have no triples: their extraction failed", len(failed))
        triples = {one.id: one.triples for one in triples.passages}
    if isinstance(triples, Mapping):
        unknown = triples.keys() - {passage.id for passage in passages}
        if unknown:
            raise ValueError(
                f"{function}: triples holds {min(unknown)!r}, which no passage has as id"
            )
        triples = [triples.get(passage.id, ()) for passage in passages]
    lists = [list(one) for one in triples]
    if len(lists) != len(passages):
        raise ValueError(
            f"{function}: triples must hold one list for each of {len(passages)} passages, "
            f"got {len(lists)}"
        )
    return [
        [_checked(function, passage, triple) for triple in one]
        for passage, one in zip(passages, lists, strict=True)
    ]


def _checked(function: str, passage: Passage, triple: Any) -> Triple:
    parts = tuple(triple) if isinstance(triple, list | tuple) else ()
    if len(parts) != 3 or not all(isinstance(part, str) for part in parts):
        raise TypeError(
            f"{function}: a triple must be (head, relation, tail) of str, got {triple!r} "
            f"for the passage {passage.id!r}"
        )
    head, relation, tail = parts
    for part in parts:
        if not part.strip():
            raise ValueError(f"{function}: a triple of the passage {passage.id!r} has a blank part")
        try:
            part.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError(
                f"{function}: a triple of the passage {passage.id!r} holds a lone surrogate"
            ) from None
    return head, relation, tail
