"""The same retrieved paths, read by several readers: what three studies share."""

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from hyperhop import ghrr
from hyperhop.evaluate.asking import judge
from hyperhop.evaluate.plots import Figure
from hyperhop.evaluate.studies.context import Asked, Context
from hyperhop.evaluate.studies.hypervectors import BUNDLED, make_codebook, plan_scores
from hyperhop.evaluate.studies.outcome import mean
from hyperhop.evaluate.studies.study import Study
from hyperhop.evaluate.tables import Column, Table
from hyperhop.evidence import Answer, Evidence, Reader
from hyperhop.llm import ChatModel, ParseFailure

_KEPT = 3

_COLUMNS = (
    Column("reader", "reader"),
    Column("hits_at_1", "hits@1", ".3f"),
    Column("normalized_hits_at_1", "norm.", ".3f"),
    Column("f1", "F1", ".3f"),
    Column("unreadable", "unread", ".3f"),
    Column("calls", "calls", ".2f"),
    Column("prompt_tokens", "in", ",.0f"),
    Column("completion_tokens", "out", ",.0f"),
    Column("milliseconds", "ms", ",.1f"),
)


def model_of(context: Context, study: str) -> ChatModel:
    """The context's language model. ValueError without one."""
    if context.model is None:
        raise ValueError(f"study: {study} needs a language model, got none")
    return context.model


def compare_readers(
    context: Context, name: str, paper: str, readers: Mapping[str, Reader]
) -> Study:
    """Each reader answers every question from the same paths of the 3 best sequences."""
    codebook = make_codebook(context, "random")
    found = [(asked, _evidence(context, codebook, asked)) for asked in context.asked]
    rows = [_measure(context, label, readers[label], found) for label in context.track([*readers])]
    about = context.about | {"model": None if context.model is None else context.model.name}
    notes = (
        f"Model {about['model']}; the {_KEPT} best sequences of a bundle of {BUNDLED} plans. "
        "hits@1: the first name, exact; norm.: whatever its case, articles and punctuation. "
        "unread: replies that could not be read, which miss. calls, in, out: calls and tokens of a "
        "question, means. ms: median, reading alone.",
    )
    title = f"Readers ({name}) on {context.title}"
    table = Table(title, _COLUMNS, rows, notes)
    figure = Figure(
        *(title, rows, "points", "milliseconds", "hits_at_1"),
        *("milliseconds to read (median)", "hits@1"),
        name="reader",
        log_x=True,
    )
    return Study(name, paper, about, table, figure)


def _evidence(context: Context, codebook: ghrr.Codebook, asked: Asked) -> Evidence:
    scores = plan_scores(codebook, asked)
    return context.evidence(asked, np.asarray(scores, np.float64), _KEPT)


@dataclass(frozen=True)
class _Read:
    """One answer; None for a reply that could not be read."""

    answer: Answer | None
    milliseconds: float


def _measure(
    context: Context, label: str, reader: Reader, found: list[tuple[Asked, Evidence]]
) -> dict[str, Any]:
    read = [_read(reader, asked.question.text, evidence) for asked, evidence in found]
    values = [
        judge(asked.question, evidence, one.answer if one.answer is not None else Answer(""))
        for (asked, evidence), one in zip(found, read, strict=True)
    ]
    answers = [one.answer for one in read if one.answer is not None]
    missed = [0.0] * context.unanswerable
    return {
        "reader": label,
        "hits_at_1": mean([*(one["hits@1"] for one in values), *missed]),
        "normalized_hits_at_1": mean([*(one["alias_hits@1"] for one in values), *missed]),
        "f1": mean([*(one["f1"] for one in values), *missed]),
        "unreadable": mean(one.answer is None for one in read),
        **{
            key: sum(getattr(answer, name) for answer in answers) / len(read)
            for key, name in (
                ("calls", "llm_calls"),
                ("prompt_tokens", "prompt_tokens"),
                ("completion_tokens", "completion_tokens"),
            )
        },
        "milliseconds": float(np.median([one.milliseconds for one in read])),
    }


def _read(reader: Reader, question: str, evidence: Evidence) -> _Read:
    start = perf_counter()
    try:
        answer: Answer | None = reader.read(question, evidence)
    except ParseFailure:
        answer = None
    return _Read(answer, 1e3 * (perf_counter() - start))
