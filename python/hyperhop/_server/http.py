"""The HTTP client under `openai`: replies must end in time, and calls can be cut short."""

import functools
import importlib
import os
import socket
import ssl
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

_BEGUN = "hyperhop.begun"


def open_http(
    openai: Any, timeout: float, *, direct: bool, certificates: bool
) -> tuple[Any, Callable[[], None]]:
    """An openai.DefaultHttpxClient, and what cuts all its calls short, from any thread.

    A reply that is not complete `timeout` seconds after its request began is a time-out, even if
    some of it keeps coming. `direct` uses no proxy; without `certificates` no https is spoken.
    """
    package = http_package(openai)
    connections = _Connections()

    def begin(request: Any) -> None:
        _begin(request)
        request.extensions["trace"] = connections.see

    client = openai.DefaultHttpxClient(
        trust_env=not direct,
        verify=_trust(package, certificates),
        event_hooks={"request": [begin], "response": [_limit(package, timeout)]},
    )
    return client, connections.hang_up


def open_async_http(openai: Any, timeout: float, *, direct: bool, certificates: bool) -> Any:
    """`open_http` for an openai.DefaultAsyncHttpxClient, whose calls are cancelled."""
    package = http_package(openai)
    limit = _limit(package, timeout)

    async def begin(request: Any) -> None:
        _begin(request)

    async def end(response: Any) -> None:
        limit(response)

    return openai.DefaultAsyncHttpxClient(
        trust_env=not direct,
        verify=_trust(package, certificates),
        event_hooks={"request": [begin], "response": [end]},
    )


def http_package(openai: Any) -> Any:
    """What openai speaks HTTP with: httpx, or a later package of the same form."""
    kind = openai.DefaultHttpxClient.__base__
    return importlib.import_module(kind.__module__.partition(".")[0])


class _Connections:
    """The open sockets of a client."""

    def __init__(self) -> None:
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._lock = threading.Lock()

    def see(self, event: str, info: Mapping[str, Any]) -> None:
        """Called by the client whatever it does."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            with self._lock:
                self._sockets.add(info["return_value"].get_extra_info("socket"))

    def hang_up(self) -> None:
        """Whoever waits for a reply finds the connection closed."""
        with self._lock:
            for each in self._sockets:
                with suppress(OSError):  # it is closed already
                    # not that of a TLS socket, which is not made for two threads
                    socket.socket.shutdown(each, socket.SHUT_RDWR)


def _begin(request: Any) -> None:
    request.extensions.setdefault(_BEGUN, time.monotonic())  # after a redirect it is there


def _limit(package: Any, timeout: float) -> Callable[[Any], None]:
    """What to do with a response before its body is read."""
    stream = _timed_stream(package)

    def limit(response: Any) -> None:
        end = response.request.extensions[_BEGUN] + timeout
        # the stream looks at what comes of the body, this is for silence
        rest = max(end - time.monotonic(), 0.001)
        response.request.extensions["timeout"]["read"] = rest
        response.stream = stream(response.stream, end)

    return limit


@functools.cache
def _timed_stream(package: Any) -> Any:
    """Class of a response's body that raises ReadTimeout at the first bytes after `end`."""

    # which package it is, httpx or a later one, is known only when it runs
    class TimedStream(package.SyncByteStream, package.AsyncByteStream):  # type: ignore[misc]
        def __init__(self, stream: Any, end: float) -> None:
            self._stream, self._end = stream, end

        def _check(self) -> None:
            if time.monotonic() > self._end:
                raise package.ReadTimeout("the reply did not end in time")

        def __iter__(self) -> Iterator[bytes]:
            for chunk in self._stream:
                self._check()
                yield chunk

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for chunk in self._stream:
                self._check()
                yield chunk

        def close(self) -> None:
            self._stream.close()

        async def aclose(self) -> None:
            await self._stream.aclose()

    return TimedStream


def _trust(package: Any, certificates: bool) -> Any:
    if not certificates:
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return _certificates(package, *map(os.environ.get, ("SSL_CERT_FILE", "SSL_CERT_DIR")))


@functools.cache
def _certificates(package: Any, file: str | None, folder: str | None) -> Any:
    """Whose certificates are believed; to read them takes 20 to 80 ms, so it is done once."""
    return package.create_ssl_context()
