"""Plain runs of ``hyperhop eval``: one planner in detail, several side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hyperhop.cli.eval.output import Files, show_table
from hyperhop.cli.report import busy, show_rows
from hyperhop.evaluate import Scores, evaluate
from hyperhop.evaluate.comparison import latency_figure, scores_table


def measure(
    dataset: str,
    folder: Path | None,
    planners: Sequence[str],
    which: Mapping[str, Any],
    files: Files,
) -> None:
    """Ask the questions once for each planner, print what it came to and write the files."""
    runs = []
    for planner in planners:
        with busy(f"asking {dataset}, {planner}", "questions") as told:
            named = records_of(files.records, planner if len(planners) > 1 else "")
            runs.append(
                evaluate(dataset, folder, planner=planner, records=named, progress=told, **which)
            )
    show_runs(runs, files)


def show_runs(runs: Sequence[Scores], files: Files) -> None:
    """Print one run in detail or several side by side, and write the files."""
    table = scores_table(runs)
    if len(runs) == 1:
        show_rows(_rows(runs[0]))
    else:
        show_table(table)
    everything = [run.to_dict() for run in runs]
    files.write(
        everything[0] if len(runs) == 1 else {"runs": everything}, table, latency_figure(runs)
    )


def records_of(records: Path | None, what: str) -> Path | None:
    """The file of records of one planner or system: one of several has its name in it."""
    if records is None or not what:
        return records
    return records.with_stem(f"{records.stem}-{what.replace('*', 'x')}")


def _rows(scores: Scores) -> list[tuple[str, str]]:
    low, high = scores.interval
    median, slow = scores.milliseconds["total"]
    stages = ", ".join(
        f"{stage} {time:.2f}"
        for stage, (time, _) in scores.milliseconds.items()
        if stage != "total"
    )
    settings = ", ".join(f"{name} {_short(value)}" for name, value in scores.settings.items())
    return [
        ("benchmark", f"{scores.benchmark}, {scores.part} of {scores.split}, seed {scores.seed}"),
        *([("note", scores.note)] if scores.note else []),
        ("questions", f"{scores.n:,} about {scores.units:,} facts"),
        ("hits@1", f"{scores.hits_at_1:.3f} ({low:.3f} to {high:.3f})"),
        *([("of folds", _folds(scores.by_fold))] if scores.by_fold else []),
        ("hits@5, @10", f"{scores.hits_at_5:.3f}, {scores.hits_at_10:.3f}"),
        ("answer sets", f"exact {scores.set_exact:.3f}, F1 {scores.f1:.3f}"),
        ("gold path", _gold_path(scores)),
        *((f"level {name}", _level(means)) for name, means in scores.by_level.items()),
        *((name, f"{scores.metrics[name]:.3f}") for name in _COVERAGES if name in scores.metrics),
        ("cut searches", f"{scores.truncated:.1%}"),
        *([("not asked", f"{scores.unasked:.1%}")] if scores.unasked else []),
        ("milliseconds", f"{median:.2f} median, {slow:.2f} slowest tenth"),
        ("by stage", stages),
        *([("calls", _calls(scores))] if scores.llm_attempts else []),
        ("memory", f"{scores.peak_megabytes:,.0f} MB at most"),
        ("settings", settings),
        ("with", ", ".join(f"{name} {value}" for name, value in scores.versions.items())),
    ]


_COVERAGES = ("topic_in_graph", "answer_in_graph", "candidate_coverage", "answer_coverage")


def _gold_path(scores: Scores) -> str:
    if scores.path_hit_at_1 is None or scores.path_hit_at_3 is None:
        return "none known"
    of = f" of {scores.with_paths:,} questions" if scores.with_paths < scores.n else ""
    return f"@1 {scores.path_hit_at_1:.3f}, @3 {scores.path_hit_at_3:.3f}{of}"


def _folds(hits: Sequence[float]) -> str:
    return f"mean {sum(hits) / len(hits):.3f}; " + " ".join(f"{hit:.3f}" for hit in hits)


def _level(means: Mapping[str, float]) -> str:
    return f"hits@1 {means['hits@1']:.3f}, F1 {means['f1']:.3f} of {means['n']:,.0f} questions"


def _calls(scores: Scores) -> str:
    tokens = f"{scores.prompt_tokens:,} tokens in, {scores.completion_tokens:,} out"
    return f"{scores.llm_calls:,} of a language model, {tokens}"


def _short(value: object) -> str:
    """A calibration without its frequencies."""
    if isinstance(value, Mapping):
        return f"{value['alpha']}/{value['beta']}/{value['lam']} {value['idf']}"
    return str(value)
