"""Threads that are left at once, and text that cannot command a terminal."""

import os
import signal
import threading
import time

import pytest

from hyperhop._lines import on_one_line
from hyperhop._workers import Left, on_leaving, run_in_threads, wait


def test_every_item_is_done_within_the_limit():
    lock, running, most, seen = threading.Lock(), 0, 0, {}

    def work(item):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1
        return item * 2

    before = set(threading.enumerate())  # other libraries have threads too
    run_in_threads(work, range(20), 3, lambda place, result: seen.update({place: result}))
    assert seen == {item: item * 2 for item in range(20)}
    assert 1 < most <= 3
    assert not set(threading.enumerate()) - before
    run_in_threads(work, [], 3, seen.update)


def test_no_thread_at_all_is_refused():
    with pytest.raises(ValueError, match="concurrency must be 1 or more, got 0"):
        run_in_threads(print, [1], 0, print)


@pytest.mark.parametrize("cause", ["error", "interrupt"])
def test_who_waits_no_longer_is_gone_at_once(cause):
    begun, ended, cut, hold = [], [], threading.Event(), threading.Event()

    def work(item):
        begun.append(item)
        if cause == "error" and item == 1:
            raise LookupError("item 1")
        if cause == "interrupt" and item == 1:
            os.kill(os.getpid(), signal.SIGINT)
        on_leaving(cut.set)
        try:
            wait(60)
        except Left:
            ended.append(item)
            hold.set()

    start = time.perf_counter()
    with pytest.raises(LookupError if cause == "error" else KeyboardInterrupt):
        run_in_threads(work, range(9), 2, print)
    assert time.perf_counter() - start < 5
    assert cut.is_set()
    assert hold.wait(5)
    assert set(begun) <= {0, 1, 2}
    assert ended


def test_what_cannot_be_ended_is_not_waited_for():
    held = threading.Event()
    with pytest.raises(LookupError):
        run_in_threads(lambda item: held.wait(60) if item else {}["x"], range(2), 2, print)
    held.set()


def test_outside_of_such_threads_a_wait_is_a_wait():
    start = time.perf_counter()
    wait(0.02)
    on_leaving(pytest.fail)
    assert time.perf_counter() - start >= 0.02


def test_no_command_reaches_a_terminal():
    assert on_one_line("a\x1b[2J\x07b\n\x9bc\u2028Д 秘 🌍") == (
        r"a\x1b[2J\x07b\n\x9bc\u2028Д 秘 🌍"
    )
