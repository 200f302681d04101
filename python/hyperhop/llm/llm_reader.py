"""The reader with a language model: one call a question (PathHD, section 2.6)."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Literal, NamedTuple, cast, get_args, overload

from hyperhop._extras import optional
from hyperhop._workers import check_concurrency, run_in_threads
from hyperhop.evidence import Answer, Evidence
from hyperhop.llm.answers import parse_reply
from hyperhop.llm.asking import Outcome, aask, ask
from hyperhop.llm.chat import ChatModel, LLMError
from hyperhop.llm.grounding import Grounding
from hyperhop.llm.listing import Listing, list_evidence
from hyperhop.llm.prompts import Variant, reader_messages, reply_grammar, reply_schema
from hyperhop.llm.reader import VectorReader
from hyperhop.llm.replies import ParseFailure, ParseReport
from hyperhop.text.verbalize import Verbalizer

ReplyForm = Literal["auto", "json", "text", "grammar"]
Errors = Literal["raise", "return"]
Result = Answer | LLMError | ParseFailure
_CONCURRENCY = 8


class _Request(NamedTuple):
    """What is sent, and the form of reply it asks for."""

    form: Literal["json", "text"]
    arguments: dict[str, Any]


class _Asked(NamedTuple):
    """What came of asking about one listing, in which form."""

    listing: Listing
    form: str
    outcome: Outcome


class LLMReader:
    """Shows a language model the numbered evidence and reads its answer, in exactly one call.

    Args:
        model: any ChatModel.
        variant: "A" or "B", two wordings of the same prompt.
        form: "json": held to a JSON schema. "text": three lines. "grammar": these lines, held to a
            GBNF grammar that lets only ends of the paths be answers, for llama.cpp (a LocalModel or
            its server). "auto": the grammar where the model's `takes_grammar` is true, else JSON,
            or text where it takes no schema; a server that only then refuses the schema is asked
            again for text.
        max_paths: most paths to show, see `list_evidence`; `Answer.unread` counts the others.
        verbalizer: the wording of paths; `Verbalizer()` if None.
        fallback: let the VectorReader answer where the call fails or its reply cannot be read;
            `Answer.fallback` says why. Otherwise these are errors.
        max_tokens: of a reply; the model's own limit if None.

    `llm_calls` is 1, or 0 where there is no evidence (then nothing is asked, and the answer says
    that there is none) and where the call failed. `report` counts how the replies were read and
    keeps the text of those that were not.

    A citation that is not on the list is dropped and reported. An answer that is not an end of a
    cited path, nor stands in a cited passage, is `unsupported`; names are compared without regard
    to case, width, "_" and space, and returned as the graph spells them.

    TypeError for what is no ChatModel, ValueError for an unknown variant or form and for numbers
    below 1; ImportError without the extra `llm`, whose json-repair reads damaged replies.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        variant: Variant = "A",
        form: ReplyForm = "auto",
        max_paths: int = 32,
        verbalizer: Verbalizer | None = None,
        fallback: bool = False,
        max_tokens: int | None = None,
    ) -> None:
        if not isinstance(model, ChatModel) or isinstance(model, type):
            raise TypeError(
                "LLMReader: model must be a ChatModel, such as open_chat(url, model) returns, "
                f"got {type(model).__name__}"
            )
        for name, value, allowed in (("variant", variant, Variant), ("form", form, ReplyForm)):
            if value not in get_args(allowed):
                expected = ", ".join(get_args(allowed))
                raise ValueError(f"LLMReader: {name} must be one of {expected}, got {value!r}")
        for name, number in (("max_paths", max_paths), ("max_tokens", max_tokens)):
            if number is not None and number < 1:
                raise ValueError(f"LLMReader: {name} must be 1 or more, got {number}")
        optional("json_repair", "reading a language model's replies", "llm")  # before any call
        self.model = model
        self.variant, self.form = variant, form
        self.max_paths, self.max_tokens = max_paths, max_tokens
        self.fallback = fallback
        self.report = ParseReport()
        self._words = Verbalizer() if verbalizer is None else verbalizer
        self._vector = VectorReader(verbalizer)

    def read(self, question: str, evidence: Evidence) -> Answer:
        """The model's answer, held against the evidence.

        LLMError where the call failed, ParseFailure where its reply cannot be read, unless
        `fallback`.
        """
        return _answered(self._settle(question, evidence, self._ask(question, evidence)))

    async def aread(self, question: str, evidence: Evidence) -> Answer:
        """`read` for callers inside an event loop."""
        return _answered(self._settle(question, evidence, await self._aask(question, evidence)))

    @overload
    def read_batch(
        self,
        questions: Sequence[str],
        evidence: Sequence[Evidence],
        *,
        concurrency: int | None = None,
        errors: Literal["raise"] = "raise",
    ) -> list[Answer]: ...
    @overload
    def read_batch(
        self,
        questions: Sequence[str],
        evidence: Sequence[Evidence],
        *,
        concurrency: int | None = None,
        errors: Literal["return"],
    ) -> list[Result]: ...
    def read_batch(
        self,
        questions: Sequence[str],
        evidence: Sequence[Evidence],
        *,
        concurrency: int | None = None,
        errors: Errors = "raise",
    ) -> list[Answer] | list[Result]:
        """`read` of each question, in order; at most `concurrency` calls at once.

        None for it is the model's own limit. An LLMError or ParseFailure of one question stops no
        other: with `errors="return"` it stands in the place of its answer, with "raise" the first
        of them is raised once all are read, and the answers are lost. `report` counts every reply,
        as it comes.

        An interrupt (Ctrl-C), or another error of the model, is raised at once: nothing further is
        sent, and calls under way end in the background, none later than the model's time-out.
        ValueError unless there are as many questions as evidences.
        """
        limit = self._check_batch(questions, evidence, concurrency, errors)
        results: dict[int, Result] = {}

        def settle(place: int, asked: _Asked | None) -> None:
            results[place] = self._settle(questions[place], evidence[place], asked)

        pairs = list(zip(questions, evidence, strict=True))
        run_in_threads(lambda pair: self._ask(*pair), pairs, limit, settle)
        return _all_of([results[place] for place in range(len(pairs))], errors)

    @overload
    async def aread_batch(
        self,
        questions: Sequence[str],
        evidence: Sequence[Evidence],
        *,
        concurrency: int | None = None,
        errors: Literal["raise"] = "raise",
    ) -> list[Answer]: ...
    @overload
    async def aread_batch(
        self,
        questions: Sequence[str],
        evidence: Sequence[Evidence],
        *,
        concurrency: int | None = None,
        errors: Literal["return"],
    ) -> list[Result]: ...
    async def aread_batch(
        self,
        questions: Sequence[str],
        evidence: Sequence[Evidence],
        *,
        concurrency: int | None = None,
        errors: Errors = "raise",
    ) -> list[Answer] | list[Result]:
        """`read_batch` for callers inside an event loop; cancelled, it cancels the calls too."""
        limit = asyncio.Semaphore(self._check_batch(questions, evidence, concurrency, errors))

        async def one(question: str, found: Evidence) -> Result:
            async with limit:
                asked = await self._aask(question, found)
            return self._settle(question, found, asked)

        tasks = [asyncio.create_task(one(*pair)) for pair in zip(questions, evidence, strict=True)]
        try:
            return _all_of(list(await asyncio.gather(*tasks)), errors)
        finally:
            for task in tasks:  # those that another's error or a cancellation leaves
                task.cancel()

    def _check_batch(
        self,
        questions: Sequence[str],
        evidence: Sequence[Evidence],
        concurrency: int | None,
        errors: Errors,
    ) -> int:
        """How many calls may be under way at once."""
        if len(questions) != len(evidence):
            raise ValueError(
                f"LLMReader: {len(questions)} questions, but evidence for {len(evidence)}"
            )
        if errors not in get_args(Errors):
            raise ValueError(f"LLMReader: errors must be raise or return, got {errors!r}")
        if concurrency is None:
            concurrency = cast(int, getattr(self.model, "concurrency", _CONCURRENCY))
        check_concurrency(concurrency)
        return concurrency

    def _list(self, evidence: Evidence) -> Listing:
        return list_evidence(evidence, self._words, self.max_paths)

    def _ask(self, question: str, evidence: Evidence) -> _Asked | None:
        """What came of asking; None where there is no evidence to show."""
        listing = self._list(evidence)
        if not len(listing):
            return None
        requests = self._requests(question, listing)
        outcome = ask(self.model, [request.arguments for request in requests])
        return _Asked(listing, requests[outcome.place].form, outcome)

    async def _aask(self, question: str, evidence: Evidence) -> _Asked | None:
        """`_ask` for callers inside an event loop."""
        listing = self._list(evidence)
        if not len(listing):
            return None
        requests = self._requests(question, listing)
        outcome = await aask(self.model, [request.arguments for request in requests])
        return _Asked(listing, requests[outcome.place].form, outcome)

    def _requests(self, question: str, listing: Listing) -> list[_Request]:
        """What to send: the second only where the first's schema is refused."""
        forms: list[str] = [self.form]
        if self.form == "auto" and getattr(self.model, "takes_grammar", False):
            forms = ["grammar"]
        elif self.form == "auto":
            forms = ["text"] if self.model.takes_schema is False else ["json", "text"]
        requests = []
        for form in forms:
            asked: Literal["json", "text"] = "json" if form == "json" else "text"
            arguments: dict[str, Any] = {
                "messages": reader_messages(question, listing, self.variant, asked),
                "max_tokens": self.max_tokens,
            }
            if form == "json":
                arguments["schema"] = reply_schema(listing)
            if form == "grammar":
                arguments["grammar"] = reply_grammar(listing)
            requests.append(_Request(asked, arguments))
        return requests

    def _settle(self, question: str, evidence: Evidence, asked: _Asked | None) -> Result:
        """The answer that a reply holds, or the error or fallback in its place."""
        if asked is None:
            return self._vector.read(question, evidence)
        start = perf_counter()
        listing, form, outcome = asked
        result = outcome.result
        if isinstance(result, LLMError):
            if not self.fallback:
                return result
            return replace(
                self._vector.read(question, evidence),
                llm_attempts=outcome.attempts,
                timings={"read": outcome.milliseconds},
                fallback=str(result),
            )
        grounding = Grounding(evidence, listing, self._words)
        try:
            reply = parse_reply(result.text, form, grounding.knows, cut=result.cut)
        except ParseFailure as error:
            cut = " (it was cut at max_tokens)" if result.cut else ""
            failure = ParseFailure(error.reason + cut, error.text)
            self.report.failures.append(failure)
            if not self.fallback:
                return failure
            answer = replace(self._vector.read(question, evidence), fallback=failure.reason)
        else:
            repaired = reply.repaired or result.cut
            self.report.count(repaired)
            found = grounding.ground(reply)
            answer = Answer(
                ", ".join(found.names) or "No answer: the model finds none in the evidence.",
                found.entities,
                found.citations,
                reply.rationale,
                unsupported=found.unsupported,
                dropped_citations=found.dropped,
                unread=listing.unread,
                parse="repaired" if repaired else "parsed",
            )
        return replace(
            answer,
            llm_calls=1,
            llm_attempts=outcome.attempts,
            prompt_tokens=result.prompt_tokens,
            completion_tokens=result.completion_tokens,
            raw=result.text,
            timings={"read": outcome.milliseconds + (perf_counter() - start) * 1e3},
        )


def _answered(result: Result) -> Answer:
    """The answer; what stands in its place is raised."""
    if not isinstance(result, Answer):
        raise result
    return result


def _all_of(results: list[Result], errors: Errors) -> list[Answer] | list[Result]:
    return [_answered(result) for result in results] if errors == "raise" else results
