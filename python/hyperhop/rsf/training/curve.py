"""The course of a training: one row an epoch, as CSV and for TensorBoard."""

import csv
import importlib.util
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

FILE = "training.csv"
# What a clock says: these differ between two runs that are otherwise the same.
TIMES = ("seconds", "graphs_per_second")


@dataclass(frozen=True)
class Epoch:
    """What one epoch came to.

    Attributes:
        epoch: from 1.
        step: steps done by its end.
        learning_rate: of its last step.
        loss: mean over the questions learned from: cross_entropy + lambda_1 * entropy.
        cross_entropy: mean, natural logarithm; `divergence` is that less log n for n answers, which
            a perfect flow brings to 0.
        entropy: L_flow, mean entropy of the flow of a hop.
        hits_at_1: of the training questions, misses included, as they were learned from.
        dev_hits_at_1, dev_hits_at_5, dev_hits_at_10: of the dev questions, misses included.
        seconds: of the epoch, dev questions included.
        graphs_per_second: questions learned from a second, dev questions aside.
    """

    epoch: int
    step: int
    learning_rate: float
    loss: float
    cross_entropy: float
    divergence: float
    entropy: float
    hits_at_1: float
    dev_hits_at_1: float
    dev_hits_at_5: float
    dev_hits_at_10: float
    seconds: float
    graphs_per_second: float


COLUMNS = tuple(field.name for field in fields(Epoch))


def write_csv(path: str | Path, epochs: Sequence[Epoch]) -> None:
    """All epochs so far, floats with every digit; a reader meets the old file or the new one."""
    path = Path(path)
    new = path.with_name(f"{path.name}.new")
    with new.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(epoch) for epoch in epochs)
    os.replace(new, path)


def read_csv(path: str | Path) -> list[Epoch]:
    """What `write_csv` wrote. ValueError for another file."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise ValueError(f"{path} is not the course of a training: its columns are others")
        return [from_row(row) for row in reader]


def from_row(row: dict[str, Any]) -> Epoch:
    """An epoch of its values by name, numbers or their text."""
    kinds: dict[str, type] = {"epoch": int, "step": int}
    return Epoch(**{name: kinds.get(name, float)(row[name]) for name in COLUMNS})


class Board:
    """The same for TensorBoard, where it is installed; else nothing."""

    def __init__(self, directory: str | Path, epochs: Sequence[Epoch]) -> None:
        """`epochs` are done before; what a killed run wrote after them is taken back."""
        self._writer: Any = None
        if importlib.util.find_spec("tensorboard") is not None:
            from torch.utils.tensorboard import SummaryWriter

            purged = epochs[-1].epoch + 1 if epochs else None
            self._writer = SummaryWriter(str(Path(directory) / "board"), purge_step=purged)

    def add(self, epoch: Epoch) -> None:
        """One epoch."""
        if self._writer is not None:
            for name, value in asdict(epoch).items():
                self._writer.add_scalar(name, value, epoch.epoch)
            self._writer.flush()

    def close(self) -> None:
        """Nothing can be added afterwards."""
        if self._writer is not None:
            self._writer.close()
