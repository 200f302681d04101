"""The state of a training on disk, so that a killed one goes on as if nothing had happened.

A checkpoint is a directory of `hyperhop.graph.store`: arrays and JSON, no pickle. It is replaced as
a whole or not at all. Everything that decides the rest of the curve is in it: weights, the moments
of AdamW, torch's random numbers, and how far the training is. The order of questions is a function
of seed and epoch.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hyperhop.graph import DamagedStore, store
from hyperhop.rsf.training.curve import Epoch, from_row

if TYPE_CHECKING:
    import torch

KIND = "rsf-training"
FOLDER = "checkpoint"


@dataclass
class Progress:
    """How far a training is.

    Attributes:
        epoch: the one being run, from 0.
        batch: its batches that are done.
        step: all batches that are done.
        seconds: spent on this epoch so far, dev questions aside.
        sums: of this epoch so far, by name.
        epochs: those that are finished.
        best: dev Hits@1 of the best epoch, -1 before the first.
        best_epoch: the last that did so, from 1; 0 before the first.
        improved: the first that did so.
    """

    epoch: int = 0
    batch: int = 0
    step: int = 0
    seconds: float = 0.0
    sums: dict[str, float] = field(default_factory=dict)
    epochs: list[Epoch] = field(default_factory=list)
    best: float = -1.0
    best_epoch: int = 0
    improved: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values; JSON keeps every bit of a float, and has no NaN."""
        epochs = [
            {name: None if value != value else value for name, value in asdict(epoch).items()}
            for epoch in self.epochs
        ]
        return {**asdict(self), "epochs": epochs}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Progress":
        """What `to_dict` gave."""
        rows = (
            {name: float("nan") if value is None else value for name, value in row.items()}
            for row in values["epochs"]
        )
        return cls(**{**values, "epochs": [from_row(row) for row in rows]})


def exists(directory: str | os.PathLike[str]) -> bool:
    """Whether there is a checkpoint."""
    return (Path(directory) / "meta.json").exists()


@contextlib.contextmanager
def locked(directory: str | os.PathLike[str]) -> Iterator[None]:
    """While one process trains in a directory, made if it is not there; ValueError for a second.

    The system gives the lock back when the process ends, however it ends.
    """
    os.makedirs(directory, exist_ok=True)
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(f"{directory}: another process is training in it") from None
        yield
    finally:
        os.close(descriptor)


def save(
    directory: str | os.PathLike[str],
    model: "torch.nn.Module",
    optimizer: "torch.optim.Optimizer",
    best: Mapping[str, "torch.Tensor"],
    average: Mapping[str, "torch.Tensor"],
    progress: Progress,
    run: Mapping[str, Any],
) -> None:
    """Replace the checkpoint.

    Args:
        best, average: weights of the best epoch, and the moving average of all, by name.
        run: plain values that name this training; `load` refuses any others.
    """
    import torch

    weights = model.state_dict()
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    found = [optimizer.state.get(p, {}) for p in parameters]
    none = [torch.zeros_like(p) for p in parameters]
    store.save(
        directory,
        KIND,
        {
            "weights": _flat(weights.values()),
            "best": _flat(best[name] for name in weights),
            "average": _flat(average[name] for name in weights),
            "first": _flat(s.get("exp_avg", z) for s, z in zip(found, none, strict=True)),
            "second": _flat(s.get("exp_avg_sq", z) for s, z in zip(found, none, strict=True)),
            "steps": np.array([float(s.get("step", 0)) for s in found]),
            "random": torch.get_rng_state().numpy(),
        },
        {"step": progress.step},
        {"run": dict(run), "shapes": _shapes(weights), "progress": progress.to_dict()},
    )


def load(
    directory: str | os.PathLike[str],
    model: "torch.nn.Module",
    optimizer: "torch.optim.Optimizer",
    run: Mapping[str, Any],
) -> tuple[Progress, dict[str, "torch.Tensor"], dict[str, "torch.Tensor"]]:
    """Put model, optimiser and random numbers back; returns progress, best and average weights.

    ValueError where the checkpoint is of another run, naming what differs; DamagedStore.
    """
    import torch

    stored = store.load(directory, KIND, verify=True)
    settings = stored.settings or {}
    _check_run(directory, settings.get("run", {}), run)
    weights = model.state_dict()
    if settings["shapes"] != _shapes(weights):
        raise DamagedStore(f"{directory} holds weights of other shapes than this model's")
    arrays = {name: torch.from_numpy(values.copy()) for name, values in stored.arrays.items()}
    model.load_state_dict(_named(arrays["weights"], weights))
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    moments = [_split(arrays[name], parameters) for name in ("first", "second")]
    for parameter, first, second, step in zip(
        parameters, *moments, arrays["steps"].tolist(), strict=True
    ):
        if step:  # a parameter that the loss does not reach has no state
            optimizer.state[parameter] = {
                "step": torch.tensor(step, dtype=torch.float32),
                "exp_avg": first,
                "exp_avg_sq": second,
            }
    torch.set_rng_state(arrays["random"])
    best, average = (_named(arrays[name], weights) for name in ("best", "average"))
    return Progress.from_dict(settings["progress"]), best, average


def _check_run(
    directory: str | os.PathLike[str], stored: Mapping[str, Any], run: Mapping[str, Any]
) -> None:
    for name in sorted({*stored, *run}):
        was, now = stored.get(name), run.get(name)
        if was != now:
            raise ValueError(
                f"{directory} holds a training with {name} {was!r}, got {now!r}: go on with the "
                "same settings, graph and questions, or choose another directory"
            )


def _flat(tensors: "Iterable[torch.Tensor]") -> npt.NDArray[np.float32]:
    import torch

    parts = [tensor.detach().reshape(-1) for tensor in tensors]
    joined: npt.NDArray[np.float32] = torch.cat(parts).numpy()
    return joined


def _split(flat: "torch.Tensor", like: "Iterable[torch.Tensor]") -> "list[torch.Tensor]":
    shapes = [tensor.shape for tensor in like]
    parts = flat.split([shape.numel() for shape in shapes])
    return [part.reshape(shape).clone() for part, shape in zip(parts, shapes, strict=True)]


def _named(flat: "torch.Tensor", like: Mapping[str, "torch.Tensor"]) -> "dict[str, torch.Tensor]":
    return dict(zip(like, _split(flat, like.values()), strict=True))


def _shapes(weights: Mapping[str, "torch.Tensor"]) -> dict[str, list[int]]:
    return {name: list(tensor.shape) for name, tensor in weights.items()}
