"""The command: what was asked for, and who does it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import typer

from hyperhop.cli import options as shared
from hyperhop.cli.eval import options
from hyperhop.cli.eval.datasets import show_datasets
from hyperhop.cli.eval.modes import Mode, mode_of, typed
from hyperhop.cli.eval.output import Files
from hyperhop.cli.eval.passages import (
    Over,
    measure_passages,
    repeat_passages_study,
    tune_passages,
)
from hyperhop.cli.eval.paths import rank
from hyperhop.cli.eval.rsf import (
    Wanted,
    measure_model,
    repeat_trained_study,
    train_and_measure,
)
from hyperhop.cli.eval.run import measure
from hyperhop.cli.eval.study import repeat_study, tune_calibration
from hyperhop.cli.reader import open_reader
from hyperhop.cli.train import settings as given
from hyperhop.evaluate import benchmarks, tune


def eval_(
    context: typer.Context,
    dataset: options.Dataset = None,
    systems: options.Systems = None,
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
    reader: options.Reader = None,
    llm: shared.Llm = None,
    model: options.Model = None,
    train_seeds: options.TrainSeeds = None,
    train_limit: options.TrainLimit = None,
    preset: given.Preset = "cpu",
    config: given.ConfigFile = None,
    values: options.Values = None,
    work: options.Work = None,
    json: options.Json = None,
    markdown: options.Markdown = None,
    latex: options.Latex = None,
    plot: options.Plot = None,
    records: options.Records = None,
) -> None:
    """Measure a system on a benchmark: over a graph topic given, hop count unknown.

    What is chosen by looking at results is chosen on dev; memories remember the part "train".
    Intervals are 95 % bootstrap intervals over facts.

    With --system rsf a flow model is trained on the part "train" first, once for each seed; one
    that is trained already is named with --model. The studies switches, lambda1, radius and gate
    train a model for each of their settings. With --work DIR such a run may be stopped or killed
    at any time: the same command goes on.

    Over passages HELP and what it is compared with (dense retrieval, BM25, personalised PageRank)
    are asked the same questions over the same passages, triples and vectors. All questions are
    asked: what is chosen by looking at them is chosen with --tune, fold by fold. The studies quota,
    levels, beam and speed are of HELP.

    \b
    Examples:
      hyperhop eval --list
      hyperhop eval PQ-2H --data pathquestion
      hyperhop eval MetaQA-2 --planner memory --encoder wordllama --limit 500
      hyperhop eval PQ-3H --planner lexical --planner embedding+2*memory --plot speed.png
      hyperhop eval PQ-3H --study operators --planner gold --markdown table3.md
      hyperhop eval PQ-3H --tune --json calibration.json
      hyperhop eval PQ-3H --calibration calibration.json
      hyperhop eval WebQSP-paths --planner linear --encoder wordllama
      hyperhop eval PQ-2H --system rsf --model pq2 --part test
      hyperhop eval PQ-2H --system rsf --encoder wordllama --train-seeds 0,1,2 --work pq2-runs
      hyperhop eval PQ-3H --study switches --encoder wordllama --train-limit 500 --work studies
      hyperhop eval musique --encoder minilm --markdown musique.md
      hyperhop eval musique --encoder minilm --system help --system dense --tune
      hyperhop eval musique --encoder minilm --study quota --with scorer=encoder
    """
    mode = mode_of(context)
    folder = _folder(data)
    if mode is Mode.LIST:
        show_datasets(folder)
        return
    assert dataset is not None  # mode_of has seen to it
    if folder is None and not benchmarks.is_file(dataset):
        variable = options.DATA_VARIABLE
        raise typer.BadParameter(f"name the folder of the data with --data or ${variable}")
    files = Files(json, markdown, latex, plot, records)
    files.check()
    asked: dict[str, Any] = {"encoder": encoder or "hashing", "limit": limit}
    if mode in (Mode.PASSAGES, Mode.PASSAGES_TUNE, Mode.PASSAGES_STUDY):
        assert folder is not None  # these sets are no files
        over = Over(dataset, folder, systems or [], values or [], asked)
        if study is not None:
            repeat_passages_study(study, over, files)
        elif mode is Mode.PASSAGES_TUNE:
            tune_passages(over, seed, work, files)
        else:
            with open_reader(reader, llm, model, fallback=False, plans=False) as (opened, chat):
                judged = reader is not None or chat is not None
                measure_passages(over, opened if judged else None, files)
        return
    if mode is Mode.MODEL:
        assert model is not None
        which = {"part": part or "dev", "split": split, "fold": _one(fold), "seed": seed}
        with open_reader(reader, None, None, fallback=False, plans=False) as (read, _):
            asked_with = None if reader is None else read
            measure_model(dataset, folder, Path(model), which, limit, asked_with, files)
        return
    if mode in (Mode.TRAIN, Mode.TRAINED_STUDY):
        trained = asked | {"part": part or "dev", "split": split, "fold": _one(fold), "seed": seed}
        trained |= {"train_limit": train_limit, "folder": work}
        trained["encoder"] = encoder if typed(context, "encoder") else None
        wanted = Wanted(preset, config, values or [])
        if study is None:
            train_and_measure(dataset, folder, _numbers(train_seeds), trained, wanted, files)
        else:
            repeat_trained_study(study, dataset, folder, trained, wanted, files)
        return
    if mode is Mode.PATHS:
        rank(dataset, folder, planner or ["linear"], files, part=part, fold=_one(fold), **asked)
        return
    asked |= {"split": split, "seed": seed}
    if max_hops is not None:
        asked["max_hops"] = max_hops
    planners = planner or ["lexical"]
    if mode is Mode.RUN:
        chosen = {"query": query, "codebook": codebook, "part": part}
        asked |= {name: value for name, value in chosen.items() if value is not None}
        if calibration is not None:
            asked["calibration"] = tune.read_calibration(calibration)
        asked["fold"] = fold if fold == "all" else _one(fold)
        with open_reader(reader, llm, model, fallback=False, plans=False) as (opened, chat):
            judged = reader is not None or chat is not None  # else the evidence itself
            asked["reader"] = opened if judged else None
            measure(dataset, folder, planners, asked, files)
        return
    if len(planners) > 1:
        raise typer.BadParameter("give one --planner here")
    asked |= {"part": part or "dev", "fold": _one(fold), "planner": planners[0]}
    if study is None:
        tune_calibration(dataset, folder, asked, files)
    elif mode is Mode.STUDY:
        repeat_study(study, dataset, folder, asked, files)
    else:
        with open_reader(shared.ReaderName.LLM, llm, model, fallback=False, plans=False) as opened:
            repeat_study(study, dataset, folder, asked | {"model": opened[1]}, files)


def _folder(data: Path | None) -> Path | None:
    found = data or os.environ.get(options.DATA_VARIABLE)
    return Path(found) if found else None


def _numbers(text: str | None) -> list[int]:
    if text is None:
        return [0]
    numbers = [part.strip() for part in text.split(",")]
    if not all(number.isdecimal() for number in numbers) or len({*numbers}) < len(numbers):
        raise typer.BadParameter(f"--train-seeds takes different numbers from 0, got {text!r}")
    return [int(number) for number in numbers]


def _one(fold: str) -> int:
    if not fold.isdecimal():
        raise typer.BadParameter(f"--fold must be a number from 0 here, got {fold!r}")
    return int(fold)
