"""The command line: every command parses, calls the library and prints."""

from __future__ import annotations

from typing import Annotated

import typer

from hyperhop import __version__
from hyperhop.cli.ask import ask
from hyperhop.cli.demo import demo
from hyperhop.cli.eval import eval_
from hyperhop.cli.export import export
from hyperhop.cli.index import index
from hyperhop.cli.info import info
from hyperhop.cli.report import one_line_errors
from hyperhop.cli.train import train

app = typer.Typer(
    name="hyperhop",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Plain help: the examples keep their lines, and no box is drawn on a terminal without UTF-8.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hyperhop {__version__}")
        raise typer.Exit


@app.callback()
def hyperhop(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Multi-hop questions over a knowledge graph, answered with cited paths.

    \b
    Start here:
      hyperhop demo                          twenty questions on real facts
      hyperhop index facts.tsv -o mygraph    make a graph of your own triples
      hyperhop ask mygraph "Who ...?"        ask it

    Results go to stdout, progress and errors to stderr. Exit status: 0 done, 1 could not do it,
    2 wrong usage.
    """


for command in (demo, index, ask, info, export):
    app.command()(one_line_errors(command))
app.command("eval")(one_line_errors(eval_))
app.add_typer(train, name="train")
