"""Work in threads that an interrupt or an error leaves at once."""

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass
class _Crew:
    """The threads of one `run_in_threads`: were they left, and what is then to be cut short."""

    left: threading.Event = field(default_factory=threading.Event)
    cuts: set[Callable[[], None]] = field(default_factory=set)

    def leave(self) -> None:
        self.left.set()
        for cut in list(self.cuts):
            cut()


_crew: ContextVar[_Crew | None] = ContextVar("_crew", default=None)


class Left(BaseException):
    """Nobody waits for this work any more; no Exception, lest it be taken for a failed call."""


def run_in_threads(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    concurrency: int,
    done: Callable[[int, Result], object],
) -> None:
    """Call `done(place, work(items[place]))` for every item, `concurrency` works at a time.

    `done` is called in this thread, in the order of completion. The first error of `work` or
    `done`, or an interrupt (Ctrl-C), is raised at once: no other item is begun, and works under way
    are not waited for. What they gave to `on_leaving` is called, and their next `wait` ends them.
    ValueError for a concurrency below 1.
    """
    check_concurrency(concurrency)
    crew = _Crew()
    todo = deque(range(len(items)))
    results: queue.SimpleQueue[tuple[int, Future[Result]]] = queue.SimpleQueue()

    def worker() -> None:
        _crew.set(crew)
        while todo and not crew.left.is_set():
            try:
                place = todo.popleft()
            except IndexError:  # another thread was faster
                return
            result: Future[Result] = Future()
            try:
                result.set_result(work(items[place]))
            except BaseException as error:  # raised again in the thread that asked
                result.set_exception(error)
            results.put((place, result))

    # daemons: the end of the program does not wait for them either
    count = min(concurrency, len(items))
    threads = [threading.Thread(target=worker, daemon=True) for _ in range(count)]
    try:
        for thread in threads:
            thread.start()
        for _ in items:
            place, result = results.get()
            done(place, result.result())
    except BaseException:
        crew.leave()
        raise
    for thread in threads:
        thread.join()


def check_concurrency(concurrency: int) -> None:
    """ValueError unless positive: with none at all, nothing would ever be done."""
    if concurrency < 1:
        raise ValueError(f"concurrency must be 1 or more, got {concurrency}")


def wait(seconds: float) -> None:
    """Sleep; in a thread of `run_in_threads` that was left, raise Left instead, at once."""
    crew = _crew.get()
    if crew is None:
        time.sleep(seconds)
    elif crew.left.wait(seconds):
        raise Left


def on_leaving(cut: Callable[[], None]) -> None:
    """In a thread of `run_in_threads`: have `cut` called once these threads are left.

    It is to end at once what they wait for, such as a server's reply, and may come from any thread.
    """
    crew = _crew.get()
    if crew is not None:
        crew.cuts.add(cut)
