"""What the directory of an index of documents holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._topk import topk
from hyperhop.cli.report import show_rows
from hyperhop.cli.show_stored import checked_words, setting_words, show_table, size_words
from hyperhop.graph.stats import QUANTILES, resident_bytes, store_statistics
from hyperhop.help import RetrievalSettings, store

ENTITIES_SHOWN = 5


def document_contents(directory: Path, verify: bool, relations: int) -> dict[str, Any]:
    """Return everything about a saved index of documents, as --json prints it."""
    index, settings = store.load(directory, verify)
    stored = store_statistics(directory)
    counts = index.triple_counts
    named = np.bincount(index.triples[:, [0, 2]].reshape(-1), minlength=index.num_entities)
    used = np.bincount(index.triples[:, 1], minlength=index.num_relations)
    return {
        "directory": str(directory),
        "kind": stored.kind,
        "format": stored.version,
        "generation": stored.generation,
        "saved": stored.saved.isoformat(timespec="seconds"),
        "verified": verify,
        "passages": index.num_passages,
        "passages_without_triples": int((counts == 0).sum()),
        "triples": index.num_triples,
        "entities": index.num_entities,
        "relations": index.num_relations,
        "synonym_links": None if index.synonyms is None else len(index.links),
        "storage": index.storage,
        "settings": settings,
        "disk_bytes": _by_use(stored.disk_bytes),
        "memory_bytes": _by_use(resident_bytes(directory)),
        "quantiles": QUANTILES,
        "triples_of_a_passage": _quantiles(counts),
        "top_entities": _most(index.entities, named, ENTITIES_SHOWN),
        "top_relations": _most(index.relations, used, relations),
    }


def show_document_contents(found: dict[str, Any]) -> None:
    """Print what `document_contents` found: two columns, then three tables."""
    links = found["synonym_links"]
    show_rows(
        [
            ("directory", f"{found['directory']} (format {found['format']})"),
            ("kind", f"{found['kind']} (documents)"),
            ("saved", f"{found['saved']} (generation {found['generation']})"),
            (
                "passages",
                f"{found['passages']:,} ({found['passages_without_triples']:,} without triples)",
            ),
            ("triples", f"{found['triples']:,}"),
            ("entities", f"{found['entities']:,}"),
            ("relations", f"{found['relations']:,}"),
            ("synonyms", "not linked" if links is None else f"{links:,} pairs linked"),
            ("vectors", found["storage"]),
            *_setting_rows(found["settings"]),
            ("on disk", size_words(found["disk_bytes"])),
            ("in memory", size_words(found["memory_bytes"])),
            ("contents", checked_words(found["verified"])),
        ]
    )
    shares = [f"{share:.0%}".replace("%", " %") for share in found["quantiles"]]
    show_table(["triples of a passage", *shares], [["distinct", *found["triples_of_a_passage"]]])
    entities, relations = found["top_entities"], found["top_relations"]
    show_table(
        [f"most named entities ({len(entities):,} of {found['entities']:,})", "triples"],
        [[entity["name"], entity["triples"]] for entity in entities],
    )
    show_table(
        [f"most used relations ({len(relations):,} of {found['relations']:,})", "triples"],
        [[relation["name"], relation["triples"]] for relation in relations],
    )


def _setting_rows(settings: dict[str, Any]) -> list[tuple[str, str]]:
    """The encoder's, and in one row all that says how the index is searched."""
    search = {f.name: settings[f.name] for f in fields(RetrievalSettings) if f.name in settings}
    others = {name: value for name, value in settings.items() if name not in search}
    rows = [(name, setting_words(value)) for name, value in others.items() if name != "synonyms"]
    return [*rows, ("search", setting_words(search) if search else "none stored")]


def _by_use(sizes: dict[str, int] | None) -> dict[str, int] | None:
    """Bytes of the vectors, and of texts and triples."""
    if sizes is None:
        return None
    told = {"vectors": 0, "texts and triples": 0}
    for kind, size in sizes.items():
        told["vectors" if kind == "vectors" else "texts and triples"] += size
    return told


def _most(names: Sequence[str], counts: npt.NDArray[np.int64], most: int) -> list[dict[str, Any]]:
    """The names with the most triples, ties by id."""
    best, values = topk(counts.astype(np.float64), min(most, len(counts)))
    return [
        {"name": names[at], "triples": int(value)} for at, value in zip(best, values, strict=True)
    ]


def _quantiles(counts: npt.NDArray[np.int64]) -> list[int]:
    """For each share the smallest count that so many of the passages do not exceed."""
    if not len(counts):
        return [0] * len(QUANTILES)
    return [int(one) for one in np.quantile(counts, QUANTILES, method="inverted_cdf")]
