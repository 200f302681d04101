"""Every kernel beside the strongest baseline and the machine's limit, in one run.

    python benchmarks/run.py [--quick] [--only NAME] [--json FILE] [--threads N]

Prints a table; see benchmarks/README.md for how to read it.
"""

import argparse
import datetime
import json
import os
import platform
import sys
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

VERSIONS = (
    "hyperhop",
    "numpy",
    "scipy",
    "torch",
    "torch-hd",
    "torch-geometric",
    "holovec",
    "faiss-cpu",
    "igraph",
    "networkx",
    "pyarrow",
    "pandas",
    "polars",
    "duckdb",
)
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "POLARS_MAX_THREADS",
)


def use_threads(count: int) -> None:
    """Must run before numpy is imported. Lets OpenBLAS choose the kernels of this processor."""
    for name in THREAD_VARIABLES:
        os.environ[name] = str(count)
    os.environ.pop("OPENBLAS_CORETYPE", None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, two rounds")
    parser.add_argument("--only", metavar="NAME", help="one of them, as in similarity")
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the numbers here")
    parser.add_argument("--threads", metavar="N", type=int, default=1, help="for everybody (1)")
    options = parser.parse_args()
    if options.threads < 1:
        parser.error(f"--threads must be at least 1, got {options.threads}")
    use_threads(options.threads)

    import machine
    from harness import BENCHMARKS, cases, measure

    chosen = [name for name in BENCHMARKS if options.only in (None, name.removeprefix("bench_"))]
    if not chosen:
        known = ", ".join(name.removeprefix("bench_") for name in BENCHMARKS)
        parser.error(f"--only must be one of {known}, got {options.only}")
    limits = machine.measure()
    rows = []
    for module in chosen:
        for case in cases(module, options.quick, options.threads):
            print(f"measuring {case.kernel}: {case.size}", file=sys.stderr)
            rows.append(measure(case, rounds=2 if options.quick else 7))
    about = environment(limits, options.threads)
    show(rows, limits, about)
    if options.json:
        options.json.write_text(json.dumps(as_json(rows, about), indent=1), encoding="utf-8")


def environment(limits, threads) -> dict:
    """What a reader needs to know about where the numbers were taken."""
    from threadpoolctl import threadpool_info

    from hyperhop import _core

    versions = {}
    for name in VERSIONS:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return {
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "versions": versions,
        "isa": _core.isa(),
        "threads": threads,
        "pools": [
            f"{pool['internal_api']} {pool.get('version')} {pool.get('architecture', '')}".strip()
            + f" ({pool['num_threads']} threads)"
            for pool in threadpool_info()
        ],
        "limits": asdict(limits),
    }


def show(rows, limits, about) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    where = f"{limits.processor}, {about['isa']}, {about['threads']} thread(s)"
    console.print(f"{about['date']}  {where}; {versions}")
    console.print(f"pools: {'; '.join(about['pools']) or 'none'}", markup=False)
    console.print(
        f"limits of one core: {limits.gflops:.0f} GFLOP/s, DRAM {limits.dram_gbps:.1f} GB/s, "
        f"L3 {limits.l3_gbps:.0f} GB/s"
    )
    for strawmen in (False, True):
        table = Table(title="Strawmen" if strawmen else None, title_justify="left")
        table.add_column("what")
        for name in ("ms (min)", "of limit", "ratio"):
            table.add_column(name, justify="right", no_wrap=True)
        for row in rows:
            baselines = [pair for pair in row.baselines if pair[0].strawman == strawmen]
            if baselines:
                add_case(table, row, baselines, limits)
        if table.row_count:
            console.print(table)
    for row in rows:
        if row.report:
            console.print(f"{row.case.kernel}: {row.case.size}: {row.report}", markup=False)
    console.print(
        "ms: median (minimum). of limit: the least time one core needs, by its FMA peak or its "
        "read bandwidth (L3's where the data fits, else DRAM's), whichever is longer, over our "
        "median. ratio: baseline median / our median. A baseline marked with a percentage ran on "
        "that part of the work, and its time is scaled to all of it.",
        markup=False,
    )


def add_case(table, row, baselines, limits) -> None:
    """One section: ours, then each baseline."""
    from rich.markup import escape

    case = row.case
    table.add_row(f"[bold]{case.kernel}[/]: {case.size}", "", "", "")
    table.add_row("  hyperhop", milliseconds(row.ours), share_of_limit(row, limits), "")
    for baseline, times in baselines:
        if times is None:
            table.add_row(f"  {baseline.name}: not installed", "", "", "")
            continue
        part = "" if baseline.share == 1 else f" [{baseline.share:.0%}]"
        ratio = f"{times.median / row.ours.median:.1f}"
        table.add_row(escape(f"  {baseline.name}{part}"), milliseconds(times), "", ratio)
    table.add_section()


def milliseconds(times) -> str:
    return f"{in_digits(times.median * 1e3)} ({in_digits(times.minimum * 1e3)})"


def in_digits(value: float) -> str:
    """Three significant digits, never an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def share_of_limit(row, limits) -> str:
    case, median = row.case, row.ours.median
    compute = case.flop / (limits.gflops * 1e9)
    traffic = case.bytes / (limits.read_gbps(case.bytes) * 1e9)
    if not case.flop and not case.bytes:
        return ""
    rate = f"{case.flop / median / 1e9:.0f} GFLOP/s"
    if traffic > compute:
        rate = f"{case.bytes / median / 1e9:.1f} GB/s"
    return f"{rate} {max(compute, traffic) / median:.0%}"


def as_json(rows, about) -> dict:
    return {
        **about,
        "rows": [
            {
                "kernel": row.case.kernel,
                "size": row.case.size,
                "flop": row.case.flop,
                "bytes": row.case.bytes,
                "report": row.report,
                "seconds": asdict(row.ours),
                "baselines": [
                    {
                        "name": baseline.name,
                        "seconds": asdict(times) if times else "not installed",
                        "ratio": times.median / row.ours.median if times else None,
                        "share_run": baseline.share,
                        "strawman": baseline.strawman,
                    }
                    for baseline, times in row.baselines
                ],
            }
            for row in rows
        ],
    }


if __name__ == "__main__":
    main()
