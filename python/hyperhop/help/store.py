"""An index on disk: one directory, whose texts and rows are read where they lie.

Ids and offsets are read and compared with their bounds when a directory is opened; texts are
decoded, and rows read, when they are asked for. So a byte that changed may mislead, and cannot do
worse.
"""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop.graph import DamagedStore, store
from hyperhop.help.index import PassageIndex, Sources
from hyperhop.help.statements import Statements
from hyperhop.help.texts import PassageTable, TextTable
from hyperhop.text.settings import EncoderSettings

KIND = "help"
_TABLES = ("passage_ids", "passage_titles", "passage_texts", "entities", "relations", "forms")
_OPTIONAL = ("entity_embeddings",)
_DTYPES: dict[str, type[np.generic]] = {
    **dict.fromkeys(_TABLES, np.uint8),
    **{f"{table}_offsets": np.int64 for table in _TABLES},
    "passage_titled": np.uint8,
    "triples": np.int64,
    "source_offsets": np.int64,
    "source_passages": np.int64,
    "source_weights": np.float32,
    "statements": np.int64,
    "statement_offsets": np.int64,
    "links": np.int64,
    "similarities": np.float32,
}

Arrays = Mapping[str, npt.NDArray[Any]]


def arrays_of(index: PassageIndex) -> dict[str, npt.NDArray[Any]]:
    """All arrays of an index by the names they are stored under, one-dimensional.

    Equal arrays, dtype and all, mean equal indexes.
    """
    passages, sources, statements = index.passages, index.sources, index.statements
    tables = (
        passages.ids,
        passages.titles,
        passages.texts,
        index.entities,
        index.relations,
        statements.forms,
    )
    arrays: dict[str, npt.NDArray[Any]] = {}
    for name, table in zip(_TABLES, tables, strict=True):
        arrays |= {name: table.data, f"{name}_offsets": table.offsets}
    arrays |= {
        "passage_titled": passages.titled.astype(np.uint8),
        "triples": index.triples.reshape(-1),
        "source_offsets": sources.offsets,
        "source_passages": sources.passages,
        "source_weights": sources.weights,
        "statements": statements.rows.reshape(-1),
        "statement_offsets": statements.offsets,
        "links": index.links.reshape(-1),
        "similarities": index.similarities,
        "triple_embeddings": index.triple_embeddings.reshape(-1),
        "passage_embeddings": index.passage_embeddings.reshape(-1),
    }
    if index.entity_embeddings is not None:
        arrays["entity_embeddings"] = index.entity_embeddings.reshape(-1)
    return arrays


