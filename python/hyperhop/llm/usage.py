"""What language models were asked and what it cost, counted."""

import os
import threading
from dataclasses import dataclass

_lock = threading.Lock()


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()  # a thread that the child does not have may have held the old one


os.register_at_fork(after_in_child=_renew_lock)


@dataclass(frozen=True)
class Usage:
    """Totals. `calls` were completed, `failures` were not; `attempts` are requests sent for both.

    Tokens are those the server reports. `after - before` is what happened in between.
    """

    calls: int = 0
    failures: int = 0
    attempts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls + other.calls,
            self.failures + other.failures,
            self.attempts + other.attempts,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )

    def __sub__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls - other.calls,
            self.failures - other.failures,
            self.attempts - other.attempts,
            self.prompt_tokens - other.prompt_tokens,
            self.completion_tokens - other.completion_tokens,
        )


class Meter:
    """Adds up usage from any number of threads; a copy or a pickle starts from zero."""

    def __init__(self) -> None:
        self._total = Usage()

    @property
    def total(self) -> Usage:
        """Everything added so far."""
        return self._total

    def add(self, usage: Usage) -> None:
        """Add the usage of one call."""
        with _lock:
            self._total += usage

    def __reduce__(self) -> tuple[type["Meter"], tuple[()]]:
        return Meter, ()
