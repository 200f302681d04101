"""The HTTP client under `openai`: certificates are read once, replies must end in time."""

import functools
import importlib
import os
import ssl
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

_BEGUN = "hyperhop.begun"


def open_http(kind: Any, timeout: float, *, direct: bool, certificates: bool) -> Any:
    """A client of class `kind`, which is openai.DefaultHttpxClient or DefaultAsyncHttpxClient.

    A reply that is not complete `timeout` seconds after its request began is a time-out, even if
    some of it keeps coming. `direct` uses no proxy; without `certificates` no https is spoken.
    """
    library = importlib.import_module(kind.__base__.__module__.partition(".")[0])
    stream = _timed_stream(library)

    def begin(request: Any) -> None:
        request.extensions.setdefault(_BEGUN, time.monotonic())  # of a redirect it is there

    def limit(response: Any) -> None:
        end = response.request.extensions[_BEGUN] + timeout
        # what comes of the body is looked at; this is for the silence after it
        rest = max(end - time.monotonic(), 0.001)
        response.request.extensions["timeout"]["read"] = rest
        response.stream = stream(response.stream, end)

    async def begin_async(request: Any) -> None:
        begin(request)

    async def limit_async(response: Any) -> None:
        limit(response)

    is_async = issubclass(kind, library.AsyncClient)
    return kind(
        trust_env=not direct,
        verify=_certificates(library, *map(os.environ.get, ("SSL_CERT_FILE", "SSL_CERT_DIR")))
        if certificates
        else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        event_hooks={
            "request": [begin_async if is_async else begin],
            "response": [limit_async if is_async else limit],
        },
    )


@functools.cache
def _certificates(library: Any, file: str | None, folder: str | None) -> Any:
    """Whose certificates are believed; reading them takes 20 to 80 ms."""
    return library.create_ssl_context()


@functools.cache
def _timed_stream(library: Any) -> Any:
    """Class of a response's body that raises ReadTimeout at the first bytes after `end`."""

    class TimedStream(library.SyncByteStream, library.AsyncByteStream):  # type: ignore[misc]
        def __init__(self, stream: Any, end: float) -> None:
            self._stream, self._end = stream, end

        def _check(self) -> None:
            if time.monotonic() > self._end:
                raise library.ReadTimeout("the reply did not end in time")

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
