"""Seconds for a thousand questions: every system, HELP by every scorer, alone and in batches."""

from time import perf_counter
from typing import Any, get_args

from hyperhop.evaluate.asking import ask
from hyperhop.evaluate.passages.comparison import row
from hyperhop.evaluate.passages.context import PassageContext
from hyperhop.evaluate.passages.run import PassageRun, scored
from hyperhop.evaluate.passages.studies.measured import about
from hyperhop.evaluate.plots import Figure
from hyperhop.evaluate.studies.study import Study
from hyperhop.evaluate.tables import Column, Table
from hyperhop.evidence import Retriever
from hyperhop.help import HELP
from hyperhop.help.scorers import ScorerName
from hyperhop.text import CachedEncoder, TextEncoder, encode_queries

_BATCH = 64
_WARM = "Is anybody here?"  # asked first, so that nothing is made or paged in while it counts

_COLUMNS = (
    Column("system", "system"),
    Column("alone", "s / 1,000", ",.2f"),
    Column("batched", f"s / 1,000 by {_BATCH}", ",.2f"),
    Column("encoder_calls", "encoded", ",.0f"),
    Column("cache_hits", "cached", ",.0f"),
    Column("recall@5", "recall@5", ".1f"),
)


def run(context: PassageContext) -> Study:
    """Time every system that can run; HELP keeps the context's other options."""
    encoder = _uncached(context.encoder)
    labels = [name for name in context.systems if name != "help"]
    if "help" in context.systems:
        labels += get_args(ScorerName)
    rows = [_row(context, label, encoder) for label in context.track(labels)]
    notes = (
        f"{len(context.questions):,} questions over {len(context.set.passages):,} passages. "
        f"Encoding the questions comes on top: {_encoding(context, encoder):.2f} s / 1,000, one by "
        f"one ({encoder.name}). encoded, cached: candidates for a question that the encoder was "
        "given, and those whose vector an earlier one had left.",
        *context.set.said,
    )
    table = Table(f"Speed on {context.set.title}", _COLUMNS, rows, notes)
    figure = Figure(*(table.title, rows, "bars", "system", "alone", "", "seconds for 1,000"))
    return Study("speed", "figure 2", about(context), table, figure)


def _row(context: PassageContext, label: str, encoder: TextEncoder) -> dict[str, Any]:
    made: Retriever
    if label in context.systems:
        made = context.system(label)
    else:
        made = context.help(encoder, scorer=label)
        label = f"help, {label}"
    made.retrieve(_WARM)
    records = ask(made, context.questions)
    found = PassageRun(label, records, scored(context, records, {"system": label}))
    times = [record.milliseconds for record in records]
    spent = sum(sum(one.values()) - one["total"] - one.get("encode", 0) for one in times)
    return {
        **row(found),
        "alone": spent / len(times),  # milliseconds a question are seconds a thousand
        "batched": _batched(context, made) if isinstance(made, HELP) else None,
        "cache_hits": found.scores.cache_hits / found.scores.n or None,
    }


def _batched(context: PassageContext, system: HELP) -> float | None:
    """Seconds for 1,000 questions in batches, encoding them left out.

    None where candidates are encoded: their vectors have been kept from asking one by one.
    """
    if system.settings.scorer != "composition":
        return None
    texts = [question.text for question in context.questions]
    spent = 0.0
    for start in range(0, len(texts), _BATCH):
        batch = system.retrieve_batch(texts[start : start + _BATCH], threads=1)
        spent += sum(
            time for one in batch for stage, time in one.timings.items() if stage != "encode"
        )
    return spent / len(texts)


def _encoding(context: PassageContext, encoder: TextEncoder) -> float:
    """Seconds to encode 1,000 questions one by one."""
    encode_queries(encoder, [_WARM])
    start = perf_counter()
    for question in context.questions:
        encode_queries(encoder, [question.text])
    return (perf_counter() - start) * 1e3 / len(context.questions)


def _uncached(encoder: TextEncoder) -> TextEncoder:
    """The encoder itself: what a folder holds from an earlier run would not be its time."""
    return encoder.encoder if isinstance(encoder, CachedEncoder) else encoder
