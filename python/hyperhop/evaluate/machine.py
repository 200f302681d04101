"""What a result was measured on, and what it took."""

import os
import platform
import resource
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import version

import numpy as np

from hyperhop import _core


def versions() -> dict[str, str]:
    """Versions of the package, numpy and Python."""
    found = {name: version(name) for name in ("hyperhop", "numpy")}
    return found | {"python": platform.python_version()}


def machine() -> dict[str, str]:
    """System, processor, kernels in use and threads."""
    return {
        "system": platform.system(),
        "processor": platform.processor() or platform.machine(),
        "cores": str(os.cpu_count()),
        "kernels": _core.isa(),
        "threads": str(_core.default_threads()),
    }


def peak_megabytes() -> float:
    """Most memory of this process so far, in 1e6 bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def percentiles(times: Iterable[Mapping[str, float]]) -> dict[str, tuple[float, float]]:
    """Median and 90th percentile of each stage, over the questions that went through it."""
    stages: dict[str, list[float]] = {}
    for one in times:
        for stage, time in one.items():
            stages.setdefault(stage, []).append(time)
    return {
        stage: (float(np.percentile(found, 50)), float(np.percentile(found, 90)))
        for stage, found in stages.items()
    }
