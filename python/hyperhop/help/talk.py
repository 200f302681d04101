"""The talk with a model about one passage, apart from how messages are sent.

A talk is a generator: it yields what to ask, and is sent the reply or thrown the LLMError, so that
threads and event loops share it.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from time import perf_counter

from hyperhop.help.answers import read_both, read_entities, read_triples
from hyperhop.help.extracted import ExtractedPassage, settled
from hyperhop.help.passages import Passage
from hyperhop.help.prompts import (
    Request,
    ask_again,
    both_request,
    entities_request,
    triples_request,
)
from hyperhop.help.triples import Found
from hyperhop.llm import LLMError, ParseFailure, Reply, SchemaRefused

Talk = Generator[Request, Reply, ExtractedPassage]


@dataclass
class _Log:
    replies: list[str] = field(default_factory=list)
    attempts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, reply: Reply) -> None:
        self.replies.append(reply.text)
        self.attempts += reply.attempts
        self.prompt_tokens += reply.prompt_tokens
        self.completion_tokens += reply.completion_tokens


def talk(passage: Passage, calls: int, retries: int) -> Talk:
    """Ask in `calls` calls (1 or 2), each again up to `retries` times where a reply is unusable.

    A passage without text is not asked about. What was found in a call that succeeded is kept
    when the next one fails.
    """
    start = perf_counter()
    log = _Log()
    found = Found()
    failure = ""
    if not passage.text.strip():
        return ExtractedPassage(passage, "empty", reason="the passage has no text")
    try:
        if calls == 1:
            found = yield from _ask(both_request(passage), read_both, retries, log)
        else:
            found = yield from _ask(entities_request(passage), read_entities, retries, log)
            request = triples_request(passage, found.entities)
            found = _joined(found, (yield from _ask(request, read_triples, retries, log)))
    except ParseFailure as error:
        failure = f"no usable reply in {retries + 1}: {error.reason}"
    except LLMError as error:
        log.attempts += error.attempts
        failure = str(error) or type(error).__name__
    return settled(
        passage,
        found,
        failure,
        "the model found no triple",
        replies=log.replies,
        calls=len(log.replies),
        attempts=log.attempts,
        prompt_tokens=log.prompt_tokens,
        completion_tokens=log.completion_tokens,
        seconds=perf_counter() - start,
    )


def advance(conversation: Talk, answer: Reply | LLMError | None) -> Request | ExtractedPassage:
    """Tell a talk the answer (None begins it): its next request, or what it came to."""
    try:
        if answer is None:
            return next(conversation)
        if isinstance(answer, LLMError):
            return conversation.throw(answer)
        return conversation.send(answer)
    except StopIteration as end:
        extracted: ExtractedPassage = end.value
        return extracted


def _ask(
    request: Request, read: Callable[[str], Found], retries: int, log: _Log
) -> Generator[Request, Reply, Found]:
    asked = request
    while True:
        try:
            reply = yield asked
        except SchemaRefused as error:
            log.attempts += error.attempts
            request = replace(request, schema=None)  # the prompt describes the form as well
            reply = yield replace(asked, schema=None)
        log.add(reply)
        try:
            return read(reply.text)
        except ParseFailure as error:
            if not retries:
                raise
            retries -= 1
            asked = ask_again(request, error.reason, reply.cut)


def _joined(first: Found, second: Found) -> Found:
    return Found(
        first.entities,
        second.triples,
        first.mended + second.mended,
        first.dropped + second.dropped,
        first.merged + second.merged,
    )
