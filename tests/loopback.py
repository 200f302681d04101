"""A small OpenAI-compatible server on the loopback, which can be told to misbehave.

    with Loopback() as server:
        server.script = [status(429, retry_after="0"), text("Lima")]
        ...  # the client is given server.url
        assert len(server.requests) == 2

Each request takes the next step of `script`; without one it is served well: chat says what
`answer(messages)` returns, embeddings are `vector(text)`, and models are `models`.
"""

import json
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIM = 8


@dataclass(frozen=True)
class Step:
    """What to do with one request. `send` of the body's bytes are sent (None: all of them)."""

    status: int = 200
    body: bytes | Callable[[Any], bytes] = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drip: float = 0.0  # seconds between one byte of the body and the next
    send: int | None = None
    drop: bool = False


@dataclass(frozen=True)
class Request:
    """One request as it arrived; `body` is its JSON, None without one."""

    method: str
    path: str
    headers: dict[str, str]  # names in lower case
    body: Any


def dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8")


def completion(content: str | None, finish: str = "stop", **message: Any) -> dict[str, Any]:
    """The JSON of a chat completion: 11 tokens in, 3 out."""
    return {
        "id": "loopback",
        "object": "chat.completion",
        "created": 0,
        "model": "loopback",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **message},
                "finish_reason": finish,
            }
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14},
    }


def vector(text: str, dim: int = DIM) -> list[float]:
    """A fixed vector for each text, not of unit length, no two alike."""
    digest = blake2b(text.encode("utf-8"), digest_size=32).digest()
    return [digest[i % 32] / 64 - 2 + i // 32 for i in range(dim)]


def embedding_items(request: Any, dim: int = DIM) -> list[dict[str, Any]]:
    texts = request["input"]
    texts = [texts] if isinstance(texts, str) else texts
    return [
        {"object": "embedding", "index": i, "embedding": vector(text, dim)}
        for i, text in enumerate(texts)
    ]


# --- steps -------------------------------------------------------------------------------------


def text(content: str | None, finish: str = "stop", **message: Any) -> Step:
    """A chat reply with this content, e.g. in code fences or after thinking aloud."""
    return Step(body=dump(completion(content, finish, **message)))


def status(code: int, message: str = "no", retry_after: str | None = None) -> Step:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Step(code, dump({"error": {"message": message, "type": "loopback"}}), headers)


def slow(seconds: float) -> Step:
    """The right reply, but late."""
    return Step(body=dump(completion("late")), delay=seconds)


def dripping(content: str = "never seen in full", code: int = 200) -> Step:
    """A reply that keeps coming, byte by byte."""
    return Step(code, body=dump(completion(content)), drip=0.05)


def dropped() -> Step:
    """The connection is closed without a word."""
    return Step(drop=True)


def cut_off(content: str = "never seen in full") -> Step:
    """The connection is closed in the middle of the body."""
    body = dump(completion(content))
    return Step(body=body, send=len(body) // 2)


def half_json(content: str = "never seen in full") -> Step:
    """A complete response whose JSON stops half way."""
    body = dump(completion(content))
    return Step(body=body[: len(body) // 2])


def raw(body: str, content_type: str = "application/json", code: int = 200) -> Step:
    return Step(code, body.encode("utf-8"), {"Content-Type": content_type})


def html(code: int = 200) -> Step:
    return raw("<!doctype html><title>Sign in</title>", "text/html", code)


def redirect(url: str) -> Step:
    return Step(307, headers={"Location": url})


def embeddings(edit: Callable[[list[dict[str, Any]]], Any], dim: int = DIM) -> Step:
    """Embeddings whose items are what `edit(items)` returns: reordered, missing, ..."""

    def body(request: Any) -> bytes:
        return dump({"object": "list", "data": edit(embedding_items(request, dim))})

    return Step(body=body)


# --- server ------------------------------------------------------------------------------------


class _HTTPServer(ThreadingHTTPServer):
    request_queue_size = 128  # with 5, connections of many clients at once wait for seconds


class Loopback:
    """The server; `requests` are those that came, `peak` is the most in flight at once."""

    def __init__(self) -> None:
        self.script: list[Step] = []
        self.answer: Callable[[Any], str] = lambda messages: "ok"
        self.models = ["loopback"]
        self.dim = DIM
        self.takes_schema = True
        self.key: str | None = None  # demanded of every request where given
        self.pause = 0.0  # seconds that a request served well takes
        self.requests: list[Request] = []
        self.peak = 0
        self._in_flight = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._connections: set[socket.socket] = set()
        self._http = _HTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = False  # so that closing waits for them
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,))

    @property
    def host(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def url(self) -> str:
        return f"{self.host}/v1"

    def bodies(self) -> list[Any]:
        """The JSON of every request that had one."""
        return [request.body for request in self.requests if request.body is not None]

    def __enter__(self) -> "Loopback":
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._closing.set()
        self._http.shutdown()
        with self._lock:
            for connection in self._connections:
                with suppress(OSError):  # the other side may have gone first
                    connection.shutdown(socket.SHUT_RDWR)
        self._http.server_close()
        self._thread.join()

    def _take(self, request: Request) -> Step:
        with self._lock:
            self.requests.append(request)
            self._in_flight += 1
            self.peak = max(self.peak, self._in_flight)
            if self.script:
                return self.script.pop(0)
        return self._well(request)

    def _done(self) -> None:
        with self._lock:
            self._in_flight -= 1

    def _well(self, request: Request) -> Step:
        if self.key is not None and request.headers.get("authorization") != f"Bearer {self.key}":
            return status(401, f"wrong key {request.headers.get('authorization')}")
        if request.path == "/v1/models":
            models = [{"id": name, "object": "model"} for name in self.models]
            return Step(body=dump({"object": "list", "data": models}), delay=self.pause)
        if request.path == "/v1/chat/completions":
            if "response_format" in request.body and not self.takes_schema:
                return status(400, "response_format is not supported")
            answer = completion(self.answer(request.body["messages"]))
            return Step(body=dump(answer), delay=self.pause)
        if request.path == "/v1/embeddings":
            items = embedding_items(request.body, request.body.get("dimensions", self.dim))
            return Step(body=dump({"object": "list", "data": items}), delay=self.pause)
        return status(404, f"no {request.path} here")


def _handler(server: Loopback) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            with server._lock:
                server._connections.add(self.connection)

        def finish(self) -> None:
            with server._lock:
                server._connections.discard(self.connection)
            super().finish()

        def handle(self) -> None:
            with suppress(ConnectionError):  # a client that gave up waiting
                super().handle()

        def log_message(self, *args: object) -> None:
            pass

        def serve(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length)) if length else None
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.command, self.path, headers, body)
            try:
                step = server._take(request)
                if step.delay:
                    server._closing.wait(step.delay)
            finally:
                server._done()
            if step.drop:
                self.close_connection = True
                return
            reply = step.body if isinstance(step.body, bytes) else step.body(body)
            self.send_response(step.status)
            given = {"Content-Type": "application/json", "Content-Length": str(len(reply))}
            for name, value in {**given, **step.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if step.drip:
                for place in range(len(reply)):
                    self.wfile.write(reply[place : place + 1])
                    if server._closing.wait(step.drip):
                        break
                return
            self.wfile.write(reply[: step.send])
            if step.send is not None:
                self.close_connection = True

        do_GET = do_POST = serve

    return Handler
