"""``hyperhop train rsf``: a flow model of a graph and questions on it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from hyperhop.cli import options as shared
from hyperhop.cli.eval.options import DATA_VARIABLE
from hyperhop.cli.report import say
from hyperhop.cli.train import settings as given
from hyperhop.cli.training import stoppable, watched
from hyperhop.cli.vectors import kept
from hyperhop.evaluate import pathquestion
from hyperhop.evaluate.trained import load_sets, read_examples
from hyperhop.evaluate.trained.sets import TOGETHER, hold_out
from hyperhop.graph import KnowledgeGraph
from hyperhop.graph.store import read_meta
from hyperhop.rsf.store import KIND
from hyperhop.rsf.training import Example, TrainingStopped, Workspace, checkpoint
from hyperhop.rsf.training.questions import Questions
from hyperhop.text.settings import open_encoder

DEFAULT_HOPS = 2
_BENCHMARKS = ("pathquestion", "metaqa")


def rsf(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="Directory of a saved graph, or a benchmark: pathquestion, metaqa or a name that "
            "hyperhop eval --list knows.",
        ),
    ],
    questions: Annotated[
        Path | None,
        typer.Argument(metavar="QUESTIONS", help="JSON Lines file of questions on that graph."),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Where the model is saved.")
    ] = Path("hyperhop-model"),
    dev: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Questions to stop by, in the same form; otherwise those of a tenth of the topics "
            "are held out.",
        ),
    ] = None,
    named_set: Annotated[
        str | None,
        typer.Option(
            "--set",
            metavar="NAME",
            help=f"Of pathquestion: {', '.join(pathquestion.names())}; of metaqa MetaQA-1, -2 or "
            "-3, otherwise one model for all three.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help=f"Folder of benchmarks; ${DATA_VARIABLE} if not given."),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(metavar="S", help="Of pathquestion: disjoint (default), random or folds."),
    ] = None,
    preset: given.Preset = "cpu",
    config: given.ConfigFile = None,
    encoder: shared.Encoder = None,
    hops: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help=f"Hops of a flow; a benchmark's own, otherwise {DEFAULT_HOPS}.",
        ),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="At most so many passes.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Of weights, order and dropout.")
    ] = None,
    values: given.Values = None,
    limit: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Train on the first N questions (of each set) only."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a training that was stopped or killed.")
    ] = False,
) -> None:
    """Train a flow model (RSF) on questions and their answers.

    QUESTIONS has one JSON object a line; names are those of the graph:

    \b
      {"question": "Who is the mother of Ada?", "topic": "Ada Lovelace", "answers": ["Anne"]}

    "topic" may be a list of names. A question whose answers the graph does not have, or not within
    reach of its topic, is not learned from, and counts as missed on dev. After each epoch the dev
    questions are asked; the weights that answered most of them first are kept.

    DIR then holds the model with its graph, config.toml (all settings; --config takes it) and
    training.csv (a line an epoch). Ctrl-C stops after the running batch; --resume goes on from
    there, and from the last checkpoint after a kill, to the same model. To keep checkpoints within
    long epochs, add --with checkpoint_steps=200.

    The preset cpu reads the words of a question in order, which needs an encoder that knows words
    one by one (extra 'text'): --encoder wordllama.

    \b
    Settings worth knowing, all by --with NAME=VALUE:
      hidden=128          length of a query state
      learning_rate=2e-3  of AdamW, after a warm-up over a tenth of the steps
      lambda_1=0.02       weight of the flow's entropy: more makes flows spikier
      radius=2            hops of the subgraph around the topic (layout=packed)
      layout=lanes        all flows over the whole graph, for graphs of up to some 10,000 facts
      patience=3          stop after 3 epochs without a better dev hits@1; 0 never stops early

    \b
    Examples:
      hyperhop train rsf mygraph questions.jsonl -o mymodel --encoder wordllama
      hyperhop train rsf mygraph questions.jsonl -o mymodel --encoder wordllama --resume
      hyperhop train rsf mygraph train.jsonl --dev dev.jsonl --preset paper --with hidden=256
      hyperhop train rsf pathquestion --set PQ-2H --encoder wordllama -o pq2
      hyperhop train rsf metaqa --encoder wordllama -o metaqa
      hyperhop ask mymodel "Who is the mother of Ada?" --system rsf
    """
    values = values or []
    needs: dict[str, Any] = {"hops": hops or DEFAULT_HOPS}
    _check_output(output, resume)
    if questions is None:
        if dev is not None:
            raise typer.BadParameter("--dev belongs to a file of questions: benchmarks have theirs")
        graph, training, held, needs = _benchmark(source, named_set, data, split, limit)
    else:
        if named_set is not None or split is not None or data is not None:
            raise typer.BadParameter("--set, --split and --data belong to benchmarks")
        graph = KnowledgeGraph.open(source)
        training = read_examples(questions)
        training, held = (training, read_examples(dev)) if dev else hold_out(training)
        training = training[:limit]
    settings = given.settings_of(
        *(preset, config, values, needs, len(training)),
        hops=hops,
        epochs=epochs,
        seed=seed,
    )
    # a model has vectors of its own, so that it may take another encoder than its graph
    stored = graph.settings if questions is not None and encoder is None else None
    wanted = given.encoder_of(config, encoder)
    opened = open_encoder(stored, encoder) if wanted is None else open_encoder(wanted)
    workspace = Workspace.of(graph, kept(opened), settings)

    def ready(prepared: Questions) -> None:
        missed = len(training) - int(prepared.answerable.sum())
        left_out = f" ({missed:,} not learned from: no answer in reach)" if missed else ""
        say(f"{len(training):,} questions to train on{left_out}, {len(held):,} to stop by")

    with stoppable() as stop, watched(f"training {output}") as told:
        try:
            _, trained = workspace.train(
                *(training, held, output),
                resume=resume,
                ready=ready,
                progress=told,
                stop=stop,
            )
        except TrainingStopped as stopped:
            say(f"{stopped}; to go on, give the same command with --resume")
            raise typer.Exit(130) from None
    workspace.save(output, trained)
    best = trained.epochs[trained.best_epoch - 1]
    dev_hits = f", dev hits@1 {trained.best:.3f}" if held else ""
    print(f"{output}: epoch {trained.best_epoch} of {len(trained.epochs)}{dev_hits}")
    print(f"loss {best.loss:.3f}, {best.graphs_per_second:,.0f} graphs/s")
    print(f'Ask it: hyperhop ask {shlex.quote(str(output))} "your question" --system rsf')


def _benchmark(
    source: str, named_set: str | None, data: Path | None, split: str | None, limit: int | None
) -> tuple[KnowledgeGraph, list[Example], list[Example], dict[str, Any]]:
    """Graph, training and dev questions of a benchmark, and what they need of a model."""
    folder = data or os.environ.get(DATA_VARIABLE)
    if not folder:
        raise typer.BadParameter(
            f"name a file of QUESTIONS, or the folder of benchmarks with --data or ${DATA_VARIABLE}"
        )
    name = source
    if source.lower() in _BENCHMARKS:
        name = named_set or {"metaqa": next(iter(TOGETHER))}.get(source.lower(), "")
        if not name:
            known = ", ".join(pathquestion.names())
            raise typer.BadParameter(f"{source} needs --set, one of {known}")
    elif named_set is not None:
        raise typer.BadParameter("--set belongs to pathquestion and metaqa")
    sets = load_sets(name, folder, split)
    found = sets.examples("train", limit), sets.examples("dev")
    return sets.graph, *found, sets.needs


def _check_output(output: Path, resume: bool) -> None:
    """ValueError, before hours of work, where the model could not be saved."""
    unfinished = checkpoint.exists(output / checkpoint.FOLDER)
    if unfinished and not resume:
        raise ValueError(
            f"{output} holds a training that is not finished: go on with it by --resume, or remove "
            "the folder"
        )
    if (output / "meta.json").exists():
        read_meta(output, KIND)
        if resume and not unfinished:
            raise ValueError(f"{output} holds a finished model: there is nothing to go on with")
