"""``hyperhop demo``: real questions on a graph of real facts."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from hyperhop.cli.demo_help import show_documents
from hyperhop.cli.demo_rsf import Asked, show_flow_model
from hyperhop.cli.report import busy, console, say, speaks_utf8
from hyperhop.cli.show import shortened
from hyperhop.cli.system import make_settings
from hyperhop.demo.countries import country_triples, plain_name
from hyperhop.demo.gold import gold_answers
from hyperhop.demo.questions import Question, demo_questions
from hyperhop.graph import KnowledgeGraph
from hyperhop.llm import VectorReader
from hyperhop.pathhd import PathHD
from hyperhop.text.verbalize import verbalize_path

NAMES_SHOWN = 6


def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where the graph is saved.")
    ] = Path("hyperhop-demo"),
    notes: Annotated[
        bool, typer.Option("--notes", help="List what was left out or merged, and why.")
    ] = False,
) -> None:
    """Answer twenty questions on real facts, and four from documents.

    The questions are about the countries of the world and take one to three steps. The graph is
    built from the records of the Python package countryinfo and saved in DIR, replacing a graph
    that is there, so that you can ask it your own questions. Every answer is checked against the
    records themselves, and a wrong one is shown as it is.

    Where torch is installed, a small flow model (RSF) is then trained on other questions, saved in
    DIR-rsf and asked the same. Last, a dozen passages about invented islands are indexed in
    DIR-help and asked questions that no single passage answers (HELP).

    \b
    Examples:
      hyperhop demo
      hyperhop demo --out /tmp/countries --notes
    """
    with busy("building the graph"):
        countries = country_triples()
        graph = KnowledgeGraph.from_triples(countries.triples)
        graph.save(out, settings=make_settings())
    if notes:
        for note in countries.notes:
            say(f"countryinfo: {note}")
    else:
        say(
            f"{len(countries.notes)} records or codes of countryinfo were left out or merged "
            "(--notes lists them)"
        )
    print(f"{graph.num_triples:,} facts about {graph.num_entities:,} things, saved in {out}\n")
    system = PathHD(graph)
    rows = [_answered(system, question) for question in demo_questions()]
    console().print(_table(rows))
    right = sum(row.right for row in rows)
    print(f"{right} of {len(rows)} answers are what the records of countryinfo say.\n")
    asked = [Asked(row.question, row.path, row.right, row.expected) for row in rows]
    model = out.with_name(f"{out.name}-rsf")
    trained = show_flow_model(graph, countries.triples, asked, model)
    documents = out.with_name(f"{out.name}-help")
    of_documents = show_documents(documents)
    print("Now ask them yourself:")
    for directory in (out, model) if trained else (out,):
        print(f'  hyperhop ask {shlex.quote(str(directory))} "Which languages are spoken in Peru?"')
    print(f'  hyperhop ask {shlex.quote(str(documents))} "{of_documents}" --explain')


class _Row(NamedTuple):
    """One question as it was answered."""

    question: str
    answer: str
    path: str
    score: float
    milliseconds: float
    expected: frozenset[str]
    right: bool


def _answered(system: PathHD, question: Question) -> _Row:
    begin = time.perf_counter()
    evidence = system.retrieve(question.question)
    answer = VectorReader().read(question.question, evidence)
    milliseconds = (time.perf_counter() - begin) * 1e3
    path = evidence.paths[answer.citations[0]] if answer.citations else None
    expected = gold_answers(question.steps)
    return _Row(
        question.question,
        shortened(answer.entities, NAMES_SHOWN) or answer.text,
        verbalize_path(path.entities, path.relations) if path else "",
        path.score if path else 0.0,
        milliseconds,
        expected,
        {plain_name(name) for name in answer.entities} == expected,
    )


def _table(rows: list[_Row]) -> Table:
    yes, no = ("✓", "✗") if speaks_utf8() else ("yes", "NO")
    table = Table(box=box.HORIZONTALS, show_lines=True)
    table.add_column("question, answer, one of the cited paths", ratio=1)
    for name in ("score", "ms", "right"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        text = Text.assemble((row.question, "bold"), "\n", (row.answer, "green"), "\n", row.path)
        if not row.right:
            expected = shortened(sorted(row.expected), NAMES_SHOWN)
            text.append(f"\nThe records say: {expected}", "red")
        mark = Text(yes, "green") if row.right else Text(no, "bold red")
        table.add_row(text, f"{row.score:.2f}", f"{row.milliseconds:.1f}", mark)
    return table
