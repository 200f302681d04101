"""The result of a run: means, intervals, times, and everything it was run with."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

import numpy as np

from hyperhop.evaluate import machine
from hyperhop.evaluate.metrics import bootstrap_intervals
from hyperhop.evaluate.records import Record


@dataclass(frozen=True)
class Scores:
    """What some questions came to: means over `n` questions of `units` distinct facts.

    Attributes:
        benchmark, split, part, seed: which questions.
        note: what every number must be read with, "" for nothing.
        n, units: how many questions, and how many independent ones.
        hits_at_1, hits_at_5, hits_at_10: a gold answer among the first entities (see
            `Record.predicted`), by exact name.
        interval: 95 % bootstrap interval of `hits_at_1` over units (see `bootstrap_intervals`).
        alias_hits_at_1: the first entity, normalised, is an answer or another name of one.
        set_exact, f1: the whole answer (see `Record.ends`) against the set of gold answers.
        exact_match, token_f1: the answer's words, or without a reader the first entity, against the
            gold answer that fits best, both normalised.
        rog_hit: a gold answer is a substring of the answer, both normalised.
        with_paths: questions with a gold path; of them alone are path_hit_at_1 and path_hit_at_3, a
            gold relation path among the first sequences (None without any).
        intervals: the same of every entry of `metrics`.
        metrics: means of all that was measured by name, the above included, and "recall@k" and
            "passage_hit@k" of passages, "topic_in_graph", "answer_in_graph", "candidate_coverage"
            and "answer_coverage" where they were asked for; each over the questions that it says
            something about, which `counts` has the number of.
        by_level: the same means, and "n", for each level, such as GrailQA's.
        by_fold: `hits_at_1` of each fold, where several were run; their mean weighs folds alike,
            `hits_at_1` questions.
        truncated: share of questions whose search was cut, so that more may exist; they count.
        unasked: share of questions that could not be asked, mostly for want of a topic; they miss.
        milliseconds: by stage and "total": median and 90th percentile of a question.
        llm_calls, llm_attempts, prompt_tokens, completion_tokens: of planner and reader, sums.
        encoder_calls, cache_hits: of scoring candidates, sums.
        peak_megabytes: most memory of this process so far.
        settings, versions, machine, day: what it was run with, on what, and when.
    """

    benchmark: str
    split: str
    part: str
    seed: int
    note: str
    n: int
    units: int
    hits_at_1: float
    interval: tuple[float, float]
    hits_at_5: float
    hits_at_10: float
    alias_hits_at_1: float
    set_exact: float
    f1: float
    exact_match: float
    token_f1: float
    rog_hit: float
    with_paths: int
    path_hit_at_1: float | None
    path_hit_at_3: float | None
    metrics: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    counts: dict[str, int]
    by_level: dict[str, dict[str, float]]
    by_fold: list[float]
    truncated: float
    unasked: float
    milliseconds: dict[str, tuple[float, float]]
    llm_calls: int
    llm_attempts: int
    prompt_tokens: int
    completion_tokens: int
    encoder_calls: int
    cache_hits: int
    peak_megabytes: float
    settings: dict[str, Any]
    versions: dict[str, str]
    machine: dict[str, str]
    day: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


def summarize(
    records: Sequence[Record],
    *,
    benchmark: str,
    split: str,
    part: str,
    seed: int = 0,
    note: str = "",
    folds: Sequence[Sequence[Record]] = (),
    settings: Mapping[str, Any] | None = None,
) -> Scores:
    """Scores of any records, of several runs too: to merge runs is to sum up their records.

    `folds` are the same records fold by fold. ValueError without records. O(n * resamples).
    """
    if not records:
        raise ValueError("summarize: needs at least one record, got none")
    peak = machine.peak_megabytes()  # before summing up takes more
    means, counts = _means(records)
    intervals = _intervals(records, list(means))
    levels = sorted({record.level for record in records} - {""})
    return Scores(
        benchmark=benchmark,
        split=split,
        part=part,
        seed=seed,
        note=note,
        n=len(records),
        units=len({record.unit for record in records}),
        hits_at_1=means["hits@1"],
        interval=intervals["hits@1"],
        hits_at_5=means["hits@5"],
        hits_at_10=means["hits@10"],
        alias_hits_at_1=means["alias_hits@1"],
        set_exact=means["set_exact"],
        f1=means["f1"],
        exact_match=means["exact_match"],
        token_f1=means["token_f1"],
        rog_hit=means["rog_hit"],
        with_paths=counts.get("path_hit@1", 0),
        path_hit_at_1=means.get("path_hit@1"),
        path_hit_at_3=means.get("path_hit@3"),
        metrics=means,
        intervals=intervals,
        counts=counts,
        by_level={level: _of_level(records, level) for level in levels},
        by_fold=[_means(fold)[0]["hits@1"] for fold in folds],
        truncated=float(np.mean([record.truncated for record in records])),
        unasked=float(np.mean([bool(record.unasked) for record in records])),
        milliseconds=machine.percentiles(record.milliseconds for record in records),
        llm_calls=sum(record.llm_calls for record in records),
        llm_attempts=sum(record.llm_attempts for record in records),
        prompt_tokens=sum(record.prompt_tokens for record in records),
        completion_tokens=sum(record.completion_tokens for record in records),
        encoder_calls=sum(record.encoder_calls for record in records),
        cache_hits=sum(record.cache_hits for record in records),
        peak_megabytes=peak,
        settings=dict(settings or {}),
        versions=machine.versions(),
        machine=machine.machine(),
        day=date.today().isoformat(),
    )


def _means(records: Sequence[Record]) -> tuple[dict[str, float], dict[str, int]]:
    """Mean of each metric, and of how many questions."""
    values: dict[str, list[float]] = {}
    for record in records:
        for name, value in record.values.items():
            values.setdefault(name, []).append(value)
    means = {name: float(np.mean(found)) for name, found in values.items()}
    return means, {name: len(found) for name, found in values.items()}


def _intervals(records: Sequence[Record], names: list[str]) -> dict[str, tuple[float, float]]:
    ordered = sorted(records, key=lambda record: record.id)  # so that merging in any order is one
    table = [[record.values.get(name, np.nan) for name in names] for record in ordered]
    found = bootstrap_intervals(table, [record.unit for record in ordered]).tolist()
    return {name: (low, high) for name, (low, high) in zip(names, found, strict=True)}


def _of_level(records: Sequence[Record], level: str) -> dict[str, float]:
    chosen = [record for record in records if record.level == level]
    return {"n": len(chosen), **_means(chosen)[0]}
