"""A plain Python function as a language model."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hyperhop.llm.chat import LLMError, Message, Reply, SchemaRefused
from hyperhop.llm.usage import Meter, Usage


class CallableModel:
    """`function(messages) -> str` as a ChatModel; `achat` runs it in a thread.

    It takes no schema and no grammar (SchemaRefused), and no limit of tokens reaches it. What it
    raises becomes an LLMError.
    """

    def __init__(self, function: Callable[[Sequence[Message]], str], name: str = "") -> None:
        """Named like the function unless `name` says otherwise."""
        if not callable(function):
            raise TypeError(f"CallableModel: function must be callable, got {function!r}")
        self._function = function
        self._name = name or getattr(function, "__name__", type(function).__name__)
        self._meter = Meter()

    @property
    def name(self) -> str:
        """Recorded beside what the model produced."""
        return self._name

    @property
    def takes_schema(self) -> bool:
        """False."""
        return False

    @property
    def usage(self) -> Usage:
        """Calls of this object in this process."""
        return self._meter.total

    def chat(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        grammar: str | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        """What the function returns; LLMError if it raises or returns no text."""
        if schema is not None or grammar is not None:
            raise SchemaRefused(f"{self._name} takes no JSON schema and no grammar")
        try:
            text = self._function(messages)
            if not isinstance(text, str) or not text.strip():
                kind = "an empty text" if isinstance(text, str) else type(text).__name__
                raise TypeError(f"expected text, got {kind}")
        except Exception as error:
            self._meter.add(Usage(failures=1, attempts=1))
            raise LLMError(f"{self._name}: {type(error).__name__}: {error}", 1) from error
        self._meter.add(Usage(calls=1, attempts=1))
        return Reply(text)

    async def achat(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        grammar: str | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        """`chat` for callers inside an event loop."""
        return await asyncio.to_thread(
            self.chat, messages, schema=schema, grammar=grammar, max_tokens=max_tokens
        )
