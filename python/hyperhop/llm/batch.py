"""Many calls of a chat model at once, in order, none lost to another's failure."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

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
    """
    results: dict[int, Reply | LLMError] = {}
    pool = ThreadPoolExecutor(max(1, min(concurrency, len(batch))))
    try:
        jobs = {
            pool.submit(
                model.chat, messages, schema=schema, grammar=grammar, max_tokens=max_tokens
            ): i
            for i, messages in enumerate(batch)
        }
        for done, job in enumerate(as_completed(jobs), start=1):
            try:
                results[jobs[job]] = job.result()
            except LLMError as error:
                results[jobs[job]] = error
            if progress is not None:
                progress(done, len(batch))
    finally:
        pool.shutdown(cancel_futures=True)  # interrupted: what has not begun never does
    return [results[i] for i in range(len(batch))]


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
