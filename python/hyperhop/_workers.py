"""Work in threads that an interrupt or an error leaves at once."""

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_left: ContextVar[threading.Event | None] = ContextVar("_left", default=None)


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
    are not waited for; they end in the background, at their next `wait`. ValueError for a
    concurrency below 1.
    """
    check_concurrency(concurrency)
    left = threading.Event()
    todo = deque(range(len(items)))
    results: queue.SimpleQueue[tuple[int, Future[Result]]] = queue.SimpleQueue()

    def worker() -> None:
        _left.set(left)
        while todo and not left.is_set():
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
    finally:
        left.set()
    for thread in threads:
        thread.join()


def check_concurrency(concurrency: int) -> None:
    """ValueError unless positive: with none at all, nothing would ever be done."""
    if concurrency < 1:
        raise ValueError(f"concurrency must be 1 or more, got {concurrency}")


def wait(seconds: float) -> None:
    """Sleep; in a thread of `run_in_threads` that was left, raise Left instead, at once."""
    left = _left.get()
    if left is None:
        time.sleep(seconds)
    elif left.wait(seconds):
        raise Left
