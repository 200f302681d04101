"""Open information extraction with a language model (HELP, section 3.1)."""

import asyncio
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from time import perf_counter
from typing import Any

from hyperhop._extras import optional
from hyperhop._workers import run_in_threads
from hyperhop.graph.arguments import at_least, integer
from hyperhop.help.extracted import ExtractedPassage, Extraction
from hyperhop.help.journal import Journal, finished, key
from hyperhop.help.passages import Passage, as_passages
from hyperhop.help.prompts import Request
from hyperhop.help.talk import Talk, advance, talk
from hyperhop.llm import ChatModel, LLMError, Reply
from hyperhop.llm.batch import Progress

_CONCURRENCY = 8


def extract(
    passages: Iterable[Passage | str | Mapping[str, Any]],
    model: ChatModel,
    *,
    calls: int = 2,
    directory: str | os.PathLike[str] | None = None,
    retries: int = 1,
    max_tokens: int | None = 2048,
    concurrency: int | None = None,
    progress: Progress | None = None,
) -> Extraction:
    """Entities and triples of passages, asked of a language model; passages in the order given.

    A passage that fails is recorded with its reason and harms no other. A reply that cannot be
    used is never taken for "no triples".

    Args:
        passages: see `as_passages`.
        model: anything with the members of `llm.ChatModel`. Replies are held to a JSON schema where
            it takes one; the prompt is the same where it does not.
        calls: 2: entities, then triples given the entities; 1: both at once.
        directory: each passage is recorded in the file extraction.jsonl there as soon as it is
            finished, and a later run continues: what is recorded for the same passage (id, title
            and text), model name, prompts and `calls` is not asked again, unless it failed.
        retries: how often an unusable reply is asked for again, in each call.
        max_tokens: bound of each reply, None for the server's; what it cuts is counted.
        concurrency: how many passages are asked about at a time, each by a thread; None for the
            model's own number, or 8 where it has none.
        progress: called with (passages finished, in all).

    An interrupt (Ctrl-C) is raised at once: nothing further is sent, replies under way are lost,
    and the records stay whole. It can be called inside a running event loop, which then waits: see
    `aextract`.
    Raises BlockingIOError where another run extracts into `directory`, DamagedStore where its
    records are damaged, TypeError or ValueError for bad arguments, ImportError without the extra
    `llm`, whose json-repair reads damaged replies. What `model` raises that is no
    LLMError ends the run.
    """
    with _running(
        "extract", passages, model, calls, directory, retries, max_tokens, concurrency
    ) as run:

        def ask(request: Request) -> Reply | LLMError:
            try:
                schema = run.schema(request)
                return model.chat(request.messages, schema=schema, max_tokens=max_tokens)
            except LLMError as error:
                return error

        def work(position: int) -> ExtractedPassage:
            conversation = run.talk(position)
            step = advance(conversation, None)
            while isinstance(step, Request):
                step = advance(conversation, ask(step))
            return step

        def done(place: int, extracted: ExtractedPassage) -> None:
            run.finish(run.todo[place], extracted)
            run.report(progress)

        run.report(progress)
        run_in_threads(work, run.todo, run.concurrency, done)
        return run.extraction()


async def aextract(
    passages: Iterable[Passage | str | Mapping[str, Any]],
    model: ChatModel,
    *,
    calls: int = 2,
    directory: str | os.PathLike[str] | None = None,
    retries: int = 1,
    max_tokens: int | None = 2048,
    concurrency: int | None = None,
    progress: Progress | None = None,
) -> Extraction:
    """`extract` for callers inside an event loop: awaits `model.achat`, starts no thread.

    Records are written by the loop's thread. When it is cancelled, requests under way are too.
    """
    with _running(
        "aextract", passages, model, calls, directory, retries, max_tokens, concurrency
    ) as run:

        async def ask(request: Request) -> Reply | LLMError:
            try:
                schema = run.schema(request)
                return await model.achat(request.messages, schema=schema, max_tokens=max_tokens)
            except LLMError as error:
                return error

        todo = iter(run.todo)

        async def work() -> None:
            for position in todo:  # shared: each passage goes to one worker
                conversation = run.talk(position)
                step = advance(conversation, None)
                while isinstance(step, Request):
                    step = advance(conversation, await ask(step))
                run.finish(position, step)
                run.report(progress)

        run.report(progress)
        workers = [asyncio.create_task(work()) for _ in range(min(run.concurrency, len(run.todo)))]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        return run.extraction()


class _Run:
    """What threads or tasks share: the passages still to do, and where results go."""

    def __init__(
        self,
        passages: list[Passage],
        model: ChatModel,
        calls: int,
        retries: int,
        concurrency: int,
        journal: Journal | None,
    ) -> None:
        self.concurrency = concurrency
        self._start = perf_counter()
        self._passages = passages
        self._model = model
        self._calls = calls
        self._retries = retries
        self._journal = journal
        self._keys = [key(passage, model.name, calls) for passage in passages]
        recorded = {}
        if journal is not None:
            wanted = dict(zip(self._keys, passages, strict=True))
            recorded = finished(journal.directory, wanted)
        self._results = [recorded.get(of) for of in self._keys]
        self.todo = [at for at, result in enumerate(self._results) if result is None]
        self._resumed = len(passages) - len(self.todo)
        self._done = self._resumed

    def talk(self, position: int) -> Talk:
        return talk(self._passages[position], self._calls, self._retries)

    def schema(self, request: Request) -> Mapping[str, Any] | None:
        return None if self._model.takes_schema is False else request.schema

    def finish(self, position: int, extracted: ExtractedPassage) -> None:
        if self._journal is not None:
            self._journal.append(self._keys[position], extracted)
        self._results[position] = extracted

    def report(self, progress: Progress | None) -> None:
        """Called once before the first passage, then after each."""
        if progress is not None:
            progress(self._done, len(self._passages))
        self._done += 1

    def extraction(self) -> Extraction:
        passages = [result for result in self._results if result is not None]
        seconds = perf_counter() - self._start
        return Extraction(passages, self._model.name, self._resumed, seconds)


@contextmanager
def _running(
    function: str,
    passages: Iterable[Passage | str | Mapping[str, Any]],
    model: ChatModel,
    calls: int,
    directory: str | os.PathLike[str] | None,
    retries: int,
    max_tokens: int | None,
    concurrency: int | None,
) -> Iterator[_Run]:
    """A run with checked arguments, and its journal, open as long as the run lasts."""
    if not isinstance(model, ChatModel):
        raise TypeError(
            f"{function}: model must have the members of llm.ChatModel, got {type(model).__name__}"
        )
    calls = check_calls(function, calls)
    retries = at_least(function, "retries", retries, 0)
    if max_tokens is not None:
        at_least(function, "max_tokens", max_tokens, 1)
    if concurrency is None:
        concurrency = getattr(model, "concurrency", _CONCURRENCY)
    concurrency = at_least(function, "concurrency", concurrency, 1)
    optional("json_repair", "reading a language model's replies", "llm")  # before any call
    listed = as_passages(passages)
    with nullcontext() if directory is None else Journal(directory) as journal:
        yield _Run(listed, model, calls, retries, concurrency, journal)


def check_calls(function: str, calls: int) -> int:
    """`calls`. Raises TypeError or ValueError unless it is 1 or 2."""
    number = integer(function, "calls", calls)
    if number not in (1, 2):
        raise ValueError(f"{function}: calls must be 1 or 2, got {number}")
    return number
