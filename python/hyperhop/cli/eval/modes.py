"""What ``hyperhop eval`` can do, and which options each of it understands."""

from __future__ import annotations

from enum import Enum

import typer

from hyperhop.cli.options import SystemName
from hyperhop.evaluate import path_ranking, studies

_QUESTIONS = {"dataset", "data", "planner", "encoder", "part", "fold", "limit"}
_BENCHMARK = _QUESTIONS | {"split", "seed", "max_hops"}
_FILES = {"json", "markdown", "latex", "plot"}
_TRAINED = {"dataset", "data", "encoder", "part", "fold", "limit", "split", "seed"} | _FILES
_TRAINED |= {"preset", "config", "values", "train_limit", "work"}


class Mode(Enum):
    """What was asked for: its name in messages, and the options that have a meaning for it."""

    LIST = ("--list", {"listed", "data"})
    PATHS = (path_ranking.NAME, _QUESTIONS | _FILES)
    TUNE = ("--tune", _BENCHMARK | _FILES | {"tuning"})
    STUDY = ("--study", _BENCHMARK | _FILES | {"study"})
    READING = ("--study of readers", _BENCHMARK | _FILES | {"study", "llm", "model"})
    TRAINED_STUDY = ("--study of RSF", _TRAINED | {"study", "system"})
    TRAIN = ("--system rsf", _TRAINED | {"system", "train_seeds"})
    MODEL = (
        "--system rsf --model",
        {"dataset", "data", "part", "fold", "limit", "split", "seed", "system", "model"}
        | _FILES
        | {"reader", "records"},
    )
    RUN = (
        "a run",
        _BENCHMARK
        | _FILES
        | {"query", "codebook", "calibration", "reader", "llm", "model", "records", "system"},
    )


def mode_of(context: typer.Context) -> Mode:
    """The mode that the options given name.

    ValueError for an unknown study; typer.BadParameter for an option that the mode has no use for,
    and where a dataset is missing.
    """
    given = context.params
    study = given["study"]
    if study is not None:
        studies.check_name(study)
    if given["listed"]:
        mode = Mode.LIST
    elif given["dataset"] is None:
        raise typer.BadParameter("name a DATASET; hyperhop eval --list lists them")
    elif given["dataset"] == path_ranking.NAME:
        mode = Mode.PATHS
    elif given["tuning"]:
        mode = Mode.TUNE
    elif study in studies.TRAINED:
        mode = Mode.TRAINED_STUDY
    elif study is None and given["system"] == SystemName.RSF:
        mode = Mode.TRAIN if given["model"] is None else Mode.MODEL
    elif study is not None:
        mode = Mode.READING if study in studies.WITH_MODEL else Mode.STUDY
    else:
        mode = Mode.RUN
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
