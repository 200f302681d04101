"""What ``hyperhop eval`` can do, and which options each of it understands."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

import typer

from hyperhop.cli.eval.options import EvalSystem
from hyperhop.evaluate import passages, path_ranking, studies

_QUESTIONS = {"dataset", "data", "planner", "encoder", "part", "fold", "limit"}
_BENCHMARK = _QUESTIONS | {"split", "seed", "max_hops"}
_FILES = {"json", "markdown", "latex", "plot"}
_TRAINED = {"dataset", "data", "encoder", "part", "fold", "limit", "split", "seed"} | _FILES
_PASSAGES = {"dataset", "data", "encoder", "limit", "values"} | _FILES
_TRAINED |= {"preset", "config", "values", "train_limit", "work"}


class Mode(Enum):
    """What was asked for: its name in messages, and the options that have a meaning for it."""

    LIST = ("--list", {"listed", "data"})
    PATHS = (path_ranking.NAME, _QUESTIONS | _FILES)
    TUNE = ("--tune", _BENCHMARK | _FILES | {"tuning"})
    STUDY = ("--study", _BENCHMARK | _FILES | {"study"})
    READING = ("--study of readers", _BENCHMARK | _FILES | {"study", "llm", "model"})
    PASSAGES = (
        "a run over passages",
        _PASSAGES | {"systems", "reader", "llm", "model", "records"},
    )
    PASSAGES_TUNE = (
        "--tune over passages",
        _PASSAGES | {"systems", "tuning", "seed", "work", "records"},
    )
    PASSAGES_STUDY = ("--study over passages", _PASSAGES | {"study"})
    TRAINED_STUDY = ("--study of RSF", _TRAINED | {"study", "systems"})
    TRAIN = ("--system rsf", _TRAINED | {"systems", "train_seeds"})
    MODEL = (
        "--system rsf --model",
        {"dataset", "data", "part", "fold", "limit", "split", "seed", "systems", "model"}
        | _FILES
        | {"reader", "records"},
    )
    RUN = (
        "a run",
        _BENCHMARK
        | _FILES
        | {"query", "codebook", "calibration", "reader", "llm", "model", "records", "systems"},
    )


def mode_of(context: typer.Context) -> Mode:
    """The mode that the options given name.

    ValueError for an unknown study; typer.BadParameter for an option that the mode has no use for,
    and where a dataset is missing.
    """
    given = context.params
    study, dataset = given["study"], given["dataset"]
    if study is not None:
        studies.check_name(study)
    if given["listed"]:
        mode = Mode.LIST
    elif dataset is None:
        raise typer.BadParameter("name a DATASET; hyperhop eval --list lists them")
    elif dataset in passages.names():
        mode = _over_passages(given)
    else:
        mode = _over_graphs(given)
    name, understood = mode.value
    for option in context.command.params:
        if option.name not in understood and typed(context, option.name or ""):
            what = "DATASET" if option.name == "dataset" else option.opts[0]
            raise typer.BadParameter(f"{name} has no use for {what}")
    return mode


def typed(context: typer.Context, option: str) -> bool:
    """Whether an option was given, not just its default taken."""
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def _over_passages(given: Mapping[str, Any]) -> Mode:
    study = given["study"]
    if study is not None and study not in studies.ON_PASSAGES:
        raise typer.BadParameter(
            f"over passages the studies are {', '.join(studies.ON_PASSAGES)}, got {study}"
        )
    for system in given["systems"] or []:
        if system not in passages.SYSTEMS:
            raise typer.BadParameter(
                f"over passages the systems are {', '.join(passages.SYSTEMS)}, got {system}"
            )
    if given["tuning"]:
        return Mode.PASSAGES_TUNE
    return Mode.PASSAGES if study is None else Mode.PASSAGES_STUDY


def _over_graphs(given: Mapping[str, Any]) -> Mode:
    study, systems = given["study"], given["systems"] or [EvalSystem.PATHHD]
    over_graphs = (EvalSystem.PATHHD, EvalSystem.RSF)
    if len(systems) > 1 or systems[0] not in over_graphs:
        raise typer.BadParameter(
            f"over a graph give one --system, {' or '.join(over_graphs)}, got {', '.join(systems)}"
        )
    if study in studies.ON_PASSAGES:
        raise typer.BadParameter(
            f"the study {study} is over passages: name one of {', '.join(passages.names())}"
        )
    if given["dataset"] == path_ranking.NAME:
        return Mode.PATHS
    if given["tuning"]:
        return Mode.TUNE
    if study in studies.TRAINED:
        return Mode.TRAINED_STUDY
    if study is None and systems[0] == EvalSystem.RSF:
        return Mode.TRAIN if given["model"] is None else Mode.MODEL
    if study is not None:
        return Mode.READING if study in studies.WITH_MODEL else Mode.STUDY
    return Mode.RUN
