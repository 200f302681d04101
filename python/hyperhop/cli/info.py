"""``hyperhop info``: what is installed, and what a graph directory holds."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

import hyperhop
from hyperhop import _core
from hyperhop.cli.info_documents import document_contents, show_document_contents
from hyperhop.cli.report import busy, show_rows, speaks_utf8
from hyperhop.cli.show_stored import checked_words, setting_words, show_table, size_words
from hyperhop.graph import KnowledgeGraph, store
from hyperhop.graph.stats import QUANTILES, resident_bytes, store_statistics
from hyperhop.help import store as help_store
from hyperhop.rsf import store as rsf_store

# Optional part -> the extra that installs it.
PARTS = {
    "countryinfo": "demo",
    "babel": "demo",
    "wordllama": "text",
    "openai": "llm",
    "json_repair": "llm",
    "xllamacpp": "local",
    "onnxruntime": "minilm",
    "sentence_transformers": "sentence-transformers",
    "torch": "torch",
    "transformers": "transformers",
    "accelerate": "finetune",
    "peft": "finetune",
    "faiss": "faiss",
    "pyarrow": "arrow",
    "pyoxigraph": "rdf",
    "rapidfuzz": "link",
    "networkx": "networkx",
    "torch_geometric": "pyg",
    "scipy": "scipy",
}


def info(
    directory: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="Directory of a saved index or a trained model."),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Also check the contents of every file in DIR.")
    ] = False,
    relations: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="How many of the relations are listed (10)."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what is installed here, or what the directory of an index or a trained model holds.

    Of a graph: its size on disk and in memory, how many facts its entities have (half of them at
    most the number under 50 %, and so on), its largest hubs and its most used relations. Of
    documents: passages and their triples, and what is named most. All settings that were stored.

    \b
    Examples:
      hyperhop info
      hyperhop info mygraph
      hyperhop info mygraph --relations 100
      hyperhop info mydocs --verify
    """
    if directory is None:
        if verify or relations is not None:
            raise typer.BadParameter(f"{'--verify' if verify else '--relations'} needs DIR")
        found: dict[str, Any] = installation()
    else:
        with busy(f"checking {directory}" if verify else f"reading {directory}"):
            found = _contents(directory, verify, 10 if relations is None else relations)
    if as_json:
        print(json.dumps(found, indent=2, ensure_ascii=not speaks_utf8()))
    elif directory is None:
        show_rows(found.items())
    elif found["kind"] == help_store.KIND:
        show_document_contents(found)
    else:
        show_contents(found)


def installation() -> dict[str, str]:
    """Return version, kernels, threads and optional parts, each in words."""
    rows = {
        "hyperhop": hyperhop.__version__,
        "kernels": f"{_core.isa()} (built: {', '.join(_core.isas())})",
        "threads": str(_core.default_threads()),
    }
    for part, extra in PARTS.items():
        installed = find_spec(part) is not None
        rows[part] = "installed" if installed else f'missing: pip install "hyperhop[{extra}]"'
    return rows


def contents(
    directory: Path, graph: KnowledgeGraph, verified: bool, relations: int
) -> dict[str, Any]:
    """Return everything about a saved graph, as --json prints it."""
    stored = store_statistics(directory)
    counted = graph.statistics(relations=relations).to_dict()
    return {
        "directory": str(directory),
        "kind": stored.kind,
        "format": stored.version,
        "generation": stored.generation,
        "saved": stored.saved.isoformat(timespec="seconds"),
        "verified": verified,
        "triples": graph.num_triples,
        "entities": graph.num_entities,
        "relations": graph.num_relations,
        "parameters": stored.parameters,
        "schema_pairs": stored.schema_pairs,
        "settings": graph.settings,
        "disk_bytes": stored.disk_bytes,
        "memory_bytes": resident_bytes(directory),
        "quantiles": QUANTILES,
        "out_degrees": counted["out_degrees"],
        "in_degrees": counted["in_degrees"],
        "hubs": counted["hubs"],
        "top_relations": counted["relations"],
    }


def show_contents(found: dict[str, Any]) -> None:
    """Print what `contents` found: two columns, then three tables."""
    pairs, parameters = found["schema_pairs"], found["parameters"]
    settings = found["settings"] or {"settings": "none stored"}
    show_rows(
        [
            ("directory", f"{found['directory']} (format {found['format']})"),
            ("kind", found["kind"]),
            ("saved", f"{found['saved']} (generation {found['generation']})"),
            ("triples", f"{found['triples']:,}"),
            ("entities", f"{found['entities']:,}"),
            ("relations", f"{found['relations']:,}"),
            *(() if parameters is None else [("parameters", f"{parameters:,}")]),
            ("schema", "not stored: computed when used" if pairs is None else f"{pairs:,} pairs"),
            *((name, setting_words(value)) for name, value in settings.items()),
            ("on disk", size_words(found["disk_bytes"])),
            ("in memory", size_words(found["memory_bytes"])),
            ("contents", checked_words(found["verified"])),
        ]
    )
    shares = [f"{share:.0%}".replace("%", " %") for share in found["quantiles"]]
    show_table(
        ["facts of an entity", *shares],
        [["as head", *found["out_degrees"]], ["as tail", *found["in_degrees"]]],
    )
    show_table(
        ["largest hubs", "as head", "as tail"],
        [[hub["name"], hub["out_degree"], hub["in_degree"]] for hub in found["hubs"]],
    )
    listed = found["top_relations"]
    show_table(
        [f"most used relations ({len(listed):,} of {found['relations']:,})", "facts"],
        [[relation["name"], relation["facts"]] for relation in listed],
    )


def _contents(directory: Path, verify: bool, relations: int) -> dict[str, Any]:
    """All about a directory, which is checked to hold what its kind does."""
    kind = store.read_meta(directory)["kind"]
    if kind == help_store.KIND:
        return document_contents(directory, verify, relations)
    if kind == rsf_store.KIND:
        return contents(directory, rsf_store.load(directory, verify).kg, verify, relations)
    graph = KnowledgeGraph.open(directory, verify=verify)
    return contents(directory, graph, verify, relations)
