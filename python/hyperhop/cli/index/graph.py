"""Triples into a graph directory."""

from __future__ import annotations

import csv
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from hyperhop.cli.report import busy, say
from hyperhop.cli.system import make_settings
from hyperhop.cli.vectors import forget
from hyperhop.graph import BuildReport, KnowledgeGraph, SchemaTooLarge
from hyperhop.graph.read.rdf import BLANK_NODES, LITERALS

ROWS = (".parquet", ".pq")  # progress of these is told in rows, of all others in bytes


@dataclass(frozen=True)
class Facts:
    """How triples are read, and what is stored with their graph."""

    encoder: str | None
    planner: str | None
    max_hops: int | None
    skip_bad: bool
    delimiter: str | None
    header: bool
    columns: str | None
    literals: str
    blank_nodes: str


def index_graph(source: Path, directory: Path, why: str, wanted: Facts) -> None:
    """Make a graph directory of a file of triples; `why` says what told that it holds them."""
    for option, value, known in (
        ("--literals", wanted.literals, LITERALS),
        ("--blank-nodes", wanted.blank_nodes, BLANK_NODES),
    ):
        if value not in known:
            raise typer.BadParameter(f"{option} must be one of {', '.join(known)}, got {value!r}")
    settings = make_settings(wanted.encoder, wanted.planner, wanted.max_hops)
    unit = "rows" if source.suffix.lower() in ROWS else "bytes"
    with busy(f"reading {source}", unit) as told:
        graph = _read(
            source,
            delimiter=wanted.delimiter,
            header=wanted.header,
            columns=_names(wanted.columns),
            literals=wanted.literals,
            blank_nodes=wanted.blank_nodes,
            skip_bad=wanted.skip_bad,
            progress=told,
        )
    report = graph.build_report
    assert report is not None
    _say_what_was_left_out(source, report)
    if graph.num_triples == 0:
        raise ValueError(f"{source} holds no triple")
    with busy("counting which relation follows which"):
        store_schema(graph)
    with busy(f"saving {directory}"):
        graph.save(directory, settings=settings)
    forget(settings)
    print(f"{source}: triples ({why})")
    print(f"{source}: read as {report.format}, {report.num_duplicates:,} duplicates merged")
    print(
        f"{directory}: {graph.num_triples:,} facts, {graph.num_entities:,} entities, "
        f"{graph.num_relations:,} relations"
    )
    print(f'Ask it: hyperhop ask {shlex.quote(str(directory))} "your question"')


def store_schema(graph: KnowledgeGraph) -> None:
    """Have the schema computed now, so that it is saved; say so where it is too large."""
    try:
        graph.schema  # noqa: B018  (computed when asked for, and then kept)
    except SchemaTooLarge as error:
        say(f"{error}; the graph is saved without")


def _read(source: Path, **arguments: Any) -> KnowledgeGraph:
    try:
        return KnowledgeGraph.from_triples(source, **arguments)
    except TypeError as error:
        fault = str(error)
        if not fault.startswith("from_triples: "):
            raise
        # An option that does not belong to this format.
        raise typer.BadParameter(fault.removeprefix("from_triples: ")) from None


def _names(columns: str | None) -> list[str] | None:
    """H,R,T as a list; a name with a comma is quoted as in CSV."""
    if columns is None:
        return None
    names = next(csv.reader([columns]), [])
    if len(set(names)) != 3:
        raise typer.BadParameter(f"--columns expects three names H,R,T, got {columns!r}")
    return names


def _say_what_was_left_out(source: Path, report: BuildReport) -> None:
    for number, fault in report.skipped:
        say(f"{source}, {report.unit} {number}: left out, {fault}")
    if report.num_skipped > len(report.skipped):
        say(f"{report.num_skipped:,} {report.unit}s left out in all")
    if report.num_literals_skipped:
        say(f"{report.num_literals_skipped:,} facts with a literal left out")
    if report.num_blank_nodes_skipped:
        say(f"{report.num_blank_nodes_skipped:,} facts with a blank node left out")
