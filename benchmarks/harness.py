"""One shape for every benchmark: a case is ours, its baselines, and how much work it is.

Timings alternate (ours, first baseline, ..., ours, ...) in one process, so that a machine whose
speed drifts slows all of them alike; the ratio is that of the medians.
"""

import importlib
import importlib.util
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

BENCHMARKS = ("bench_encode", "bench_score_paths", "bench_topk")


@dataclass
class Baseline:
    """Something to compare with. `share` is the part of the work it does, for baselines too slow to
    run whole: their times are divided by it. `run` is None where the library is missing."""

    name: str
    run: Callable[[], object] | None
    share: float = 1.0
    strawman: bool = False


@dataclass
class Case:
    """`check` asserts our answer against a float64 reference; it runs before anything is timed."""

    kernel: str
    size: str
    ours: Callable[[], object]
    baselines: list[Baseline]
    check: Callable[[], None]
    flop: float = 0.0
    bytes: float = 0.0


@dataclass
class Row:
    """Seconds: minimum and median of ours and of each baseline."""

    case: Case
    minimum: float
    median: float
    baselines: list[tuple[Baseline, float, float]] = field(default_factory=list)


def cases(module: str, quick: bool) -> list[Case]:
    found: list[Case] = importlib.import_module(module).cases(quick)
    return found


def installed(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


def measure(case: Case, rounds: int) -> Row:
    case.check()
    entrants = [(None, case.ours)] + [(b, b.run) for b in case.baselines if b.run]
    seconds: list[list[float]] = [[] for _ in entrants]
    for number in range(rounds + 1):
        for (_, run), times in zip(entrants, seconds, strict=True):
            start = time.perf_counter()
            run()
            elapsed = time.perf_counter() - start
            if number:  # the first round warms caches and lazy imports
                times.append(elapsed)
    row = Row(case, min(seconds[0]), statistics.median(seconds[0]))
    for (baseline, _), times in zip(entrants[1:], seconds[1:], strict=True):
        row.baselines.append(
            (baseline, min(times) / baseline.share, statistics.median(times) / baseline.share)
        )
    return row
