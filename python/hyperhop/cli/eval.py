"""``hyperhop eval``: PathHD on a published benchmark."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from hyperhop.cli import options
from hyperhop.cli.report import busy, show_rows
from hyperhop.evaluate import Scores, benchmarks, evaluate

DATA_VARIABLE = "HYPERHOP_DATA"


def eval_(
    benchmark: Annotated[
        str,
        typer.Argument(
            metavar="DATASET",
            help=f"One of {', '.join(benchmarks.names())}, or a .json or .jsonl file of questions "
            "with their own subgraphs (RoG's or NSM's form).",
        ),
    ],
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help=f"Folder of the data; ${DATA_VARIABLE} if not given."),
    ] = None,
    planner: Annotated[
        str,
        typer.Option(
            metavar="P",
            help="lexical, embedding, memory, associative, gold, or several with weights: "
            "embedding+2*memory.",
        ),
    ] = "lexical",
    encoder: options.Encoder = "hashing",
    part: Annotated[
        str | None,
        typer.Option(
            metavar="PART",
            help="train, dev (default) or test; choose on dev, report test. A file is all asked.",
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(metavar="S", help="Of PathQuestion: disjoint (default), random or folds."),
    ] = None,
    fold: Annotated[int, typer.Option(metavar="I", min=0, help="Which fold of 0 to 9.")] = 0,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the split.")] = 0,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Ask the first N questions only.")
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write everything as JSON.")
    ] = None,
) -> None:
    """Measure PathHD on a benchmark: topic given, hop count unknown, nothing trained.

    Memories remember the part "train". Intervals are 95 % bootstrap intervals over facts.

    \b
    Examples:
      hyperhop eval PQ-2H --data pathquestion
      hyperhop eval MetaQA-2 --planner memory --encoder wordllama --limit 500
      hyperhop eval PQ-3H --planner embedding+2*memory --encoder wordllama --json dev.json
    """
    found = data or os.environ.get(DATA_VARIABLE)
    if not found and not benchmarks.is_file(benchmark):
        raise typer.BadParameter(f"name the folder of the data with --data or ${DATA_VARIABLE}")
    with busy(f"asking {benchmark}", "questions") as told:
        scores = evaluate(
            benchmark,
            found,
            part,
            split=split,
            fold=fold,
            seed=seed,
            limit=limit,
            planner=planner,
            encoder=encoder or "hashing",
            progress=told,
        )
    show_rows(_rows(scores))
    if to is not None:
        to.write_text(json.dumps(scores.to_dict(), indent=1) + "\n", encoding="utf-8")


def _rows(scores: Scores) -> list[tuple[str, str]]:
    low, high = scores.interval
    median, slow = scores.milliseconds["total"]
    stages = ", ".join(
        f"{stage} {time:.2f}"
        for stage, (time, _) in scores.milliseconds.items()
        if stage != "total"
    )
    settings = ", ".join(f"{name} {value}" for name, value in scores.settings.items())
    return [
        ("benchmark", f"{scores.benchmark}, {scores.part} of {scores.split}, seed {scores.seed}"),
        ("questions", f"{scores.n:,} about {scores.units:,} facts"),
        ("hits@1", f"{scores.hits_at_1:.3f} ({low:.3f} to {high:.3f})"),
        ("hits@5, @10", f"{scores.hits_at_5:.3f}, {scores.hits_at_10:.3f}"),
        ("answer sets", f"exact {scores.set_exact:.3f}, F1 {scores.f1:.3f}"),
        ("gold path", _gold_path(scores)),
        ("cut searches", f"{scores.truncated:.1%}"),
        ("milliseconds", f"{median:.2f} median, {slow:.2f} slowest tenth"),
        ("by stage", stages),
        ("memory", f"{scores.peak_megabytes:,.0f} MB at most"),
        ("settings", settings),
        ("with", ", ".join(f"{name} {value}" for name, value in scores.versions.items())),
    ]


def _gold_path(scores: Scores) -> str:
    if scores.path_hit_at_1 is None or scores.path_hit_at_3 is None:
        return "none known"
    of = f" of {scores.with_paths:,} questions" if scores.with_paths < scores.n else ""
    return f"@1 {scores.path_hit_at_1:.3f}, @3 {scores.path_hit_at_3:.3f}{of}"
