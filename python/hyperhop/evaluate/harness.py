"""Runs PathHD over a part of a benchmark and sums it up."""

import platform
import resource
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from hyperhop.evaluate import benchmarks
from hyperhop.evaluate.benchmarks import PARTS, Question
from hyperhop.evaluate.metrics import bootstrap_interval, f1, hits_at, set_exact
from hyperhop.evaluate.planning import make_planner
from hyperhop.evidence import Evidence
from hyperhop.pathhd import PathHD
from hyperhop.text import TextEncoder, get_encoder

Progress = Callable[[int, int], object]

_RANKED = 10  # entities looked at for hits@10


@dataclass(frozen=True)
class Scores:
    """What one part came to: means over `n` questions of `units` distinct facts.

    Attributes:
        benchmark, split, part, seed: which questions.
        n, units: how many, and how many independent ones.
        hits_at_1, hits_at_5, hits_at_10: a gold answer among the first entities: the best
            sequence's ends in order of name, then those of the next.
        interval: 95 % bootstrap interval of `hits_at_1` over units.
        set_exact, f1: the best sequence's ends against the set of gold answers.
        path_hit_at_1, path_hit_at_3: a gold relation path among the first sequences.
        truncated: share of questions whose search was cut, so that more may exist.
        milliseconds: by stage and "total": median and 90th percentile of a question.
        peak_megabytes: most memory of this process so far.
        settings, versions, day: what it was run with, and when.
    """

    benchmark: str
    split: str
    part: str
    seed: int
    n: int
    units: int
    hits_at_1: float
    interval: tuple[float, float]
    hits_at_5: float
    hits_at_10: float
    set_exact: float
    f1: float
    path_hit_at_1: float
    path_hit_at_3: float
    truncated: float
    milliseconds: dict[str, tuple[float, float]]
    peak_megabytes: float
    settings: dict[str, Any]
    versions: dict[str, str]
    day: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


def evaluate(
    name: str,
    data_dir: str | Path,
    part: str = "dev",
    *,
    split: str | None = None,
    fold: int = 0,
    seed: int = 0,
    limit: int | None = None,
    planner: str = "lexical",
    encoder: str | TextEncoder = "hashing",
    progress: Progress | None = None,
    **options: Any,
) -> Scores:
    """PathHD on one part of a benchmark, topic given, hop count unknown.

    `max_hops` is the set's hop count, shorter sequences are candidates too. What is chosen by
    looking at results is chosen on "dev"; "test" is for a number that is reported once.

    Args:
        name, split, fold, seed: see `benchmarks.load`.
        part: "train", "dev" or "test"; `limit` takes its first questions only.
        planner: see `planning.make_planner`; memories remember the part "train".
        encoder: name or TextEncoder.
        progress: told (questions done, of).
        options: of PathHD; they replace the benchmark's own.

    ValueError for an unknown name, split, part or planner, and for a part without questions.
    """
    if part not in PARTS:
        raise ValueError(f"evaluate: part must be {', '.join(PARTS)}, got {part!r}")
    data = benchmarks.load(name, data_dir, split, fold=fold, seed=seed)
    questions: list[Question] = getattr(data, part)[:limit]
    if not questions:
        raise ValueError(f"evaluate: {name} has no questions in {part} (limit {limit})")
    model = get_encoder(encoder) if isinstance(encoder, str) else encoder
    chosen = {**data.options, **options}
    made = make_planner(planner, data.graph.symbols, model, data.train, questions)
    system = PathHD(data.graph, model, made, **chosen)
    evidence, seconds = [], []
    for done, question in enumerate(questions, 1):
        start = perf_counter()
        evidence.append(system.retrieve(question.text, question.topic))
        seconds.append(perf_counter() - start)
        if progress is not None:
            progress(done, len(questions))
    return Scores(
        benchmark=name,
        split=data.split,
        part=part,
        seed=seed,
        n=len(questions),
        units=len({question.unit for question in questions}),
        **_means(questions, evidence),
        milliseconds=_milliseconds(evidence, seconds),
        peak_megabytes=_peak_megabytes(),
        settings={**chosen, "planner": made.name, "encoder": model.name, "limit": limit},
        versions={name: version(name) for name in ("hyperhop", "numpy")}
        | {"python": platform.python_version()},
        day=date.today().isoformat(),
    )


def _means(questions: Sequence[Question], evidence: Sequence[Evidence]) -> dict[str, Any]:
    ranked = [_entities(one) for one in evidence]
    best = [one.sequences[0].ends if one.sequences else [] for one in evidence]
    paths = [[tuple(s.relations) for s in one.sequences] for one in evidence]
    answers = [question.answers for question in questions]
    first = [float(hits_at(1, r, a)) for r, a in zip(ranked, answers, strict=True)]

    def mean(values: Sequence[float]) -> float:
        return float(np.mean(values))

    def path_hit(k: int) -> float:
        pairs = zip(questions, paths, strict=True)
        return mean([float(not question.paths.isdisjoint(found[:k])) for question, found in pairs])

    return {
        "hits_at_1": mean(first),
        "interval": bootstrap_interval(first, [question.unit for question in questions]),
        "hits_at_5": mean([hits_at(5, r, a) for r, a in zip(ranked, answers, strict=True)]),
        "hits_at_10": mean([hits_at(10, r, a) for r, a in zip(ranked, answers, strict=True)]),
        "set_exact": mean([set_exact(b, a) for b, a in zip(best, answers, strict=True)]),
        "f1": mean([f1(b, a) for b, a in zip(best, answers, strict=True)]),
        "path_hit_at_1": path_hit(1),
        "path_hit_at_3": path_hit(3),
        "truncated": mean([float(one.truncated) for one in evidence]),
    }


def _entities(evidence: Evidence) -> list[str]:
    """The first distinct ends of all sequences, the best sequence's first."""
    found: dict[str, None] = {}
    for sequence in evidence.sequences:
        found.update(dict.fromkeys(sequence.ends))
        if len(found) >= _RANKED:
            break
    return list(found)[:_RANKED]


def _milliseconds(
    evidence: Sequence[Evidence], seconds: Sequence[float]
) -> dict[str, tuple[float, float]]:
    stages: dict[str, list[float]] = {}
    for one in evidence:
        for stage, time in one.timings.items():
            stages.setdefault(stage, []).append(time)
    stages["total"] = [1e3 * time for time in seconds]
    return {
        stage: (float(np.percentile(times, 50)), float(np.percentile(times, 90)))
        for stage, times in stages.items()
    }


def _peak_megabytes() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
