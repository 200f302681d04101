"""Chat models behind an OpenAI-compatible server."""

import asyncio
import json
import math
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

from hyperhop._server import (
    ServerError,
    check_server,
    find_key,
    make_async_client,
    make_client,
    normalize_url,
    read_json,
    scrub,
    with_retries,
    with_retries_async,
)
from hyperhop._workers import on_leaving
from hyperhop.llm.batch import Progress, achat_batch, chat_batch
from hyperhop.llm.chat import LLMError, Message, Reply, SchemaRefused
from hyperhop.llm.completion import read_completion, read_usage
from hyperhop.llm.usage import Meter, Usage

_WHAT = "a language model behind a server"
_REFUSALS = (400, 404, 422, 501)
_SCHEMA_WORDS = ("response_format", "json_schema", "schema", "structured", "grammar")


@dataclass
class _LoopClient:
    """The client of one event loop, closed by the last call that uses it."""

    client: Any
    limit: asyncio.Semaphore
    users: int = 0


class ChatClient:
    """Any model of any OpenAI-compatible server; a ChatModel. Needs the extra `llm`.

    Safe from any thread, inside a running event loop and after `fork`: `chat` uses no event loop,
    `achat` that of its caller. Nothing is streamed. A pickle or copy never holds the key: it is
    read again from the environment, and a key that was given as `api_key` must be given again.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str | None = None,
        *,
        key_env: str | None = None,
        timeout: float = 60.0,
        retries: int = 4,
        concurrency: int = 8,
        temperature: float | None = 0.0,
        max_tokens: int | None = 512,
        seed: int | None = None,
        structured: bool | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """The server at `base_url`, with or without "/v1" or "/v1/chat/completions".

        Without `api_key` the key is that of the environment variable `key_env`, or without that
        of HYPERHOP_LLM_KEY, unless HYPERHOP_LLM_URL or else the configuration file says that it is
        another server's; a server that wants no key needs none. A request is given up `timeout`
        seconds after it began, also when its reply keeps trickling in; but connecting, sending and
        each piece of the reply's headers may take as long by themselves. One call makes
        1 + `retries` requests at most, and a further one only after status 429 or 5xx, a time-out
        or a lost connection.
        At most `concurrency` calls of a batch, or of `achat` in one event loop, are in flight.
        `structured` says whether the server takes a JSON schema; None finds out. None for
        `temperature`, `max_tokens` or `seed` does not send it; `extra` is sent as it stands, so
        `max_tokens=None, extra={"max_completion_tokens": 2000}` suits servers that ask for that.

        ImportError without the extra; TypeError or ValueError for an address, name or number of
        the wrong kind or out of range, and for a `key_env` that is not set.
        """
        if not isinstance(model, str) or not model.strip():
            raise ValueError(f"ChatClient: model must be the name of a model, got {model!r}")
        _check_count("retries", retries, 0)
        _check_count("concurrency", concurrency, 1)
        if max_tokens is not None:
            _check_count("max_tokens", max_tokens, 1)
        if temperature is not None:
            _check_temperature(temperature)
        if key_env is not None and not os.environ.get(key_env):
            # not shown: it may be a key that was put in the wrong place
            raise ValueError("ChatClient: key_env must name an environment variable that is set")
        self._url = normalize_url(base_url)
        check_server(_WHAT, self._url, timeout)  # now, not at the first question
        self._model = model
        self._key_env = key_env
        self._key = find_key(self._url, api_key or os.environ.get(key_env or ""))
        self._timeout = timeout
        self._retries = retries
        self._concurrency = concurrency
        self._defaults = {"temperature": temperature, "max_tokens": max_tokens, "seed": seed}
        self._structured = structured
        self._extra = dict(extra or {})
        self._meter = Meter()
        # by process: a child may not talk on its parent's connections
        self._clients: dict[int, Any] = {}
        self._loops: dict[asyncio.AbstractEventLoop, _LoopClient] = {}

    @property
    def name(self) -> str:
        """The model's name, as the server knows it."""
        return self._model

    @property
    def url(self) -> str:
        """Address of the server, ending in its version."""
        return self._url

    @property
    def takes_schema(self) -> bool | None:
        """Does the server hold replies to a JSON schema? None while that is not known."""
        return self._structured

    @property
    def concurrency(self) -> int:
        """Most calls of a batch in flight at once."""
        return self._concurrency

    @property
    def usage(self) -> Usage:
        """Calls and tokens of this object in this process."""
        return self._meter.total

    def chat(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        grammar: str | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        """One reply, held to a JSON schema or (llama.cpp servers) to a GBNF grammar.

        A lone surrogate in a text, which is no character, is sent as "?".

        LLMError where none came, or nothing in it; its `attempts` counts the requests. A server
        that refuses the schema raises SchemaRefused, at once if it has said so before.
        """
        request = self._request(messages, schema, grammar, max_tokens)
        client = self._client()
        on_leaving(client.hang_up)
        create = client.chat.completions.with_raw_response.create
        try:
            raw, attempts = with_retries(
                lambda: create(**request),
                retries=self._retries,
                url=self._url,
                key=self._key,
            )
            result = self._read(raw, attempts, schema)
        except ServerError as error:
            result = self._failure(error, schema)
        return self._settle(result)

    async def achat(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        grammar: str | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        """`chat` for callers inside an event loop."""
        request = self._request(messages, schema, grammar, max_tokens)
        async with self._shared_client() as shared, shared.limit:
            create = shared.client.chat.completions.with_raw_response.create
            try:
                raw, attempts = await with_retries_async(
                    lambda: create(**request),
                    retries=self._retries,
                    url=self._url,
                    key=self._key,
                )
                result = self._read(raw, attempts, schema)
            except ServerError as error:
                result = self._failure(error, schema)
        return self._settle(result)

    def chat_batch(
        self,
        batch: Sequence[Sequence[Message]],
        *,
        schema: Mapping[str, Any] | None = None,
        grammar: str | None = None,
        max_tokens: int | None = None,
        progress: Progress | None = None,
    ) -> list[Reply | LLMError]:
        """One reply, or the error that came in its place, for each list of messages, in order.

        `progress(done, total)` is called in this thread after each. An interrupt (Ctrl-C) is
        raised at once, see `hyperhop.llm.chat_batch`.
        """
        return chat_batch(
            self,
            batch,
            concurrency=self._concurrency,
            schema=schema,
            grammar=grammar,
            max_tokens=max_tokens,
            progress=progress,
        )

    async def achat_batch(
        self,
        batch: Sequence[Sequence[Message]],
        *,
        schema: Mapping[str, Any] | None = None,
        grammar: str | None = None,
        max_tokens: int | None = None,
        progress: Progress | None = None,
    ) -> list[Reply | LLMError]:
        """`chat_batch` for callers inside an event loop."""
        async with self._shared_client():  # one for all of them
            return await achat_batch(
                self,
                batch,
                concurrency=self._concurrency,
                schema=schema,
                grammar=grammar,
                max_tokens=max_tokens,
                progress=progress,
            )

    def close(self) -> None:
        """Close the connections of this process, with a reply to come or not.

        A later call opens new ones.
        """
        client = self._clients.pop(os.getpid(), None)
        if client is not None:
            client.hang_up()
            client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._url!r}, {self._model!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_key": None, "_clients": {}, "_loops": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._key = find_key(self._url, os.environ.get(self._key_env or ""))

    def _client(self) -> Any:
        process = os.getpid()
        client = self._clients.get(process)
        if client is None:
            made = make_client(_WHAT, self._url, self._key, self._timeout)
            client = self._clients.setdefault(process, made)
            if client is not made:  # another thread was faster
                made.close()
        return client

    @asynccontextmanager
    async def _shared_client(self) -> AsyncIterator[_LoopClient]:
        """The running loop's client, held open meanwhile."""
        loop = asyncio.get_running_loop()
        shared = self._loops.get(loop)
        if shared is None:
            client = make_async_client(_WHAT, self._url, self._key, self._timeout)
            shared = self._loops[loop] = _LoopClient(client, asyncio.Semaphore(self._concurrency))
        shared.users += 1
        try:
            yield shared
        finally:
            shared.users -= 1
            if not shared.users:
                # connections cannot outlive their loop, and nobody says when it ends
                del self._loops[loop]
                await shared.client.close()

    def _request(
        self,
        messages: Sequence[Message],
        schema: Mapping[str, Any] | None,
        grammar: str | None,
        max_tokens: int | None,
    ) -> dict[str, Any]:
        """Arguments of the client's call."""
        if schema is not None and self._structured is False:
            raise SchemaRefused(f"{self._url} takes no JSON schema")
        limit = self._defaults["max_tokens"] if max_tokens is None else max_tokens
        given = {**self._defaults, "max_tokens": limit, "response_format": _form(schema)}
        extra = self._extra if grammar is None else {**self._extra, "grammar": grammar}
        request = {
            "model": self._model,
            "messages": [_message(message) for message in messages],
            "extra_body": extra,
            **{name: value for name, value in given.items() if value is not None},
        }
        return {name: _encodable(value) for name, value in request.items()}

    def _read(self, raw: Any, attempts: int, schema: Mapping[str, Any] | None) -> Reply | LLMError:
        """What a response of status 200 holds."""
        data = read_json(raw, self._url, attempts)
        try:
            reply = read_completion(data, attempts)
        except ValueError as error:
            self._meter.add(read_usage(data))  # paid for all the same
            return LLMError(f"{self._url}: {scrub(str(error), self._key)}", attempts)
        if schema is not None and self._structured is None and _is_json(reply.text):
            self._structured = True
        return reply

    def _failure(self, error: ServerError, schema: Mapping[str, Any] | None) -> LLMError:
        if schema is None or self._structured or error.status not in _REFUSALS:
            return LLMError(str(error), error.attempts)
        # remembered only if the server says so: a wrong model's name has the same status
        if any(word in str(error).lower() for word in _SCHEMA_WORDS):
            self._structured = False
        return SchemaRefused(str(error), error.attempts)

    def _settle(self, result: Reply | LLMError) -> Reply:
        """Count a call, then return its reply or raise its error, without the request behind it."""
        if isinstance(result, Reply):
            tokens = result.prompt_tokens, result.completion_tokens
            self._meter.add(Usage(1, 0, result.attempts, *tokens))
            return result
        self._meter.add(Usage(0, 1, result.attempts))
        raise result


def _message(message: Message) -> dict[str, str]:
    if not isinstance(message, Mapping) or not {"role", "content"} <= set(message):
        raise TypeError(f"chat: a message must have a role and a content, got {message!r:.80}")
    return dict(message)


def _encodable(value: Any) -> Any:
    """`value` with "?" for every lone surrogate, which is no character and cannot be sent."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Mapping):
        return {_encodable(name): _encodable(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(one) for one in value]
    return value


def _form(schema: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """`response_format` of a JSON schema."""
    if schema is None:
        return None
    form = {"name": "reply", "schema": dict(schema), "strict": True}
    return {"type": "json_schema", "json_schema": form}


def _check_count(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        kind = type(value).__name__
        raise TypeError(f"ChatClient: {name} must be a whole number, got {kind}")
    if value < least:
        raise ValueError(f"ChatClient: {name} must be {least} or more, got {value}")


def _check_temperature(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        kind = type(value).__name__
        raise TypeError(f"ChatClient: temperature must be a number, got {kind}")
    if not 0 <= value < math.inf:
        raise ValueError(f"ChatClient: temperature must be 0 or more, got {value}")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):  # the latter where it is nested too deep
        return False
    return True
