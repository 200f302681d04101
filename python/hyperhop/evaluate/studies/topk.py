"""Table 5: how many paths are kept for the reader."""

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop import ghrr
from hyperhop.evaluate.metrics import hits_at
from hyperhop.evaluate.plots import Figure
from hyperhop.evaluate.studies.context import Asked, Context
from hyperhop.evaluate.studies.hypervectors import BUNDLED, make_codebook, plan_scores
from hyperhop.evaluate.studies.outcome import mean
from hyperhop.evaluate.studies.study import Study
from hyperhop.evaluate.tables import Column, Table
from hyperhop.evidence import Evidence
from hyperhop.help.estimate import BYTES_PER_TOKEN
from hyperhop.llm.listing import list_evidence
from hyperhop.llm.prompts import reader_messages
from hyperhop.text import Verbalizer

_KEPT = (2, 3, 5, None)

_COLUMNS = (
    Column("k", "K"),
    Column("hits_at_1", "hits@1", ".3f"),
    Column("hits_at_5", "hits@5", ".3f"),
    Column("hits_at_10", "hits@10", ".3f"),
    Column("any_answer", "any gold", ".3f"),
    Column("answer_recall", "recall", ".3f"),
    Column("paths", "paths", ".1f"),
    Column("prompt_tokens", "tokens", ",.0f"),
    Column("milliseconds", "ms", ".2f"),
)


def run(context: Context) -> Study:
    """The same scores, of which the K best sequences are kept; "none" prunes nothing.

    Retrieval and scoring stay as they are, so hits@1 of a reader without a language model is the
    same for every K: what changes is what a language model would be shown, and what that costs.
    """
    codebook = make_codebook(context, "random")
    ranked = [_rank(context, codebook, asked) for asked in context.asked]
    rows = [_measure(context, k, ranked) for k in context.track(_KEPT)]
    notes = (
        f"Query: the {BUNDLED} best plans bundled. any gold, recall: a gold answer, and the share "
        "of gold answers, among the ends of the paths shown. paths, tokens: shown for a question, "
        f"means; at most {context.walks.path_cap:,} paths, {BYTES_PER_TOKEN} bytes a token, the "
        "whole prompt. ms: median from question to prompt, no language model.",
    )
    title = f"Paths kept on {context.title}"
    table = Table(title, _COLUMNS, rows, notes)
    figure = Figure(
        *(
            title,
            rows,
            "points",
            "prompt_tokens",
            "any_answer",
            "prompt tokens (mean)",
            "a gold answer shown",
        ),
        name="k",
        log_x=True,
    )
    return Study("topk", "table 5", context.about, table, figure)


@dataclass(frozen=True)
class _Ranked:
    """One question's candidates with their scores, and how long that took."""

    asked: Asked
    scores: npt.NDArray[np.float64]
    milliseconds: float


def _rank(context: Context, codebook: ghrr.Codebook, asked: Asked) -> _Ranked:
    start = perf_counter()
    scores = plan_scores(codebook, asked)
    took = 1e3 * (perf_counter() - start)
    return _Ranked(asked, np.asarray(scores, np.float64), asked.milliseconds + took)


def _measure(context: Context, k: int | None, ranked: list[_Ranked]) -> dict[str, Any]:
    words = Verbalizer()
    values: dict[str, list[float]] = {}
    times = []
    for one in ranked:
        question = one.asked.question
        start = perf_counter()
        evidence = context.evidence(one.asked, one.scores, k)
        listing = list_evidence(evidence, words, context.walks.path_cap)
        messages = reader_messages(question.text, listing)
        times.append(one.milliseconds + 1e3 * (perf_counter() - start))
        shown = {path.entities[-1] for path in evidence.paths} & question.answers
        ends = _ends(evidence)
        size = sum(len(message["content"].encode()) for message in messages)
        found = {
            **{f"hits_at_{n}": hits_at(n, ends, question.answers) for n in (1, 5, 10)},
            "any_answer": bool(shown),
            "answer_recall": len(shown) / len(question.answers),
            "paths": len(evidence.paths),
            "prompt_tokens": size / BYTES_PER_TOKEN,
        }
        for name, value in found.items():
            values.setdefault(name, []).append(float(value))
    without = [0.0] * context.unanswerable
    return {
        "k": "none" if k is None else str(k),
        **{name: mean([*found, *without]) for name, found in values.items()},
        "milliseconds": float(np.median(times)),
    }


def _ends(evidence: Evidence) -> list[str]:
    """Distinct ends, the best sequence's first."""
    return list(dict.fromkeys(end for one in evidence.sequences for end in one.ends))
