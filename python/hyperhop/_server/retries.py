"""Requests that are tried again where the same one may succeed later."""

import json
import random
import time
from collections.abc import Awaitable, Callable
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from hyperhop._extras import optional
from hyperhop._server.errors import ServerError, said, scrub
from hyperhop._server.keys import KEY_VARIABLE
from hyperhop._workers import wait

LONGEST_WAIT = 60.0  # seconds; a server that asks for more is not waited for
_SHOWN = 300  # characters of a server's message

T = TypeVar("T")


def with_retries(
    call: Callable[[], T], *, retries: int, backoff: float = 0.5, url: str, key: str | None
) -> tuple[T, int]:
    """Result of `call`, one request of an `openai` client, and how many attempts it took.

    Status 429 and 5xx, time-outs and lost connections are tried again, `retries` times at most,
    after `backoff` * 2^n seconds but no more than 60, a random part of it less, or as long as
    Retry-After says. Everything else, and the last failure, is a ServerError that names `url` and
    never shows `key`. In a thread of `run_in_threads` that was left, no request is made.
    """
    attempt = 1
    pause = 0.0
    while True:
        wait(pause)
        try:
            return call(), attempt
        except _failures() as error:
            pause = _pause(error, attempt, retries, backoff, url, key)
        attempt += 1


async def with_retries_async(
    call: Callable[[], Awaitable[T]],
    *,
    retries: int,
    backoff: float = 0.5,
    url: str,
    key: str | None,
) -> tuple[T, int]:
    """`with_retries` for a call that is awaited."""
    import asyncio  # not above: who embeds or reads without a server need not wait for it

    attempt = 1
    while True:
        try:
            return await call(), attempt
        except _failures() as error:
            pause = _pause(error, attempt, retries, backoff, url, key)
        await asyncio.sleep(pause)
        attempt += 1


def _failures() -> tuple[type[Exception], ...]:
    # JSONDecodeError: the client lets it through when a reply says it is JSON and is not
    return (optional("openai", "the client", "llm").APIError, json.JSONDecodeError)


def _pause(
    error: Any, attempt: int, retries: int, backoff: float, url: str, key: str | None
) -> float:
    """Seconds to wait before the next attempt; ServerError if there is to be none."""
    status = getattr(error, "status_code", None)
    message = f"{url}: {_words(error, key)}"
    asked = _retry_after(error)
    if not _passing(error) or attempt > retries or asked > LONGEST_WAIT:
        if attempt > 1:
            message += f" (attempt {attempt})"
        if asked > LONGEST_WAIT:
            message += f"; it asks to wait {asked:.0f} s"
        raise ServerError(message, attempt, status) from None
    doubled = backoff * 2.0 ** min(attempt - 1, 30)
    return asked or min(doubled, LONGEST_WAIT) * random.uniform(0.75, 1.0)


def _passing(error: Any) -> bool:
    """May the same request succeed later?"""
    status = getattr(error, "status_code", None)
    if status == 429:
        return getattr(error, "code", None) != "insufficient_quota"  # waiting pays no bill
    if status is not None:
        return bool(status >= 500)
    return isinstance(error, optional("openai", "the client", "llm").APIConnectionError)


def _words(error: Any, key: str | None) -> str:
    openai = optional("openai", "the client", "llm")
    if isinstance(error, openai.APITimeoutError):
        return "no answer in time"
    if isinstance(error, openai.APIConnectionError):
        cause = scrub(str(error.__cause__ or ""), key)
        return f"no connection ({cause})" if cause else "no connection"
    status = getattr(error, "status_code", None)
    if status is None or isinstance(error, openai.APIResponseValidationError):
        return "the reply is not JSON of the expected form"
    # scrubbed before it is cut, lest half a key stays
    text = scrub(str(said(error.body) or error.message), key)
    hint = f"; a key is given as api_key or in {KEY_VARIABLE}" if status in (401, 403) else ""
    return f"status {status}: {text[:_SHOWN]}{'...' if len(text) > _SHOWN else ''}{hint}"


def _retry_after(error: Any) -> float:
    """Seconds the server asks to wait, 0 if it does not say."""
    response = getattr(error, "response", None)
    said = "" if response is None else response.headers.get("retry-after", "")
    try:
        return max(0.0, float(said))  # in this order NaN is 0
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    except ValueError:
        return 0.0
