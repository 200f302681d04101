"""Asking a chat model once, in another form where it refuses a schema."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

from hyperhop.llm.chat import LLMError, Reply, SchemaRefused


class Outcome(NamedTuple):
    """What came of the requests: `place` is that of the last one, `attempts` counts all."""

    result: Reply | LLMError
    place: int
    attempts: int
    milliseconds: float


def ask(send: Callable[..., Reply], requests: Sequence[Mapping[str, Any]]) -> Outcome:
    """Send the first of several requests; each further one only where a schema is refused.

    `send` is a model's `chat`, or another of its methods that takes what a request holds.

    An LLMError is returned, with all attempts; ValueError without requests.
    """
    collected = _Collected(requests)
    for request in requests:
        try:
            result: Reply | LLMError = send(**request)
        except LLMError as error:
            result = error
        if collected.add(result):
            break
    return collected.outcome()


async def aask(
    send: Callable[..., Awaitable[Reply]], requests: Sequence[Mapping[str, Any]]
) -> Outcome:
    """`ask` for callers inside an event loop."""
    collected = _Collected(requests)
    for request in requests:
        try:
            result: Reply | LLMError = await send(**request)
        except LLMError as error:
            result = error
        if collected.add(result):
            break
    return collected.outcome()


class _Collected:
    def __init__(self, requests: Sequence[Mapping[str, Any]]) -> None:
        if not requests:
            raise ValueError("ask: needs a request")
        self._results: list[Reply | LLMError] = []
        self._start = perf_counter()

    def add(self, result: Reply | LLMError) -> bool:
        """Keep a result; whether it is the last."""
        self._results.append(result)
        return not isinstance(result, SchemaRefused)

    def outcome(self) -> Outcome:
        result = self._results[-1]
        attempts = sum(one.attempts for one in self._results)
        if isinstance(result, LLMError):
            result.attempts = attempts
        milliseconds = (perf_counter() - self._start) * 1e3
        return Outcome(result, len(self._results) - 1, attempts, milliseconds)
