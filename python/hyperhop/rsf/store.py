"""A trained model on disk: one directory with its graph, its texts' vectors and its weights."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from hyperhop.graph import DamagedStore, KnowledgeGraph, store
from hyperhop.graph.arguments import at_least
from hyperhop.graph.schema import SCHEMA_DTYPES
from hyperhop.rsf.config import RSFConfig
from hyperhop.rsf.graphs import FlowRelations
from hyperhop.rsf.network import Network, Shape, Weights, weight_shapes
from hyperhop.rsf.text import Floats, Mention, TextTables
from hyperhop.text import TextEncoder, encoder_settings

KIND = "rsf"


@dataclass(frozen=True, eq=False)
class StoredModel:
    """What a model's directory holds.

    Attributes:
        kg: its graph.
        config: the model's switches.
        weights: float32 arrays by the names of `RSFModel.state_dict()`.
        tables: vectors of entities and symbols.
        radius: of the ball around a topic that flows go over.
        mention: whether questions name their topic when they are encoded.
        answer_share: which entities answer, see `hyperhop.rsf.cut.answer_count`.
        settings: all that is stored as JSON, the encoder's among it.
    """

    kg: KnowledgeGraph
    config: RSFConfig
    weights: dict[str, Floats]
    tables: TextTables
    radius: int
    mention: Mention
    answer_share: float | None
    settings: dict[str, Any]

    @property
    def num_parameters(self) -> int:
        """How many numbers were learned."""
        return sum(array.size for array in self.weights.values())


def save(
    directory: str | os.PathLike[str],
    kg: KnowledgeGraph,
    config: RSFConfig,
    weights: Weights,
    tables: TextTables,
    encoder: TextEncoder,
    *,
    radius: int | None = None,
    mention: Mention = "kept",
    answer_share: float | None = None,
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Save a model as the next generation of a directory, atomically.

    Args:
        directory: created if it is not there.
        kg: the graph, saved with it.
        config, weights: of the model; weights are arrays by name.
        tables: vectors of this graph's entities and symbols by `encoder`.
        encoder: what questions must be encoded with.
        radius: of the balls that it was trained on; None for `config.hops`.
        mention: how questions were encoded, see `asked`.
        answer_share: chosen on dev questions, see `hyperhop.rsf.cut.answer_count`; None for none.
        settings: any more JSON to keep, such as how it was trained.

    Raises ValueError where weights or tables do not fit, DamagedStore where the directory holds
    something else. Bytes: 4 a weight and 4 text_dim an entity, beside the graph.
    """
    chosen = config.hops if radius is None else at_least("save", "radius", radius, 0)
    _mention(mention)
    answer_share_of(answer_share)
    for name, rows, count in (
        ("entities", tables.entities, kg.num_entity_ids),
        ("relations", tables.relations, FlowRelations(kg).num_symbols),
    ):
        if rows is not None and rows.shape != (count, encoder.dim):
            raise ValueError(
                f"save: tables.{name} must have shape ({count}, {encoder.dim}), got {rows.shape}"
            )
    Network(config, weights, tables.relations)  # whether they go together
    if config.reads_texts and tables.entities is None:
        raise ValueError("save: tables.entities must be given to a model that reads them, got None")
    names = sorted(weights)
    flat = [np.asarray(weights[name], np.float32).reshape(-1) for name in names]
    store.save(
        directory,
        KIND,
        {
            **kg._arrays,
            "weights": np.concatenate(flat),
            **({} if tables.entities is None else {"text_entities": _flat(tables.entities)}),
            "text_relations": _flat(tables.relations),
        },
        {
            "entities": kg.num_entities,
            "relations": kg.num_relations,
            "triples": kg.num_triples,
            "parameters": sum(part.size for part in flat),
        },
        {
            **encoder_settings(encoder),
            "model": config.to_dict(),
            "radius": chosen,
            "mention": mention,
            "answer_share": answer_share,
            **(settings or {}),
        },
        optional=(*SCHEMA_DTYPES, "text_entities"),
    )


def load(directory: str | os.PathLike[str], verify: bool = False) -> StoredModel:
    """Open a model's directory by memory map.

    With `verify` all files are compared with their checksums. Raises DamagedStore where the
    directory is incomplete, changed, foreign or of another version, and FileNotFoundError.
    """
    stored = store.load(directory, KIND, verify)
    kg = KnowledgeGraph._of_stored(directory, stored)
    settings = stored.settings or {}
    try:
        config = RSFConfig.from_dict(settings["model"])
        dim, radius = int(settings["encoder_dim"]), int(settings["radius"])
        mention = _mention(settings["mention"])
        share = answer_share_of(settings.get("answer_share"))  # older models have none
        shapes = weight_shapes(config, dim)
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedStore(
            f"{os.fspath(directory)} holds a model that this hyperhop cannot run: {error}"
        ) from None
    sizes = {
        "weights": sum(map(math.prod, shapes.values())),
        "text_entities": kg.num_entity_ids * dim,
        "text_relations": (2 * kg.num_relation_ids + 1) * dim,
    }
    if not config.reads_texts and "text_entities" not in stored.arrays:
        del sizes["text_entities"]
    for name, size in sizes.items():
        array = stored.arrays.get(name)
        if array is None or array.dtype != np.float32 or len(array) != size:
            raise DamagedStore(f"{os.fspath(directory)} is damaged: {name} does not fit the model")
    entities = stored.arrays.get("text_entities")
    tables = TextTables(
        None if entities is None else entities.reshape(-1, dim),
        stored.arrays["text_relations"].reshape(-1, dim),
    )
    weights = _named(stored.arrays["weights"], shapes)
    return StoredModel(kg, config, weights, tables, radius, mention, share, settings)


def answer_share_of(value: Any) -> float | None:
    """The share, checked: None, or above 0 and at most 1. ValueError for others."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise ValueError(f"answer_share must be above 0 and at most 1, or None, got {value!r}")
    return float(value)


def _mention(value: Any) -> Mention:
    if value not in get_args(Mention):
        raise ValueError(f"mention must be kept or hidden, got {value!r}")
    found: Mention = value
    return found


def _flat(rows: Floats) -> Floats:
    return np.ascontiguousarray(rows, np.float32).reshape(-1)


def _named(flat: npt.NDArray[np.float32], shapes: Mapping[str, Shape]) -> dict[str, Floats]:
    """Weights by name, cut out of one array in the order of their names."""
    found, start = {}, 0
    for name in sorted(shapes):
        size = math.prod(shapes[name])
        found[name] = flat[start : start + size].reshape(shapes[name])
        start += size
    return found
