"""The reader and the language model that the command line asks for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import typer

from hyperhop.cli.options import ReaderName
from hyperhop.evidence import Answer, Evidence, Reader
from hyperhop.llm import ChatModel, LLMError, LLMReader, VectorReader, open_chat


@contextmanager
def open_reader(
    reader: ReaderName | None,
    llm: str | None,
    model: str | None,
    fallback: bool,
    plans: bool,
    contrast: float | None = None,
) -> Iterator[tuple[Reader, ChatModel | None]]:
    """Open the reader that these options name and the model it asks; close that afterwards.

    `plans` says that planning asks the model too. Raises typer.BadParameter where the options
    contradict each other, and what `open_chat` raises.
    """
    named = llm is not None or model is not None
    if named and reader is ReaderName.VECTOR and not plans:
        raise typer.BadParameter("--llm and --model name a language model: not --reader vector")
    reads = reader is ReaderName.LLM or (named and reader is None)
    if not reads and not plans:
        if fallback:
            raise typer.BadParameter("--fallback is for --reader llm, --planner llm or --llm URL")
        if contrast is not None:
            raise typer.BadParameter("--contrast is for --reader llm or --llm PATH")
        yield VectorReader(), None
        return
    try:
        chat = open_chat(llm, model, contrast=contrast)
    except LLMError as error:  # it was asked for its models
        if not fallback:
            raise
        yield _WithoutModel(str(error)), None
        return
    with _closed(chat):
        yield LLMReader(chat, fallback=fallback) if reads else VectorReader(), chat


@contextmanager
def opened_chat(llm: str | None, model: str | None) -> Iterator[ChatModel]:
    """Open the language model that is named or configured; close it afterwards.

    Raises what `open_chat` raises.
    """
    chat = open_chat(llm, model)
    with _closed(chat):
        yield chat


@contextmanager
def _closed(chat: ChatModel) -> Iterator[None]:
    """Close the model afterwards, if it can be closed."""
    try:
        yield
    finally:
        close = getattr(chat, "close", None)
        if close is not None:
            close()


class _WithoutModel:
    """Stands in for a language model that could not be opened, and says so."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def read(self, question: str, evidence: Evidence) -> Answer:
        return replace(VectorReader().read(question, evidence), fallback=self._reason)
