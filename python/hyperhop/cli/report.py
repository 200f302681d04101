"""Talking to the user: errors in one line, progress on stderr, text printed as it is."""

from __future__ import annotations

import functools
import io
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import ParamSpec

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from hyperhop._lines import on_one_line
from hyperhop.llm import LLMError

Arguments = ParamSpec("Arguments")

# The library raises these for bad input and for what the machine lacks; anything else is a bug.
EXPECTED = (ValueError, LookupError, OSError, ImportError, MemoryError, LLMError)
QUIET_SECONDS = 1.0
FAST = 1000.0  # so many a second are told in thousands


def one_line_errors(command: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Wrap a command: an expected error becomes one line on stderr and exit status 1."""

    @functools.wraps(command)
    def wrapped(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        try:
            _print_anything()
            try:
                command(*args, **kwargs)
            finally:
                sys.stdout.flush()
        except KeyboardInterrupt:
            say("interrupted")
            raise typer.Exit(130) from None
        except BrokenPipeError:
            # The reader (head, less) has left; keep the interpreter from flushing to it again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(1) from None
        except (KeyError, IndexError):
            raise  # a bug of ours, though it is a LookupError
        except EXPECTED as error:
            say(_in_words(error))
            raise typer.Exit(1) from None

    return wrapped


def say(message: str) -> None:
    """Print one line for the user on stderr."""
    print("hyperhop:", on_one_line(" ".join(message.splitlines())), file=sys.stderr)


def _in_words(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


def console() -> Console:
    """Return a console on stdout that prints names as they are: no markup, emoji or colouring."""
    return Console(markup=False, emoji=False, highlight=False)


def show_rows(rows: Iterable[tuple[str, str]]) -> None:
    """Print names and values in two columns."""
    table = Table.grid(padding=(0, 2))
    for row in rows:
        table.add_row(*row)
    console().print(table)


def speaks_utf8() -> bool:
    """Tell whether stdout can show every character."""
    return (sys.stdout.encoding or "").replace("-", "").lower() == "utf8"


class RateColumn(ProgressColumn):
    """Megabytes, or rows or thousands of them, a second."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self.unit = unit

    def render(self, task: Task) -> Text:
        """Nothing before the work has told how far it is."""
        if not task.speed:
            return Text("")
        if self.unit == "bytes":
            return Text(f"{task.speed / 1e6:.1f} MB/s")
        if task.speed < FAST:
            return Text(f"{task.speed:,.1f} {self.unit}/s")
        return Text(f"{task.speed / 1e3:,.0f} k {self.unit}/s")


@contextmanager
def busy(what: str, unit: str = "") -> Iterator[Callable[[int, int], None]]:
    """Say what is being done once it takes over a second: a bar on a terminal, else one line.

    Yields a function that may be told how far the work has come: (done, of). With the `unit` of
    these numbers ("bytes", "rows" ...) the bar also shows the rate and the time that remains.
    """
    screen = Console(stderr=True, markup=False, emoji=False)
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        *([RateColumn(unit), TextColumn("left"), TimeRemainingColumn()] if unit else []),
        console=screen,
        transient=True,
    )
    task = bar.add_task(what, total=None)
    begin = bar.start if screen.is_terminal else functools.partial(say, f"{what} ...")
    timer = threading.Timer(QUIET_SECONDS, begin)
    timer.daemon = True
    timer.start()
    try:
        yield lambda done, of: bar.update(task, completed=done, total=of)
    finally:
        timer.cancel()
        timer.join()
        if bar.live.is_started:
            bar.stop()


def _print_anything() -> None:
    """Let a character that the terminal's encoding lacks be printed as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