def save(
    directory: str | os.PathLike[str],
    index: PassageIndex,
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Save an index as the next generation of a directory, atomically.

    `settings` is any JSON to keep with it, such as how it is to be searched; the encoder's are kept
    anyway. Raises DamagedStore where the directory holds something else, and what `graph.store`
    raises for settings. Bytes: the texts, and 4 d (float16: 2 d) a triple and a passage, most.
    """
    store.save(
        directory,
        KIND,
        arrays_of(index),
        {
            "passages": index.num_passages,
            "triples": index.num_triples,
            "entities": index.num_entities,
            "relations": index.num_relations,
            "links": len(index.links),
        },
        {**(settings or {}), **index.encoder, "synonyms": index.synonyms},
        optional=_OPTIONAL,
    )


def load(
    directory: str | os.PathLike[str], verify: bool = False
) -> tuple[PassageIndex, dict[str, Any]]:
    """Open an index by memory map; also all settings it was saved with.

    With `verify` all files are compared with their checksums. Raises DamagedStore where the
    directory is incomplete, changed, foreign or of another version, and FileNotFoundError.
    O(passages + triples + names) without reading a text or a row.
    """
    stored = store.load(directory, KIND, verify)
    settings = stored.settings or {}
    try:
        return _index(stored.arrays, settings), settings
    except (DamagedStore, KeyError, TypeError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else error
        raise DamagedStore(f"{os.fspath(directory)} is damaged: {reason}") from None


def _index(arrays: Arrays, settings: Mapping[str, Any]) -> PassageIndex:
    """Raises DamagedStore, KeyError or TypeError for what does not go together."""
    for name, dtype in _DTYPES.items():
        if arrays[name].dtype != dtype:
            raise DamagedStore(f"{name} has dtype {arrays[name].dtype}")
    ids, titles, texts, entities, relations, forms = (
        TextTable(arrays[name], _held(arrays[f"{name}_offsets"])) for name in _TABLES
    )
    titled = _held(arrays["passage_titled"]).astype(np.bool_)
    passages = PassageTable(ids, titles, texts, titled)
    triples = _table(arrays, "triples", 3)
    bounds = (len(entities), len(relations), len(entities))
    for column, bound in zip(triples.T, bounds, strict=True):
        _check_ids("triples", column, bound)
    sources = Sources(
        _held(arrays["source_offsets"]),
        _held(arrays["source_passages"]),
        _held(arrays["source_weights"]),
    )
    _check_ids("source_passages", sources.passages, len(passages))
    _check_offsets("source_offsets", sources.offsets, len(triples), len(sources.passages))
    statements = Statements(
        forms, _table(arrays, "statements", 3), _held(arrays["statement_offsets"])
    )
    _check_ids("statements", statements.rows, len(forms))
    _check_offsets("statement_offsets", statements.offsets, len(passages), len(statements.rows))
    links = _table(arrays, "links", 2)
    _check_ids("links", links, len(entities))
    similarities = _held(arrays["similarities"])
    if len(similarities) != len(links):
        raise DamagedStore("similarities does not fit links")
    for name, length in (
        ("statements", len(statements.rows)),
        ("source_weights", len(sources.weights)),
    ):
        if length != len(sources.passages):
            raise DamagedStore(f"{name} does not fit source_passages")
    dim, synonyms = settings["encoder_dim"], settings["synonyms"]
    rows = {"triple_embeddings": len(triples), "passage_embeddings": len(passages)}
    if synonyms is not None:
        rows["entity_embeddings"] = len(entities)
    stored = arrays["passage_embeddings"].dtype
    for name, count in rows.items():
        if arrays[name].dtype != stored or stored not in (np.float32, np.float16):
            raise DamagedStore(f"{name} has dtype {arrays[name].dtype}")
        if len(arrays[name]) != count * dim:
            raise DamagedStore(f"{name} does not hold {count} rows of {dim}")
    return PassageIndex(
        passages=passages,
        entities=entities,
        relations=relations,
        triples=triples,
        sources=sources,
        statements=statements,
        triple_embeddings=arrays["triple_embeddings"].reshape(-1, dim),
        passage_embeddings=arrays["passage_embeddings"].reshape(-1, dim),
        entity_embeddings=(
            None if synonyms is None else arrays["entity_embeddings"].reshape(-1, dim)
        ),
        links=links,
        similarities=similarities,
        synonyms=synonyms,
        encoder=_encoder(settings),
    )


def _encoder(settings: Mapping[str, Any]) -> EncoderSettings:
    found = EncoderSettings(
        encoder=settings["encoder"],
        encoder_dim=settings["encoder_dim"],
        query_prompt=settings["query_prompt"],
    )
    if "encoder_id" in settings:
        found["encoder_id"] = settings["encoder_id"]
    return found


def _held(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A copy in memory: a file may still change after it was checked."""
    return array.copy()


def _table(arrays: Arrays, name: str, columns: int) -> npt.NDArray[np.int64]:
    if len(arrays[name]) % columns:
        raise DamagedStore(f"{name} does not hold rows of {columns}")
    return _held(arrays[name]).reshape(-1, columns)


def _check_ids(name: str, ids: npt.NDArray[np.int64], bound: int) -> None:
    if ids.size and not 0 <= ids.min() <= ids.max() < bound:
        raise DamagedStore(f"{name} holds an unknown id")


def _check_offsets(name: str, offsets: npt.NDArray[np.int64], count: int, end: int) -> None:
    if len(offsets) != count + 1 or offsets[0] != 0 or offsets[-1] != end:
        raise DamagedStore(f"{name} does not fit the counts")
    if (offsets[1:] < offsets[:-1]).any():
        raise DamagedStore(f"{name} does not ascend")
