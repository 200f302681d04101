"""``hyperhop eval`` of flow models: trained before, trained now, and their studies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from hyperhop.cli.eval.output import Files, show_table
from hyperhop.cli.eval.run import show_runs
from hyperhop.cli.report import busy, say
from hyperhop.cli.train.settings import encoder_of, settings_of
from hyperhop.cli.training import stoppable, watched
from hyperhop.cli.vectors import kept
from hyperhop.evaluate import studies
from hyperhop.evaluate.coverage import Coverage
from hyperhop.evaluate.harness import evaluate_system
from hyperhop.evaluate.trained.context import TrainedContext
from hyperhop.evaluate.trained.seeds import train_seeds
from hyperhop.evaluate.trained.sets import load_sets
from hyperhop.evidence import Reader
from hyperhop.rsf import RSF
from hyperhop.rsf.training import Settings, Step, TrainingStopped
from hyperhop.text import TextEncoder
from hyperhop.text.settings import open_encoder


@dataclass(frozen=True)
class Wanted:
    """How to train, as the options say."""

    preset: str
    config: Path | None
    values: Sequence[str]

    def __call__(self, needs: Mapping[str, Any], questions: int) -> Settings:
        """The settings for what a benchmark needs."""
        return settings_of(self.preset, self.config, self.values, needs, questions)

    def encoder(self, named: str | None) -> TextEncoder:
        """The encoder that is named, or that the file of settings names; or the default one."""
        wanted = encoder_of(self.config, named)
        return open_encoder(None, named) if wanted is None else open_encoder(wanted)


def measure_model(
    dataset: str,
    folder: Path | None,
    directory: Path,
    which: Mapping[str, Any],
    limit: int | None,
    reader: Reader | None,
    files: Files,
) -> None:
    """Ask a trained model, print what it came to and write the files; MetaQA set by set."""
    split = {name: which[name] for name in ("split", "fold", "seed")}
    sets = load_sets(dataset, folder, **split)
    system = RSF.load(directory)
    runs = []
    for one in sets.sets:
        with busy(f"asking {one.name}, {directory}", "questions") as told:
            runs.append(
                evaluate_system(
                    *(one, system, which["part"]),
                    limit=limit,
                    reader=reader,
                    more=Coverage(system),
                    records=files.records,
                    progress=told,
                    settings={"planner": "rsf", "encoder": system.encoder.name},
                )
            )
    show_runs(runs, files)


def train_and_measure(
    dataset: str,
    folder: Path | None,
    seeds: Sequence[int],
    which: Mapping[str, Any],
    wanted: Wanted,
    files: Files,
) -> None:
    """Train and ask a model for each seed, print the table and write the files."""
    with _context(dataset, folder, which, wanted) as context:
        study = train_seeds(context, seeds)
    show_table(study.table)
    files.write(study.to_dict(), study.table, study.figure)


def repeat_trained_study(
    name: str,
    dataset: str,
    folder: Path | None,
    which: Mapping[str, Any],
    wanted: Wanted,
    files: Files,
) -> None:
    """Run one study of RSF, print its table and write its files."""
    with _context(dataset, folder, which, wanted) as context:
        study = studies.run_trained(name, context)
    show_table(study.table)
    files.write(study.to_dict(), study.table, study.figure)


@contextmanager
def _context(
    dataset: str, folder: Path | None, which: Mapping[str, Any], wanted: Wanted
) -> Iterator[TrainedContext]:
    """The context of a run that shows its progress and may be stopped with Ctrl-C."""
    chosen = {**which, "encoder": kept(wanted.encoder(which["encoder"]))}
    with stoppable() as stop, watched("loading") as tell:

        def told(label: str, step: Step) -> None:
            tell(step, label)

        try:
            yield TrainedContext(dataset, folder, **chosen, settings=wanted, told=told, stop=stop)
        except TrainingStopped as stopped:
            work = which["folder"]
            more = "the same command goes on" if work else "without --work nothing was kept"
            say(f"{stopped}; {more}")
            raise typer.Exit(130) from None
