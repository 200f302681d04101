"""Many calls of a chat model at once, in order, none lost to another's failure."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hyperhop._workers import check_concurrency, run_in_threads
from hyperhop.llm.chat import ChatModel, LLMError, Message, Reply

Progress = Callable[[int, int], object]  # (calls done, calls in all)


def chat_batch(
    model: ChatModel,
    batch: Sequence[Sequence[Message]],
    *,
    concurrency: int = 1,
    schema: Mapping[str, Any] | None = None,
    grammar: str | None = None,
    max_tokens: int | None = None,
    progress: Progress | None = None,
) -> list[Reply | LLMError]:
    """One reply, or the error that came in its place, for each list of messages, in order.

    At most `concurrency` calls are in flight. `progress(done, total)` is called in this thread.
    An interrupt (Ctrl-C) or an error that is no LLMError is raised at once: no further call or
    retry is made. A ChatClient hangs up on requests that were sent (calls that other threads make
    with it lose their connection too, and are tried again); other models end them unheard.
    """
    results: dict[int, Reply | LLMError] = {}

    def call(messages: Sequence[Message]) -> Reply | LLMError:
        try:
            return model.chat(messages, schema=schema, grammar=grammar, max_tokens=max_tokens)
        except LLMError as error:
            return error

    def done(place: int, result: Reply | LLMError) -> None:
        results[place] = result
        if progress is not None:
            progress(len(results), len(batch))

    run_in_threads(call, batch, concurrency, done)
    return [results[place] for place in range(len(batch))]


async def achat_batch(
    model: ChatModel,
    batch: Sequence[Sequence[Message]],
    *,
    concurrency: int = 1,
    schema: Mapping[str, Any] | None = None,
    grammar: str | None = None,
    max_tokens: int | None = None,
    progress: Progress | None = None,
) -> list[Reply | LLMError]:
    """`chat_batch` for callers inside an event loop."""
    check_concurrency(concurrency)
    limit = asyncio.Semaphore(concurrency)
    done = 0

    async def one(messages: Sequence[Message]) -> Reply | LLMError:
        nonlocal done
        result: Reply | LLMError
        async with limit:
            try:
                result = await model.achat(
                    messages, schema=schema, grammar=grammar, max_tokens=max_tokens
                )
            except LLMError as error:
                result = error
        done += 1
        if progress is not None:
            progress(done, len(batch))
        return result

    tasks = [asyncio.create_task(one(messages)) for messages in batch]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:  # an error that is no LLMError stops the rest
            task.cancel()
