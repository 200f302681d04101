"""How a server fails, in words that hold neither a key nor what commands a terminal."""

from typing import Any

from hyperhop._lines import on_one_line


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


def scrub(text: str, key: str | None) -> str:
    """`text` on one line, without the key, and without what would command a terminal."""
    line = " ".join(text.split())
    return on_one_line(line.replace(" ".join(key.split()), "***") if key else line)


def said(error: Any) -> Any:
    """What a server's error object says."""
    return (error.get("message") or error) if isinstance(error, dict) else error
