"""The one adaptor of foreign arrays: NumPy passes through, CPU torch tensors come in and go out.

torch is never imported here; a tensor is recognised by its type's module, so that a process without
torch pays nothing and a process with torch needs no flag.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

Restore = Callable[[np.ndarray], Any]


def _is_torch(x: object) -> bool:
    return type(x).__module__.partition(".")[0] == "torch"


def _from_torch(x: Any, function: str, name: str) -> np.ndarray:
    if x.requires_grad:
        raise TypeError(
            f"{function}: {name} requires grad, but this kernel keeps no graph; "
            "detach() it, or use hyperhop.rsf for differentiable flow"
        )
    if x.device.type != "cpu":
        raise TypeError(
            f"{function}: {name} is on {x.device}, but this build of hyperhop has CPU kernels "
            "only; move it with .cpu()"
        )
    array: np.ndarray = x.resolve_conj().resolve_neg().numpy()
    return array


def to_numpy(x: object, function: str, name: str) -> np.ndarray:
    """`x` as a NumPy array, sharing the memory of arrays and tensors."""
    if type(x) is np.ndarray:  # the usual case, on the way to kernels that take microseconds
        return x
    if _is_torch(x):
        return _from_torch(x, function, name)
    if hasattr(x, "__cuda_array_interface__"):
        raise TypeError(
            f"{function}: {name} is an array on a GPU, but this build of hyperhop has CPU kernels "
            "only; copy it to NumPy first"
        )
    return np.asarray(x)


def restorer(*inputs: object) -> Restore:
    """How results go back: as torch tensors if any input was one, else as they are."""
    for x in inputs:
        if type(x) is not np.ndarray and _is_torch(x):
            import torch

            return lambda array: torch.from_numpy(array)
    return _unchanged


def _unchanged(array: np.ndarray) -> np.ndarray:
    return array


def output(out: object, function: str) -> np.ndarray | None:
    """The caller's `out` as the NumPy array to fill, or None."""
    return None if out is None else to_numpy(out, function, "out")


def threads_argument(threads: int | None, function: str) -> int:
    """0 for None (the default count), else a positive int."""
    if threads is None:
        return 0
    if type(threads) is int and threads > 0:  # the usual case, as above
        return threads
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)):
        raise TypeError(f"{function}: threads must be an int or None, got {type(threads).__name__}")
    if threads < 1:
        raise ValueError(f"{function}: threads must be at least 1, got {threads}")
    return int(threads)
