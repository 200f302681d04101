"""The command: what was asked for, and who does it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import typer

from hyperhop.cli import options as shared
from hyperhop.cli.eval import options
from hyperhop.cli.eval.datasets import show_datasets
from hyperhop.cli.eval.output import Files
from hyperhop.cli.eval.run import measure
from hyperhop.cli.eval.study import repeat_study, tune_calibration
from hyperhop.cli.reader import open_reader
from hyperhop.evaluate import benchmarks, studies, tune


def eval_(
    dataset: options.Dataset = None,
    listed: options.Listed = False,
    study: options.StudyName = None,
    tuning: options.Tune = False,
    data: options.Data = None,
    planner: options.Planners = None,
    encoder: shared.Encoder = "hashing",
    part: options.Part = None,
    split: options.SplitName = None,
    fold: options.Fold = "0",
    seed: options.Seed = 0,
    limit: options.Limit = None,
    query: options.Query = None,
    codebook: options.CodebookName = None,
    calibration: options.CalibrationFile = None,
    max_hops: shared.MaxHops = None,
    reader: shared.Reader = None,
    llm: shared.Llm = None,
    model: shared.Model = None,
    json: options.Json = None,
    markdown: options.Markdown = None,
    latex: options.Latex = None,
    plot: options.Plot = None,
    records: options.Records = None,
) -> None:
    """Measure PathHD on a benchmark: topic given, hop count unknown, nothing trained.

    What is chosen by looking at results is chosen on dev; memories remember the part "train".
    Intervals are 95 % bootstrap intervals over facts.

    \b
    Examples:
      hyperhop eval --list
      hyperhop eval PQ-2H --data pathquestion
      hyperhop eval MetaQA-2 --planner memory --encoder wordllama --limit 500
      hyperhop eval PQ-3H --planner lexical --planner embedding+2*memory --plot speed.png
      hyperhop eval PQ-3H --study operators --planner gold --markdown table3.md
      hyperhop eval PQ-3H --tune --json calibration.json
      hyperhop eval PQ-3H --calibration calibration.json
    """
    if listed:
        show_datasets(_folder(data))
        return
    if dataset is None:
        raise typer.BadParameter("name a DATASET; hyperhop eval --list lists them")
    folder = _folder(data)
    if folder is None and not benchmarks.is_file(dataset):
        variable = options.DATA_VARIABLE
        raise typer.BadParameter(f"name the folder of the data with --data or ${variable}")
    files = Files(json, markdown, latex, plot, records)
    files.check()
    planners = planner or ["lexical"]
    which: dict[str, Any] = {"split": split, "seed": seed, "limit": limit}
    which["encoder"] = encoder or "hashing"
    if max_hops is not None:
        which["max_hops"] = max_hops
    if study is not None:
        studies.check_name(study)
    if study is None and not tuning:
        settings = {"query": query, "codebook": codebook}
        which |= {name: value for name, value in settings.items() if value is not None}
        if calibration is not None:
            which["calibration"] = tune.read_calibration(calibration)
        which |= {"part": part, "fold": _fold(fold)}
        with open_reader(reader, llm, model, fallback=False, plans=False) as (opened, chat):
            # without a language model the evidence itself is judged
            which["reader"] = None if chat is None else opened
            measure(dataset, folder, planners, which, files)
        return
    kind = "--tune" if tuning else "--study"
    if tuning and study is not None:
        raise typer.BadParameter("--tune and --study are two things: give one")
    _refuse(kind, query=query, codebook=codebook, calibration=calibration, records=records)
    if len(planners) > 1 or fold == "all":
        raise typer.BadParameter(f"{kind} wants one --planner and one --fold")
    which |= {"part": part or "dev", "fold": _fold(fold), "planner": planners[0]}
    asks_model = study in studies.WITH_MODEL
    if not asks_model:
        _refuse(kind, reader=reader, llm=llm, model=model)
    if study is None:
        tune_calibration(dataset, folder, which, files)
    elif asks_model:
        with open_reader(shared.ReaderName.LLM, llm, model, fallback=False, plans=False) as opened:
            which["model"] = opened[1]
            repeat_study(study, dataset, folder, which, files)
    else:
        repeat_study(study, dataset, folder, which, files)


def _refuse(kind: str, **options: object) -> None:
    for name, value in options.items():
        if value is not None:
            raise typer.BadParameter(f"{kind} sets what it compares: --{name} is not for it")


def _folder(data: Path | None) -> Path | None:
    found = data or os.environ.get(options.DATA_VARIABLE)
    return Path(found) if found else None


def _fold(text: str) -> int | Literal["all"]:
    if text == "all":
        return "all"
    if not text.isdecimal():
        raise typer.BadParameter(f"--fold must be a number or all, got {text!r}")
    return int(text)
