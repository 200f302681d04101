"""Instructions our module executes in each kernel, counted by callgrind and held to a record.

    python tests/instructions.py             # count, and fail above the record plus 10 %
    python tests/instructions.py --record    # make what is counted now the record, on purpose

Needs valgrind. The counts are of `_core` alone, whatever Python and NumPy do, so they need neither
symbols nor an idle machine; they depend on the compiler, which is why records are kept for each.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

from hyperhop import _core

RECORDS = Path(__file__).with_suffix(".json")
WORKLOAD = Path(__file__).with_name("instructions_workload.py")
KERNELS = ("encode", "score_paths", "score_paths complete", "topk")
TOLERANCE = 0.10
RECORD_COMMAND = "python tests/instructions.py --record"

# valgrind has no AVX-512.
ISA = "avx2" if "avx2" in _core.isas() else "baseline"
BUILD = f"{_core.compiler()}, {platform.machine()} {ISA}"


def recorded() -> dict[str, int] | None:
    """The record of a build like this one, or None."""
    return records().get(BUILD)


def write_record(counts: dict[str, int]) -> None:
    text = json.dumps({**records(), BUILD: counts}, indent=2, sort_keys=True)
    RECORDS.write_text(text + "\n", encoding="utf-8")


def records() -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = json.loads(RECORDS.read_text(encoding="utf-8"))
    return found


def count() -> dict[str, int]:
    """Runs the workload under callgrind: instructions inside `_core` for each kernel."""
    environment = {
        **os.environ,
        "HYPERHOP_ISA": ISA,
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    with tempfile.TemporaryDirectory() as folder:
        dumps = Path(folder) / "callgrind"
        command = [
            *("valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={dumps}"),
            *("--dump-before=getppid", sys.executable, str(WORKLOAD)),
        ]
        subprocess.run(command, env=environment, check=True)
        # The first dump is what came before the first kernel.
        parts = [Path(f"{dumps}.{number + 2}") for number in range(len(KERNELS))]
        library = os.path.realpath(_core.__file__)
        counts = {
            kernel: inside(part.read_text(encoding="utf-8"), library)
            for kernel, part in zip(KERNELS, parts, strict=True)
        }
    if not all(counts.values()):
        raise RuntimeError(f"callgrind saw no instructions in {library}: {counts}")
    return counts


def inside(dump: str, library: str) -> int:
    """Instructions of one callgrind dump spent in the functions of one shared library."""
    names: dict[str, str] = {}
    total, ours, skip = 0, False, False
    for line in dump.splitlines():
        if line.startswith(("ob=", "cob=")):
            number, _, name = line.partition("=")[2].partition(" ")
            if name:  # an id stands for its name from here on
                names[number] = name
            if line.startswith("ob="):
                ours = names[number] == library
        elif line.startswith("calls="):
            skip = True  # the next line is what the called function costs
        elif line[:1] in "0123456789+-*" and line:
            if ours and not skip:
                total += int(line.split()[1])
            skip = False
    return total


def excesses(counts: dict[str, int], record: dict[str, int]) -> list[str]:
    """One sentence for each kernel that needs too many."""
    return [
        f"{kernel}: {counts[kernel]:,} instructions, {counts[kernel] / allowed - 1:+.1%} on the "
        f"record of {allowed:,} ({BUILD})"
        for kernel, allowed in record.items()
        if counts[kernel] > allowed * (1 + TOLERANCE)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="make this the record")
    options = parser.parse_args()
    counts, known = count(), recorded()
    print(BUILD)
    for kernel, number in counts.items():
        change = f"{number / known[kernel] - 1:+.1%}" if known and kernel in known else "no record"
        print(f"{kernel:24}{number:>14,}  {change}")
    if options.record:
        write_record(counts)
    elif known is None:
        sys.exit(f"no record for this build: {RECORD_COMMAND}")
    elif excesses(counts, known):
        sys.exit("\n".join(excesses(counts, known)))


if __name__ == "__main__":
    main()
