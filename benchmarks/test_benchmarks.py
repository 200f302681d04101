"""`pytest benchmarks/`: every case with its answer asserted, timed by pytest-benchmark.

Ours and the baselines are separate tests in one group, so the report shows them side by side.
"""

import os

import pytest

from harness import BENCHMARKS, cases

QUICK = os.environ.get("HYPERHOP_BENCH_QUICK") == "1"
ROUNDS = 2 if QUICK else 5
CASES = [case for module in BENCHMARKS for case in cases(module, QUICK, threads=1)]
RUNS = [
    pytest.param(case, name, run, share, id=f"{case.kernel}-{case.size}-{name}")
    for case in CASES
    for name, run, share in [("hyperhop", case.ours, 1.0)]
    + [(b.name, b.run, b.share) for b in case.baselines]
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kernel}-{case.size}")
def test_answer(case):
    case.check()


@pytest.mark.parametrize(("case", "name", "run", "share"), RUNS)
def test_speed(benchmark, case, name, run, share):
    if run is None:
        pytest.skip(f"{name} is not installed")
    benchmark.group = f"{case.kernel}: {case.size}"
    benchmark.extra_info["share_of_the_work"] = share
    benchmark.pedantic(run, rounds=ROUNDS, warmup_rounds=1)
