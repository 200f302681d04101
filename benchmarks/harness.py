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

BENCHMARKS = (
    "bench_encode",
    "bench_score_paths",
    "bench_similarity",
    "bench_index",
    "bench_bind",
    "bench_codebook",
    "bench_topk",
    "bench_flow",
    "bench_hop",
    "bench_read",
    "bench_rsf_step",
    "bench_hypernode",
    "bench_help",
    "bench_graph",
    "bench_backtrack",
    "bench_sparse_flow",
    "bench_ingest",
    "bench_binders",
    "bench_pathhd",
)

# Below this many seconds the caches another entrant left would decide: such a run is timed right
# after an untimed one of its own.
SHORT = 0.01


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
    """`check` asserts the answers, ours and the baselines', against a float64 reference; it runs
    before anything is timed. `bytes` is what must be read or written at least. `report` is
    asked after the timing what else is worth a line."""

    kernel: str
    size: str
    ours: Callable[[], object]
    baselines: list[Baseline]
    check: Callable[[], None]
    flop: float = 0.0
    bytes: float = 0.0
    report: Callable[[], str] | None = None


@dataclass
class Times:
    """Seconds, of the whole work."""

    minimum: float
    median: float


@dataclass
class Row:
    """Times of ours and of each baseline, None for one that is not installed; the case's report."""

    case: Case
    ours: Times
    baselines: list[tuple[Baseline, Times | None]] = field(default_factory=list)
    report: str = ""


def cases(module: str, quick: bool, threads: int) -> list[Case]:
    found: list[Case] = importlib.import_module(module).cases(quick, threads)
    return found


def installed(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


def measure(case: Case, rounds: int) -> Row:
    case.check()
    runs = [case.ours] + [b.run for b in case.baselines if b.run]
    short = [_seconds(run) < SHORT for run in runs]  # also warms caches and lazy imports
    seconds: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds):
        for run, is_short, times in zip(runs, short, seconds, strict=True):
            if is_short:
                run()
            times += [_seconds(run) for _ in range(3 if is_short else 1)]
    taken = iter(seconds)
    row = Row(case, _times(next(taken), 1.0))
    for baseline in case.baselines:
        row.baselines.append(
            (baseline, _times(next(taken), baseline.share) if baseline.run else None)
        )
    row.report = case.report() if case.report else ""
    return row


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _times(seconds: list[float], share: float) -> Times:
    return Times(min(seconds) / share, statistics.median(seconds) / share)
