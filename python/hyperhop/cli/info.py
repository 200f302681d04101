"""``hyperhop info``: what is installed, and what a graph directory holds."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

import hyperhop
from hyperhop import _core
from hyperhop.cli.report import busy, console
from hyperhop.graph import KnowledgeGraph, store

# Optional part -> the extra that installs it.
PARTS = {"countryinfo": "demo", "babel": "demo", "wordllama": "text", "torch": "torch"}


def info(
    directory: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="Directory of a saved graph.")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Also check the contents of every file in DIR.")
    ] = False,
) -> None:
    """Show what is installed here, or what a graph directory holds.

    \b
    Examples:
      hyperhop info
      hyperhop info mygraph
      hyperhop info mygraph --verify
    """
    if directory is None:
        if verify:
            raise typer.BadParameter("--verify needs DIR")
        show(installation())
    else:
        with busy(f"checking {directory}" if verify else f"opening {directory}"):
            graph = KnowledgeGraph.open(directory, verify=verify)
        show(contents(directory, graph, verify))


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


def contents(directory: Path, graph: KnowledgeGraph, verified: bool) -> dict[str, str]:
    """Return the counts, settings and state of a saved graph, each in words."""
    rows = {
        "directory": f"{directory} (format {store.read_meta(directory)['version']})",
        "entities": f"{graph.num_entities:,}",
        "relations": f"{graph.num_relations:,}",
        "triples": f"{graph.num_triples:,}",
    }
    for name, value in (graph.settings or {"settings": "none stored"}).items():
        rows[name] = str(value)
    rows["contents"] = "verified" if verified else "not verified (--verify reads every file)"
    return rows


def show(rows: dict[str, str]) -> None:
    """Print names and values in two columns."""
    table = Table.grid(padding=(0, 2))
    for name, value in rows.items():
        table.add_row(name, value)
    console().print(table)
