"""OpenAI-compatible servers: addresses, keys and retries, shared by encoders and chat models."""

import json
import os
import random
import time
import weakref
from collections.abc import Awaitable, Callable
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import urlsplit

from hyperhop._extras import optional

URL_VARIABLE = "HYPERHOP_LLM_URL"
KEY_VARIABLE = "HYPERHOP_LLM_KEY"
LONGEST_WAIT = 60.0  # seconds; a server that asks for more is not waited for
_ENDPOINTS = ("/chat/completions", "/completions", "/embeddings", "/models")
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


def normalize_url(url: str) -> str:
    """Base address for the client: "http://host" and "http://host/v1/embeddings" -> "http://host/v1".

    Of an endpoint its parent is taken, a bare host gets "/v1", and any other path is kept.
    ValueError unless http or https with a host, and for a user, query or fragment in it.
    """
    parts = urlsplit(url.strip())
    try:
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        sound = False
    if "@" in parts.netloc or parts.query or parts.fragment:
        # not shown: it may hold a password
        raise ValueError("url must have no user, query or fragment; a key is given as api_key")
    if not sound:
        raise ValueError(f"url must be like http://host:port/v1, got {url!r}")
    path = parts.path.rstrip("/")
    for endpoint in _ENDPOINTS:
        if path.endswith(endpoint):
            path = path.removesuffix(endpoint)
            break
    return f"{parts.scheme}://{parts.netloc.lower()}{path or '/v1'}"


def same_server(configured: str | None, url: str) -> bool:
    """Does what is configured beside one address, or beside none, hold for `url`?"""
    if not configured:
        return True
    one, other = urlsplit(configured.strip()), urlsplit(url.strip())
    return (one.scheme, one.netloc.lower()) == (other.scheme, other.netloc.lower())


def find_key(url: str, api_key: str | None = None) -> str | None:
    """The key to send to `url`: the argument, else HYPERHOP_LLM_KEY, else none.

    No server may see the key of another: HYPERHOP_LLM_KEY is not used where HYPERHOP_LLM_URL names
    another server, OPENAI_API_KEY for https://api.openai.com alone. ValueError (which does not
    show it) for a key that no HTTP header can carry.
    """
    key = api_key
    if not key and same_server(os.environ.get(URL_VARIABLE), url):
        key = os.environ.get(KEY_VARIABLE)
    parts = urlsplit(url)
    if not key and parts.scheme == "https" and parts.hostname == _OPENAI_HOST:
        key = os.environ.get("OPENAI_API_KEY")
    key = (key or "").strip()
    if not (key.isascii() and key.replace(" ", "").isprintable()):
        raise ValueError("api_key holds characters that are not printable ASCII")
    return key or None


def make_client(what: str, url: str, key: str | None, timeout: float) -> Any:
    """An `openai.OpenAI` for a normalised `url`, `timeout` in seconds; it does not retry itself.

    ImportError names `what` and the extra. Without a key the word "none" is sent in its place, and
    organisation and project of the environment are sent to OpenAI only. This machine is reached
    without a proxy.
    """
    openai = optional("openai", what, "llm")
    if urlsplit(url).hostname not in _THIS_MACHINE:
        return _configured(openai.OpenAI, url, key, timeout)
    direct = openai.DefaultHttpxClient(trust_env=False, verify=_trust(url))
    client = _configured(openai.OpenAI, url, key, timeout, direct)
    weakref.finalize(client, direct.close)
    return client


def make_async_client(what: str, url: str, key: str | None, timeout: float) -> Any:
    """`make_client` for an `openai.AsyncOpenAI`, which belongs to one event loop; to be closed."""
    openai = optional("openai", what, "llm")
    if urlsplit(url).hostname not in _THIS_MACHINE:
        return _configured(openai.AsyncOpenAI, url, key, timeout)
    direct = openai.DefaultAsyncHttpxClient(trust_env=False, verify=_trust(url))
    return _configured(openai.AsyncOpenAI, url, key, timeout, direct)


def _trust(url: str) -> Any:
    """Whose certificates to believe: without https nobody's, which need not be read (20 ms)."""
    import ssl

    return True if url.startswith("https://") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _configured(kind: Any, url: str, key: str | None, timeout: float, direct: Any = None) -> Any:
    # without a key or a header of its own the client takes those of the environment
    key = key or "none"
    client = kind(
        base_url=url,
        api_key=key,
        default_headers={"Authorization": f"Bearer {key}"},
        timeout=timeout,
        max_retries=0,
        http_client=direct,
    )
    if urlsplit(url).hostname != _OPENAI_HOST:
        client.organization = client.project = None
    return client


def with_retries(
    call: Callable[[], T], *, retries: int, backoff: float = 0.5, url: str, key: str | None
) -> tuple[T, int]:
    """Result of `call`, one request of an `openai` client, and how many attempts it took.

    Status 429 and 5xx, time-outs and lost connections are tried again, `retries` times at most,
    after `backoff` * 2^n seconds, a random part of it less, or as long as Retry-After says.
    Everything else, and the last failure, is a ServerError that names `url` and never shows `key`.
    """
    attempt = 1
    while True:
        try:
            return call(), attempt
        except _failures() as error:
            wait = _wait(error, attempt, retries, backoff, url, key)
        time.sleep(wait)
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
            wait = _wait(error, attempt, retries, backoff, url, key)
        await asyncio.sleep(wait)
        attempt += 1


def read_json(raw: Any, url: str, attempts: int) -> Any:
    """Body of a raw response (`with_raw_response`) as JSON; ServerError if it is none."""
    try:
        return json.loads(raw.http_response.content)
    except ValueError:
        raise ServerError(f"{url}: the reply is not JSON", attempts) from None


def only_model(client: Any, url: str, key: str | None, retries: int) -> str:
    """Name of the only model a server has; ValueError, which lists them, where it has several."""
    raw, attempts = with_retries(
        lambda: client.models.with_raw_response.list(), retries=retries, url=url, key=key
    )
    reply = read_json(raw, url, attempts)
    items = reply.get("data") if isinstance(reply, dict) else None
    named = [item.get("id") for item in items or [] if isinstance(item, dict)]
    names = [name for name in named if isinstance(name, str) and name]
    if not names:
        raise ServerError(f"{url}: the server lists no model", attempts)
    if len(names) > 1:
        listed = ", ".join(names[:_LISTED]) + (", ..." if len(names) > _LISTED else "")
        raise ValueError(f"{url} has {len(names)} models, name one: {listed}")
    return names[0]


def scrub(text: str, key: str | None) -> str:
    """`text` on one line, without the key."""
    line = " ".join(text.split())
    return line.replace(key, "***") if key else line


def _failures() -> tuple[type[Exception], ...]:
    # JSONDecodeError: the client lets it through when a reply says it is JSON and is not
    return (optional("openai", "the client", "llm").APIError, json.JSONDecodeError)


def _wait(
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
    return asked or backoff * 2.0 ** (attempt - 1) * random.uniform(0.75, 1.0)


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
    body = error.body
    said = body.get("message") if isinstance(body, dict) else body
    # scrubbed before it is cut, lest half a key stays
    text = scrub(str(said or body or error.message), key)
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
