"""``hyperhop train examples``: what a language model is trained to read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from hyperhop.cli import options
from hyperhop.cli.eval.options import DATA_VARIABLE
from hyperhop.cli.report import busy, say
from hyperhop.cli.show import counted
from hyperhop.cli.system import open_model, open_system, system_of
from hyperhop.evaluate import benchmarks
from hyperhop.evaluate.trained import load_sets, read_examples
from hyperhop.evidence import Retriever
from hyperhop.llm import ReaderTemplate
from hyperhop.rsf.stage2 import Exported, evidence_for, template_file, write_examples
from hyperhop.rsf.training import Example


def examples(
    directory: options.Directory,
    questions: Annotated[
        str,
        typer.Argument(
            metavar="QUESTIONS",
            help="JSON Lines file of questions, as train rsf takes it, or a benchmark by name.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="The .jsonl file that is written."),
    ],
    no_paths: Annotated[
        bool, typer.Option("--no-paths", help="Questions and answers alone (table 4).")
    ] = False,
    max_paths: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Most paths of an example (32).")
    ] = None,
    system: Annotated[
        options.SystemName | None,
        typer.Option("--system", help="Who finds the paths: by default what DIR was made for."),
    ] = None,
    encoder: options.Encoder = None,
    planner: options.Planner = None,
    max_hops: options.MaxHops = None,
    k: Annotated[
        int | None,
        typer.Option("--k", metavar="N", min=1, help="Answers or relation sequences to keep."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help=f"Folder of benchmarks; ${DATA_VARIABLE} if not given."),
    ] = None,
    split: Annotated[
        str | None, typer.Option(metavar="S", help="Of a benchmark, see hyperhop eval.")
    ] = None,
    part: Annotated[str, typer.Option(metavar="PART", help="Of a benchmark.")] = "train",
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="The first N questions only.")
    ] = None,
) -> None:
    """Write what a model or a graph finds for questions, to train a language model on.

    \b
    Each line of FILE is one JSON object:
      question   as asked
      context    the paths in words, best first
      answers    the gold answers
      prompt     Context: [PATH; PATH] Question: QUESTION
      completion Answer: ANSWER; ANSWER

    prompt and completion suit any tool that trains on such pairs; hyperhop train reader is one.
    The template, which a reader must be asked with, stands beside FILE in FILE's name with
    .template.json. Questions without paths or without answers are left out and counted.

    \b
    Examples:
      hyperhop train examples mymodel questions.jsonl -o train.jsonl
      hyperhop train examples mymodel MetaQA-2 --data metaqa --limit 10000 -o train.jsonl
      hyperhop train examples mymodel questions.jsonl --no-paths -o nopaths.jsonl
    """
    found = _questions(questions, data, split, part, limit)
    template = ReaderTemplate(paths=not no_paths)
    if max_paths is not None:
        template = ReaderTemplate(paths=not no_paths, max_paths=max_paths)
    with busy(f"opening {directory}"):
        asked: Retriever
        chosen = system_of(directory, system)
        if chosen is options.SystemName.HELP:
            raise typer.BadParameter(f"{directory} holds documents: examples are made of paths")
        if chosen is options.SystemName.RSF:
            if planner is not None or max_hops is not None:
                raise typer.BadParameter("--planner and --max-hops are for --system pathhd")
            asked = open_model(directory, encoder=encoder, max_degree=None, k=k)
        else:
            asked = open_system(
                directory,
                encoder=encoder,
                planner=planner,
                max_hops=max_hops,
                max_degree=None,
                inverse=True,
                k=k,
            )
    pairs = [(one.question, _topic(one), one.answers) for one in found]
    with busy(f"writing {output}", "questions") as told:
        done = write_examples(
            output,
            evidence_for(asked, pairs),
            template,
            progress=lambda count: told(count, len(pairs)),
        )
    _say_what_is_missing(done, template.max_paths)
    share = "" if no_paths else f", an answer among the paths of {done.answer_shown:,}"
    print(f"{output}: {counted(done.examples, 'example')}{share}")
    print(f"{template_file(output)}: their template")


def _questions(
    source: str, data: Path | None, split: str | None, part: str, limit: int | None
) -> list[Example]:
    if benchmarks.is_file(source):
        if data is not None or split is not None or part != "train":
            raise typer.BadParameter("--data, --split and --part belong to benchmarks")
        return read_examples(source)[:limit]
    folder = data or os.environ.get(DATA_VARIABLE)
    if not folder:
        raise typer.BadParameter(
            f"name a .jsonl file of QUESTIONS, or the folder of benchmarks with --data or "
            f"${DATA_VARIABLE}"
        )
    return load_sets(source, folder, split).examples(part, limit)


def _topic(example: Example) -> str | tuple[str, ...]:
    return example.topics[0] if len(example.topics) == 1 else example.topics


def _say_what_is_missing(done: Exported, most: int) -> None:
    if done.without_evidence:
        say(f"{counted(done.without_evidence, 'question')} left out: no path was found")
    if done.without_answers:
        say(f"{counted(done.without_answers, 'question')} left out: they have no answers")
    if done.unshown:
        say(f"{counted(done.unshown, 'path')} not shown: an example shows {most} at most")
