"""Clients of OpenAI-compatible servers."""

import weakref
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from hyperhop._extras import optional
from hyperhop._server.address import OPENAI_HOST
from hyperhop._server.http import http_package, open_async_http, open_http

LONGEST_TIMEOUT = 1e6  # seconds, 11 days; sockets take no more than 24
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


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
    if urlsplit(url).hostname != OPENAI_HOST:
        client.organization = client.project = None
    return client
