"""What one core of this machine can do at most: FMA peak, and read bandwidth of DRAM and L3.

Measured by a few loops in machine.c, compiled with the system's `cc` into a temporary directory.
"""

import ctypes
import os
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Limits:
    """One thread: GFLOP/s of fused multiply-adds in float32, GB/s read."""

    gflops: float
    dram_gbps: float
    l3_gbps: float
    l3_bytes: int
    processor: str

    def read_gbps(self, size: float) -> float:
        """For `size` bytes used again and again: L3's where they fit with room to spare."""
        return self.l3_gbps if size <= self.l3_bytes / 2 else self.dram_gbps


def _library(directory: str) -> ctypes.CDLL:
    out = Path(directory) / "machine.so"
    source = Path(__file__).with_name("machine.c")
    compiler = os.environ.get("CC", "cc")
    command = [compiler, "-O3", "-fPIC", "-shared", "-Wno-psabi", str(source), "-o", str(out)]
    try:
        subprocess.run(command, check=True)
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        raise SystemExit(
            f"machine.py needs a C compiler to measure the machine (cc, or CC=...): {error}"
        ) from None
    library = ctypes.CDLL(str(out))
    library.fma_peak.restype = ctypes.c_double
    library.fma_peak.argtypes = [ctypes.c_long, ctypes.c_void_p]
    library.read_memory.argtypes = [
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_long,
        ctypes.c_void_p,
    ]
    return library


def _best_seconds(function, repeats: int = 9) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def _cache_bytes(level: int) -> int | None:
    for index in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        if (index / "level").read_text().strip() == str(level):
            text = (index / "size").read_text().strip()
            return int(text.rstrip("KMG")) * {"K": 2**10, "M": 2**20, "G": 2**30}[text[-1]]
    return None


def processor_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown"


def measure() -> Limits:
    """Takes about two seconds."""
    with tempfile.TemporaryDirectory() as directory:
        library = _library(directory)
        sink = np.zeros(16, np.float32)
        rounds = 1_000_000
        flops = library.fma_peak(rounds, sink.ctypes.data)
        seconds = _best_seconds(lambda: library.fma_peak(rounds, sink.ctypes.data))
        l3 = _cache_bytes(3) or 32 * 2**20
        l2 = _cache_bytes(2) or 2**20

        def bandwidth(size: int, repeats: int) -> float:
            data = np.ones(size // 512 * 128, np.float32)
            seconds = _best_seconds(
                lambda: library.read_memory(data.ctypes.data, data.size, repeats, sink.ctypes.data)
            )
            return data.nbytes * repeats / seconds / 1e9

        # Well inside L3 and well outside L2; for DRAM, well outside everything.
        in_l3 = min(max(4 * l2, 2 * 2**20), l3 // 2)
        return Limits(
            gflops=flops / seconds / 1e9,
            dram_gbps=bandwidth(max(8 * l3, 256 * 2**20), 1),
            l3_gbps=bandwidth(in_l3, 16),
            l3_bytes=l3,
            processor=processor_name(),
        )


if __name__ == "__main__":
    for name, value in asdict(measure()).items():
        print(f"{name:10} {value:,.1f}" if isinstance(value, float) else f"{name:10} {value}")
