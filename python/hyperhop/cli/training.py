"""Watching a training, and stopping it with Ctrl-C between two batches."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from hyperhop.cli.report import say
from hyperhop.rsf.training import Step


class Tell(Protocol):
    """Takes a step, and where there are several trainings the name of the one it is of."""

    def __call__(self, step: Step, what: str | None = None) -> None:
        """Show it."""


@contextmanager
def watched(first: str) -> Iterator[Tell]:
    """Show epoch, loss, Hits@1 and speed on stderr: a bar on a terminal, else a line an epoch.

    Yields the function to tell.
    """
    screen = Console(stderr=True, markup=False, emoji=False)
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    )
    task = bar.add_task(first, total=None)
    shown = ""

    def tell(step: Step, what: str | None = None) -> None:
        nonlocal shown
        name = what or first
        words = f"{name}, {in_words(step)}"
        done, of = (step.epoch - 1) * step.batches + step.batch, step.epochs * step.batches
        if not screen.is_terminal:
            if step.batch == step.batches:
                say(words)
        elif name != shown:  # its time starts now, though it may go on from a checkpoint
            bar.reset(task, completed=done, total=of, description=words)
            shown = name
        else:
            bar.update(task, completed=done, total=of, description=words)

    with bar:
        yield tell


def in_words(step: Step) -> str:
    """One step in a line."""
    dev = "" if step.dev_hits_at_1 is None else f", dev {step.dev_hits_at_1:.3f}"
    return (
        f"epoch {step.epoch}/{step.epochs}, loss {step.loss:.3f}, hits@1 {step.hits_at_1:.3f}"
        f"{dev}, {step.graphs_per_second:,.0f} graphs/s"
    )


@contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """Let the first Ctrl-C ask for a stop after the running batch; the next one ends at once.

    Yields the question whether it was pressed.
    """
    pressed = False

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True
        say("stopping after this batch; Ctrl-C once more ends at once")

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, before)
