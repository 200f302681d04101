"""What a chat model must offer, and how it fails; anything with these members is one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

Message = Mapping[str, str]  # {"role": "system" | "user" | "assistant", "content": ...}


class LLMError(RuntimeError):
    """A language model gave no reply; `attempts` counts the requests sent for it."""

    def __init__(self, message: str, attempts: int = 0) -> None:
        super().__init__(message)
        self.attempts = attempts


class SchemaRefused(LLMError):
    """The server takes no JSON schema: ask again in plain text."""


@dataclass(frozen=True)
class Reply:
    """One completed call. `cut` says that the model was stopped by `max_tokens`.

    Token counts are the server's, 0 where it gives none; `attempts` counts retries too.
    """

    text: str
    attempts: int = 1
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cut: bool = False


@runtime_checkable
class ChatModel(Protocol):
    """A language model that answers a list of messages.

    It may also have `concurrency`, how many calls it takes at once, and `takes_grammar`, true where
    it holds replies to a GBNF grammar.
    """

    @property
    def name(self) -> str:
        """Recorded beside what the model produced."""
        ...

    @property
    def takes_schema(self) -> bool | None:
        """Does it hold replies to a JSON schema? None while that is not known."""
        ...

    def chat(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        grammar: str | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        """One reply, held to a JSON schema or a GBNF grammar if one is given.

        Raises LLMError where none came, SchemaRefused where the server takes no schema.
        """
        ...

    async def achat(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        grammar: str | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        """`chat` for callers inside an event loop."""
        ...
