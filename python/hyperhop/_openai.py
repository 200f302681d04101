"""OpenAI-compatible servers: addresses, keys and retries, shared by encoders and chat models."""

import ipaddress
import json
import os
import random
import re
import time
import weakref
from collections.abc import Awaitable, Callable
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import SplitResult, urlsplit

from hyperhop._config import read_config
from hyperhop._extras import optional
from hyperhop._http import http_package, open_async_http, open_http
from hyperhop._lines import on_one_line
from hyperhop._workers import wait

URL_VARIABLE = "HYPERHOP_LLM_URL"
KEY_VARIABLE = "HYPERHOP_LLM_KEY"
LONGEST_WAIT = 60.0  # seconds; a server that asks for more is not waited for
LONGEST_TIMEOUT = 1e6  # seconds, 11 days; sockets take no more than 24
_ENDPOINTS = ("/chat/completions", "/completions", "/embeddings", "/models")
_UNLISTED = (404, 405, 501)  # statuses of a server that does not list its models
_LONGEST_URL = 2000  # characters
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
_OPENAI_HOST = "api.openai.com"
_SHOWN = 300  # characters of a server's message
_LISTED = 20  # models of a server

T = TypeVar("T")


class ServerError(OSError):
    """A server gave no usable reply; `attempts` were made, the last answered with HTTP `status`.

    `status` is None where there was no answer at all, or none that could be read.
    """

    def __init__(self, message: str, attempts: int = 0, status: int | None = None) -> None:
        super().__init__(message)
        self.attempts = attempts
        self.status = status


class UnlistedModels(ServerError):
    """A server that was reached does not say which models it has: one must be named."""


def is_address(url: str) -> bool:
    """Whether this is meant as a server's address, and not as a file."""
    return url.strip().lower().startswith(("http://", "https://"))


def normalize_url(url: str) -> str:
    """Base address for the client: "http://host" and "http://host/v1/embeddings" -> "http://host/v1".

    Of an endpoint its parent is taken, a bare host gets "/v1", and any other path is kept.
    TypeError for what is no string; ValueError unless http or https with a host that can be one,
    and for a user, query or fragment in it.
    """
    if not isinstance(url, str):
        raise TypeError(f"url must be a string, got {type(url).__name__}")
    url = url.strip()
    parts = _split(url)
    if "?" in url or "#" in url or "@" in (url if parts is None else parts.netloc):
        # not shown: it may hold a password
        raise ValueError("url must have no user, query or fragment; a key is given as api_key")
    if parts is None:
        raise ValueError(f"url must be like http://host:port/v1, got {url[:_SHOWN]!r}")
    path = parts.path.rstrip("/")
    for endpoint in _ENDPOINTS:
        if path.endswith(endpoint):
            path = path.removesuffix(endpoint)
            break
    return f"{parts.scheme}://{parts.netloc.lower()}{path or '/v1'}"


