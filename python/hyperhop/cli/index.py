"""``hyperhop index``: make a graph directory of a file of triples."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from hyperhop.cli import options
from hyperhop.cli.report import busy, say
from hyperhop.cli.system import make_settings
from hyperhop.cli.vectors import forget
from hyperhop.graph import BuildReport, KnowledgeGraph, SchemaTooLarge
from hyperhop.graph.read.rdf import BLANK_NODES, LITERALS

ROWS = (".parquet", ".pq")  # progress of these is told in rows, of all others in bytes


def index(
    source: Annotated[
        Path,
        typer.Argument(metavar="INPUT", help="File of triples: head, relation, tail."),
    ],
    directory: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Where the graph is saved.")
    ],
    encoder: options.Encoder = None,
    planner: options.Planner = None,
    max_hops: options.MaxHops = None,
    skip_bad: Annotated[
        bool,
        typer.Option("--skip-bad", help="Leave malformed lines or rows out, say where, go on."),
    ] = False,
    delimiter: Annotated[
        str | None,
        typer.Option(metavar="C", help="The character between fields; otherwise by suffix."),
    ] = None,
    header: Annotated[
        bool, typer.Option("--header", help="The first line names the columns.")
    ] = False,
    columns: Annotated[
        str | None,
        typer.Option(metavar="H,R,T", help="Columns (or JSON keys) of head, relation and tail."),
    ] = None,
    literals: Annotated[
        str, typer.Option(metavar="HOW", help="Literals of N-Triples: keep, value or skip.")
    ] = "keep",
    blank_nodes: Annotated[
        str, typer.Option(metavar="HOW", help="Blank nodes of N-Triples: keep or skip.")
    ] = "keep",
) -> None:
    """Make a graph directory of a file of triples.

    The suffix of INPUT tells its format. Text is UTF-8.

    \b
      .tsv .txt          head TAB relation TAB tail on each line, taken verbatim
      .csv               with commas and quotes
      .jsonl .ndjson     {"head": ..., "relation": ..., "tail": ...} or an array of three a line
      .nt                N-Triples (extra 'rdf')
      .parquet .pq       columns of text or whole numbers (extra 'arrow')
      .arrow .feather .ipc
      any other          with --delimiter

    \b
    .gz or .zst may follow those of text. Columns are told by usual names (head, relation, tail;
    subject, predicate, object; source, relation, target; h, r, t; s, p, o), three unknown ones by
    their order, others by --columns, which implies --header.

    \b
    N-Triples: an IRI names itself; a blank node is _:label, and labels belong to one file; a
    literal keeps quotes, language tag and datatype (--literals value: the text alone, so that
    literals which differ only in tag or datatype become one entity; skip: no such facts).

    Equal facts are merged and counted. Encoder, planner and longest path are stored with the graph,
    so that `hyperhop ask` uses them. Vectors that were kept of a server's model are forgotten.

    \b
    Examples:
      hyperhop index facts.tsv -o mygraph
      hyperhop index facts.csv.gz --header --skip-bad -o mygraph
      hyperhop index facts.txt --delimiter "|" -o mygraph
      hyperhop index edges.parquet --columns source,label,target -o mygraph
      hyperhop index dump.nt.gz --literals value --blank-nodes skip -o mygraph
      hyperhop index facts.tsv --encoder wordllama --planner embedding -o mygraph
    """
    for option, value, known in (
        ("--literals", literals, LITERALS),
        ("--blank-nodes", blank_nodes, BLANK_NODES),
    ):
        if value not in known:
            raise typer.BadParameter(f"{option} must be one of {', '.join(known)}, got {value!r}")
    settings = make_settings(encoder, planner, max_hops)
    unit = "rows" if source.suffix.lower() in ROWS else "bytes"
    with busy(f"reading {source}", unit) as told:
        graph = _read(
            source,
            delimiter=delimiter,
            header=header,
            columns=_names(columns),
            literals=literals,
            blank_nodes=blank_nodes,
            skip_bad=skip_bad,
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
