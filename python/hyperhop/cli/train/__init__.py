"""``hyperhop train``: the systems that learn."""

from __future__ import annotations

import typer

from hyperhop.cli.report import one_line_errors
from hyperhop.cli.train.examples import examples
from hyperhop.cli.train.reader import reader
from hyperhop.cli.train.rsf import rsf

train = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@train.callback()
def about() -> None:
    """Train a system on questions and their answers, and a language model to read what it finds.

    \b
    Examples:
      hyperhop train rsf mygraph questions.jsonl -o mymodel
      hyperhop train examples mymodel questions.jsonl -o train.jsonl
      hyperhop train reader train.jsonl --base Qwen/Qwen3-0.6B -o myreader
      hyperhop ask mymodel "Who ...?" --llm myreader
    """


for command in (rsf, examples, reader):
    train.command()(one_line_errors(command))

__all__ = ["train"]