def _split(url: str) -> SplitResult | None:
    """Parts of an address, None where it is none."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna").decode("ascii")  # no label over 63 letters
        if ":" in host:
            ipaddress.IPv6Address(host)
        elif not re.fullmatch(r"[\w.-]+", host):
            return None
        sound = parts.scheme in ("http", "https") and parts.port != 0
    except ValueError:  # the brackets, the port, a label
        return None
    sound = sound and url.isprintable() and " " not in url and len(url) <= _LONGEST_URL
    return parts if sound else None


def same_server(configured: str | None, url: str) -> bool:
    """Does what is configured beside one address, or beside none, hold for `url`?"""
    if not configured:
        return True
    one, other = _split(configured.strip()), _split(url.strip())
    if one is None or other is None:
        return False
    return (one.scheme, one.netloc.lower()) == (other.scheme, other.netloc.lower())


def find_key(url: str, api_key: str | None = None) -> str | None:
    """The key to send to `url`: the argument, else HYPERHOP_LLM_KEY, else none.

    No server may see the key of another: HYPERHOP_LLM_KEY belongs to the server of
    HYPERHOP_LLM_URL or, without one, to that of the configuration file, where one of them is set;
    OPENAI_API_KEY belongs to https://api.openai.com alone. ValueError (which does not show it) for
    a key that no HTTP header can carry.
    """
    key = api_key
    if not key and os.environ.get(KEY_VARIABLE) and same_server(_configured_server(), url):
        key = os.environ[KEY_VARIABLE]
    parts = urlsplit(url)
    if not key and parts.scheme == "https" and parts.hostname == _OPENAI_HOST:
        key = os.environ.get("OPENAI_API_KEY")
    if key and not isinstance(key, str):
        raise TypeError(f"api_key must be a string, got {type(key).__name__}")
    key = (key or "").strip()
    if not (key.isascii() and key.replace(" ", "").isprintable()):
        raise ValueError("api_key holds characters that are not printable ASCII")
    return key or None


def _configured_server() -> str | None:
    """Address beside which HYPERHOP_LLM_KEY stands; a file, which needs no key, is none."""
    url = os.environ.get(URL_VARIABLE)
    if url and is_address(url):
        return url
    url = read_config().get("url")
    return url if url and is_address(url) else None


def check_server(what: str, url: str, timeout: object) -> Any:
    """The package openai, if it can ask a server at `url` with this `timeout` in seconds.

    ImportError names `what` and the extra; TypeError unless a number, ValueError unless above 0
    and at most LONGEST_TIMEOUT, and for a host that is none.
    """
    openai = optional("openai", what, "llm")
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise TypeError(f"{what}: timeout must be a number, got {type(timeout).__name__}")
    if not 0 < timeout <= LONGEST_TIMEOUT:
        raise ValueError(
            f"{what}: timeout must be positive and at most {LONGEST_TIMEOUT:.0f} seconds, "
            f"got {timeout}"
        )
    package = http_package(openai)
    try:
        package.URL(url)
    except package.InvalidURL as error:
        raise ValueError(f"{what}: url must be like http://host:port/v1 ({error})") from None
    return openai


def make_client(what: str, url: str, key: str | None, timeout: float) -> Any:
    """An `openai.OpenAI` for a normalised `url`, `timeout` in seconds; it does not retry itself.

    Its `hang_up()` cuts calls short that other threads make. Without a key the word "none" is sent
    in its place, and organisation and project of the environment are sent to OpenAI only. This
    machine is reached without a proxy. Errors of `check_server`.
    """
    openai = check_server(what, url, timeout)
    http, hang_up = open_http(openai, timeout, **_way(url))
    client = _configured(openai.OpenAI, url, key, timeout, http)
    client.hang_up = hang_up
    weakref.finalize(client, _end, http, hang_up)
    return client


def _end(http: Any, hang_up: Callable[[], None]) -> None:
    hang_up()  # a program that ends does not wait for replies
    http.close()


def make_async_client(what: str, url: str, key: str | None, timeout: float) -> Any:
    """`make_client` for an `openai.AsyncOpenAI`, which belongs to one event loop; to be closed."""
    openai = check_server(what, url, timeout)
    http = open_async_http(openai, timeout, **_way(url))
    return _configured(openai.AsyncOpenAI, url, key, timeout, http)


def _way(url: str) -> dict[str, bool]:
    direct = urlsplit(url).hostname in _THIS_MACHINE
    # elsewhere http may lead to https
    return {"direct": direct, "certificates": not direct or url.startswith("https://")}


def _configured(kind: Any, url: str, key: str | None, timeout: float, http: Any) -> Any:
    # without a key or a header of its own the client takes those of the environment
    key = key or "none"
    client = kind(
        base_url=url,
        api_key=key,
        default_headers={"Authorization": f"Bearer {key}"},
        timeout=timeout,
        max_retries=0,
        http_client=http,
    )
    if urlsplit(url).hostname != _OPENAI_HOST:
        client.organization = client.project = None
    return client


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


def read_json(raw: Any, url: str, attempts: int) -> Any:
    """Body of a raw response (`with_raw_response`) as JSON; ServerError if it is none."""
    try:
        return json.loads(raw.http_response.content)
    except (ValueError, RecursionError):  # the latter where it is nested too deep
        raise ServerError(f"{url}: the reply is not JSON", attempts) from None


def said_error(data: Any) -> str | None:
    """Words of the error in a reply of status 200, which some servers send, None without one."""
    error = data.get("error") if isinstance(data, dict) else None
    return f"error: {_said(error)}" if error else None


def _said(error: Any) -> Any:
    return (error.get("message") or error) if isinstance(error, dict) else error


def only_model(client: Any, url: str, key: str | None, retries: int) -> str:
    """Name of the only model a server has.

    ValueError, which lists them, where it has several; UnlistedModels where it does not say.
    """
    try:
        raw, attempts = with_retries(
            lambda: client.models.with_raw_response.list(), retries=retries, url=url, key=key
        )
    except ServerError as error:
        if error.status not in _UNLISTED:
            raise
        raise UnlistedModels(str(error), error.attempts, error.status) from None
    reply = None
    with suppress(ServerError):
        reply = read_json(raw, url, attempts)
    said = said_error(reply)
    if said:
        raise ServerError(f"{url}: {scrub(said, key)}", attempts)
    data = reply.get("data") if isinstance(reply, dict) else None
    items = data if isinstance(data, list) else []
    listed = [item.get("id") for item in items if isinstance(item, dict)]
    names = [name for name in listed if isinstance(name, str) and name]
    if not names:
        raise UnlistedModels(f"{url}: the server lists no model", attempts)
    if len(names) > 1:
        shown = ", ".join(names[:_LISTED]) + (", ..." if len(names) > _LISTED else "")
        raise ValueError(f"{url} has {len(names)} models, name one: {scrub(shown, key)}")
    return names[0]


def scrub(text: str, key: str | None) -> str:
    """`text` on one line, without the key, and without what would command a terminal."""
    line = " ".join(text.split())
    return on_one_line(line.replace(" ".join(key.split()), "***") if key else line)


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
    text = scrub(str(_said(error.body) or error.message), key)
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
