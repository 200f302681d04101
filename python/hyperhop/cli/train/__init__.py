"""``hyperhop train``: the systems that learn."""

from __future__ import annotations

import typer

from hyperhop.cli.report import one_line_errors
from hyperhop.cli.train.rsf import rsf

train = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@train.callback()
def about() -> None:
    """Train a system on questions and their answers.

    \b
    Example:
      hyperhop train rsf mygraph questions.jsonl -o mymodel
    """


train.command("rsf")(one_line_errors(rsf))

__all__ = ["train"]
