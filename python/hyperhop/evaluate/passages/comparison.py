"""Systems side by side on the same questions, with paired differences from the first of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from hyperhop.evaluate.passages.run import PassageRun
from hyperhop.evaluate.plots import Figure
from hyperhop.evaluate.records import compare
from hyperhop.evaluate.tables import Column, Table

BASE = "dense"  # what the others are compared with, where it was asked

_COLUMNS = (
    Column("system", "system"),
    Column("recall@2", "recall@2", ".1f"),
    Column("recall@5", "recall@5", ".1f"),
    Column("interval", "95 %", ".1f"),
    Column("gain", "+/-", "+.1f"),
    Column("gain_interval", "95 %", "+.1f"),
    Column("recall@10", "recall@10", ".1f"),
    Column("all_passages@5", "all@5", ".1f"),
    Column("answer@5", "answer@5", ".1f"),
    Column("alias_exact_match", "EM", ".1f"),
    Column("alias_token_f1", "F1", ".1f"),
    Column("encoder_calls", "encoded", ",.0f"),
    Column("search", "ms", ".2f"),
)


def passages_table(runs: Sequence[PassageRun]) -> Table:
    """One row a run, as they come; all of the same questions. Columns without a value are left out.

    O(runs * resamples of the bootstrap).
    """
    first = runs[0].scores
    base = next((run for run in runs if run.system == BASE), None)
    rows = [row(run, base) for run in runs]
    columns = [one for one in _COLUMNS if any(entry.get(one.key) is not None for entry in rows)]
    notes = [
        f"{first.n:,} questions, encoder {first.settings['encoder']}. Per cent of gold passages "
        "among the first 2, 5, 10; all@5: all of them; answer@5: an answer is a substring of the "
        "first 5. 95 %: bootstrap over questions; +/-: recall@5 less that of dense, paired. ms: "
        "median of a question without encoding it; encoded: candidates encoded for a question.",
    ]
    if any(run.system == "help" for run in runs):
        notes.append(
            "help at 10: asked for 10 passages, with its quota in proportion; elsewhere for "
            f"{next(run for run in runs if run.system == 'help').scores.settings['passages']}."
        )
    return Table(first.benchmark, columns, rows, [*notes, *filter(None, [first.note])])


def row(run: PassageRun, base: PassageRun | None = None) -> dict[str, Any]:
    """A run in per cent; the gain over `base` where that is another run."""
    scores = run.scores
    shown = {key: 100 * value for key, value in scores.metrics.items()}
    interval = scores.intervals.get("recall@5")
    found: dict[str, Any] = {
        "system": run.system,
        **shown,
        "interval": None if interval is None else percent(interval),
        "encoder_calls": scores.encoder_calls / scores.n or None,
        "search": search_milliseconds(run),
    }
    if base is not None and base is not run and interval is not None:
        gain = compare(run.records, base.records, "recall@5")
        found |= {"gain": 100 * gain.mean, "gain_interval": percent(gain[1:])}
    return found


def search_milliseconds(run: PassageRun) -> float:
    """Median over questions of all stages but encoding the question and reading."""
    times = sorted(
        sum(time for stage, time in one.milliseconds.items() if stage not in _OTHERS)
        for one in run.records
    )
    return times[len(times) // 2]


def passages_figure(runs: Sequence[PassageRun]) -> Figure:
    """Recall@5 (without gold passages answer@5) against the time of a question."""
    table = passages_table(runs)
    metric = "recall@5" if "recall@5" in table.rows[0] else "answer@5"
    return Figure(
        *(table.title, table.rows, "points", "search", metric),
        *("milliseconds a question, encoding it aside (median)", f"{metric}, %"),
        name="system",
        log_x=True,
    )


def percent(interval: Sequence[float]) -> tuple[float, ...]:
    """The same shares in per cent."""
    return tuple(100 * bound for bound in interval)


def to_dict(runs: Sequence[PassageRun], about: Mapping[str, Any]) -> dict[str, Any]:
    """Plain values, ready for JSON: what was run, each run's scores, the rows of the table."""
    table = passages_table(runs)
    return {
        **about,
        "runs": {run.system: run.scores.to_dict() for run in runs},
        "rows": [dict(one) for one in table.rows],
        "notes": list(table.notes),
    }


_OTHERS = ("encode", "read", "total")
