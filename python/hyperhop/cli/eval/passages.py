"""``hyperhop eval`` over passages: HELP beside its baselines, its tuning and its studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hyperhop.cli.eval.output import Files, show_table
from hyperhop.cli.eval.run import records_of
from hyperhop.cli.report import busy
from hyperhop.cli.values import named_value
from hyperhop.cli.vectors import kept
from hyperhop.evaluate import studies
from hyperhop.evaluate.passages import comparison
from hyperhop.evaluate.passages.context import INDEX_EXAMPLES, PassageContext
from hyperhop.evaluate.passages.run import PassageRun, measure
from hyperhop.evaluate.passages.tuning import GRID, tune
from hyperhop.evaluate.records import write_records
from hyperhop.evidence import Reader
from hyperhop.help import RetrievalSettings
from hyperhop.text import get_encoder


@dataclass(frozen=True)
class Over:
    """What is asked: a set, the systems named (none: all that can run), and settings of HELP."""

    dataset: str
    folder: Path
    systems: Sequence[str]
    values: Sequence[str]
    which: Mapping[str, Any]

    @property
    def options(self) -> dict[str, Any]:
        """The settings that --with replaces."""
        known = {**asdict(RetrievalSettings()), **INDEX_EXAMPLES}
        given: dict[str, Any] = {}
        for text in self.values:
            given |= named_value(known, text)
        return given

    def context(self, systems: Sequence[str], options: Mapping[str, Any]) -> PassageContext:
        """The set with the vectors of these systems, or of all that can run.

        They are kept for later runs where they are slow to make.
        """
        with busy(f"{self.dataset}, vectors", "texts") as told:
            context = PassageContext(
                self.dataset,
                self.folder,
                encoder=kept(get_encoder(self.which["encoder"])),
                limit=self.which["limit"],
                options=options,
                progress=told,
            )
            for system in systems or context.systems:
                context.index_of(system)
        return context


def measure_passages(over: Over, reader: Reader | None, files: Files) -> None:
    """Ask each system all questions, print the table and write the files."""
    context = over.context(over.systems, over.options)
    _show(_runs(context, over.systems or context.systems, reader), context, files, {})


def tune_passages(over: Over, seed: int, work: Path | None, files: Files) -> None:
    """HELP by what the other folds chose, beside the other systems; what --with names is fixed."""
    grid = {**GRID, **{name: (value,) for name, value in over.options.items()}}
    context = over.context([*over.systems, "help"] if over.systems else [], {})
    with busy(f"tuning on {over.dataset}") as told:
        tuning = tune(context, grid, seed=seed, folder=work, progress=told)
    others = [name for name in over.systems or context.systems if name != "help"]
    runs = [tuning.run, *_runs(context, others, None)]
    _show(runs, context, files, {"tuning": tuning.to_dict()})
    print()
    show_table(tuning.table)


def repeat_passages_study(name: str, over: Over, files: Files) -> None:
    """Run one study of HELP, print its table and write its files."""
    context = over.context([], over.options)
    with busy(f"{name} on {over.dataset}") as told:
        context.studied = told
        study = studies.run_on_passages(name, context)
    show_table(study.table)
    files.write(study.to_dict(), study.table, study.figure)


def _runs(
    context: PassageContext, systems: Sequence[str], reader: Reader | None
) -> list[PassageRun]:
    runs = []
    for system in systems:
        with busy(f"asking {context.set.name}, {system}", "questions") as told:
            runs.append(measure(context, system, reader=reader, progress=told))
    return runs


def _show(
    runs: Sequence[PassageRun], context: PassageContext, files: Files, more: Mapping[str, Any]
) -> None:
    table = comparison.passages_table(runs)
    show_table(table)
    for run in runs:
        path = records_of(files.records, run.system if len(runs) > 1 else "")
        if path is not None:
            write_records(path, run.records)
    everything = comparison.to_dict(runs, {**context.about, **more})
    files.write(everything, table, comparison.passages_figure(runs))
