"""``hyperhop index``: make a graph directory of a file of triples."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from hyperhop.cli import options
from hyperhop.cli.report import busy, say
from hyperhop.cli.system import make_settings
from hyperhop.graph import KnowledgeGraph, SchemaTooLarge


def index(
    source: Annotated[
        Path,
        typer.Argument(metavar="INPUT", help="Triples: head, relation, tail on each line."),
    ],
    directory: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Where the graph is saved.")
    ],
    encoder: options.Encoder = None,
    planner: options.Planner = None,
    max_hops: options.MaxHops = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave malformed lines out and count them.")
    ] = False,
    delimiter: Annotated[
        str | None,
        typer.Option(metavar="C", help="The character between fields; otherwise by suffix."),
    ] = None,
    header: Annotated[
        bool, typer.Option("--header", help="The first line names the columns.")
    ] = False,
) -> None:
    """Make a graph directory of a file of triples.

    INPUT is UTF-8, plain or .gz: .tsv and .txt with tabs, .csv with commas and quotes, any other
    with --delimiter. Encoder, planner and longest path are stored with the graph, so that
    `hyperhop ask` uses them.

    \b
    Examples:
      hyperhop index facts.tsv -o mygraph
      hyperhop index facts.csv.gz --header --skip-bad -o mygraph
      hyperhop index facts.txt --delimiter "|" -o mygraph
      hyperhop index facts.tsv --encoder wordllama --planner embedding -o mygraph
    """
    settings = make_settings(encoder, planner, max_hops)
    with busy(f"reading {source}") as told:
        graph = KnowledgeGraph.from_triples(
            source, delimiter=delimiter, header=header, skip_bad=skip_bad, progress=told
        )
    if graph.num_triples == 0:
        raise ValueError(f"{source} holds no triple")
    with busy("counting which relation follows which"):
        store_schema(graph)
    with busy(f"saving {directory}"):
        graph.save(directory, settings=settings)
    if report := graph.build_report:
        for line, fault in report.skipped:
            say(f"{source}, line {line}: left out, {fault}")
        if report.num_skipped > len(report.skipped):
            say(f"{report.num_skipped} lines left out in all")
    print(
        f"{directory}: {graph.num_triples:,} facts, {graph.num_entities:,} entities, "
        f"{graph.num_relations:,} relations"
    )
    print(f'Ask it: hyperhop ask {shlex.quote(str(directory))} "your question"')


def store_schema(graph: KnowledgeGraph) -> None:
    """Have the schema computed now, so that it is saved; say so where it is too large."""
    try:
        graph.schema  # noqa: B018
    except SchemaTooLarge as error:
        say(f"{error}; the graph is saved without")
