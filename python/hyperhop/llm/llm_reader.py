"""The reader with a language model: one call a question (PathHD, section 2.6)."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Literal, NamedTuple, cast, get_args, overload

from hyperhop._extras import optional
from hyperhop._workers import check_concurrency, run_in_threads
from hyperhop.evidence import Answer, Evidence
from hyperhop.llm.answers import ReaderReply, parse_reply
from hyperhop.llm.asking import Outcome, aask, ask
from hyperhop.llm.chat import ChatModel, LLMError, Reply
from hyperhop.llm.grounding import Grounding
from hyperhop.llm.listing import Listing, list_evidence
from hyperhop.llm.pretrained import TransformersModel, is_folder_of_model
from hyperhop.llm.prompts import Variant, reader_messages, reply_grammar, reply_schema
from hyperhop.llm.reader import VectorReader
from hyperhop.llm.replies import ParseFailure, ParseReport
from hyperhop.llm.template import ReaderTemplate, TemplateModel
from hyperhop.text.verbalize import Verbalizer

ReplyForm = Literal["auto", "json", "text", "grammar"]
Errors = Literal["raise", "return"]
Result = Answer | LLMError | ParseFailure
_CONCURRENCY = 8
_MAX_PATHS = 32


class _Request(NamedTuple):
    """What is sent, and the form of reply it asks for."""

    form: Literal["json", "text", "template"]
    arguments: dict[str, Any]


class _Asked(NamedTuple):
    """What came of asking about one listing, in which form."""

    listing: Listing
    form: str
    outcome: Outcome


class LLMReader:
    """Shows a language model the numbered evidence and reads its answer, in exactly one call.

    Args:
        model: any ChatModel, or the path of a folder of transformers.
        variant: "A" or "B", two wordings of the same prompt.
        form: "json": held to a JSON schema. "text": three lines. "grammar": these lines, held to a
            GBNF grammar that lets only ends of the paths be answers, for llama.cpp (a LocalModel or
            its server). "auto": the grammar where the model's `takes_grammar` is true, else JSON,
            or text where it takes no schema; a server that only then refuses the schema is asked
            again for text.
        max_paths: most paths to show, see `list_evidence`; `Answer.unread` counts the others. None
            for 32, or what the model's template says.
        verbalizer: the wording of paths; `Verbalizer()` if None, or the template's.
        fallback: let the VectorReader answer where the call fails or its reply cannot be read;
            `Answer.fallback` says why. Otherwise these are errors.
        max_tokens: of a reply; the model's own limit if None.

    `llm_calls` is 1, or 0 where there is no evidence (then nothing is asked, and the answer says
    that there is none) and where the call failed. `report` counts how the replies were read and
    keeps the text of those that were not.

    A citation that is not on the list is dropped and reported. An answer that is not an end of a
    cited path, nor stands in a cited passage, is `unsupported`; names are compared without regard
    to case, width, "_" and space, and returned as the graph spells them.

    A model that was fine-tuned on a template (a TemplateModel, see `hyperhop.rsf.stage2`) is asked
    in that template alone. It gives names, no citations and no rationale: the paths shown that end
    in an answer are cited. Of a prompt that is too long for the model the last paths are left out
    and counted as `unread`. With a template that shows no paths (RSF-GLLM, table 4) every answer is
    the model's own: it is in `entities` as the model wrote it, and `unsupported`.

    A model with `contrast` is also given each prompt without its evidence.

    TypeError for what is no ChatModel, ValueError for an unknown variant or form, for either beside
    a template and for numbers below 1; ImportError without the extra `llm`, whose json-repair reads
    damaged replies, unless there is a template.
    """

    def __init__(
        self,
        model: ChatModel | str | os.PathLike[str],
        *,
        variant: Variant = "A",
        form: ReplyForm = "auto",
        max_paths: int | None = None,
        verbalizer: Verbalizer | None = None,
        fallback: bool = False,
        max_tokens: int | None = None,
    ) -> None:
        if isinstance(model, str | os.PathLike) and is_folder_of_model(model):
            model = TransformersModel(model)
        if not isinstance(model, ChatModel) or isinstance(model, type):
            raise TypeError(
                "LLMReader: model must be a folder of transformers or a ChatModel, such as "
                "open_chat(url, model) returns, "
                f"got {type(model).__name__}"
            )
        for name, value, allowed in (("variant", variant, Variant), ("form", form, ReplyForm)):
            if value not in get_args(allowed):
                expected = ", ".join(get_args(allowed))
                raise ValueError(f"LLMReader: {name} must be one of {expected}, got {value!r}")
        for name, number in (("max_paths", max_paths), ("max_tokens", max_tokens)):
            if number is not None and number < 1:
                raise ValueError(f"LLMReader: {name} must be 1 or more, got {number}")
        template = model.template if isinstance(model, TemplateModel) else None
        if template is None:
            optional("json_repair", "reading a language model's replies", "llm")  # before any call
        elif (variant, form) != ("A", "auto"):
            raise ValueError(f"LLMReader: {model.name} has a template: leave variant and form out")
        self.model = model
        self.variant, self.form = variant, form
        self.max_paths = max_paths or (_MAX_PATHS if template is None else template.max_paths)
        self.max_tokens = max_tokens
        self.fallback = fallback
        self.report = ParseReport()
        if verbalizer is None and template is not None:
            verbalizer = template.verbalizer()
        self._template = template
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

    def _ask(self, question: str, evidence: Evidence) -> _Asked | None:
        """What came of asking; None where there is no evidence to show."""
        listing, requests = self._prepare(question, evidence)
        if not requests:
            return None
        send = self.model.chat if self._template is None else self._tuned.complete
        outcome = ask(send, [request.arguments for request in requests])
        return _Asked(listing, requests[outcome.place].form, outcome)

    async def _aask(self, question: str, evidence: Evidence) -> _Asked | None:
        """`_ask` for callers inside an event loop."""
        listing, requests = self._prepare(question, evidence)
        if not requests:
            return None
        send = self.model.achat if self._template is None else self._tuned.acomplete
        outcome = await aask(send, [request.arguments for request in requests])
        return _Asked(listing, requests[outcome.place].form, outcome)

    @property
    def _tuned(self) -> TemplateModel:
        return cast(TemplateModel, self.model)

    def _prepare(self, question: str, evidence: Evidence) -> tuple[Listing, list[_Request]]:
        """What is shown of the evidence, and what to send; no requests where there is none.

        A request is sent only where the schema of the one before it is refused.
        """
        if self._template is not None:
            return self._in_template(self._template, question, evidence)
        listing = list_evidence(evidence, self._words, self.max_paths)
        return listing, self._requests(question, listing) if len(listing) else []

    def _in_template(
        self, template: ReaderTemplate, question: str, evidence: Evidence
    ) -> tuple[Listing, list[_Request]]:
        listing = Listing([], [], [], 0, "path")
        if template.paths:
            listing = list_evidence(evidence, self._words, self.max_paths, quoted=False)
            if not len(listing):
                return listing, []

        def fits(prompt: str) -> bool:
            return self._tuned.fits(prompt, self.max_tokens)

        # where not even the question fits, the model says so
        prompt, shown = template.shorten(question, listing.lines, fits) or (
            template.ask(question),
            0,
        )
        arguments: dict[str, Any] = {"prompt": prompt, "max_tokens": self.max_tokens}
        if self._contrasts and template.paths:
            arguments["without"] = template.ask_alone(question)
        return listing.first(shown), [_Request("template", arguments)]

    @property
    def _contrasts(self) -> bool:
        return bool(getattr(self.model, "contrast", 0.0))

    def _requests(self, question: str, listing: Listing) -> list[_Request]:
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
            if self._contrasts:
                nothing = Listing([], [], [], 0, listing.noun)
                arguments["without"] = reader_messages(question, nothing, self.variant, asked)
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
            reply = self._parse(result, form, grounding)
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
            shown = self._template is None or self._template.paths
            answer = Answer(
                ", ".join(found.names) or "No answer: the model finds none in the evidence.",
                found.entities if shown else found.names,
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

    def _parse(self, reply: Reply, form: str, grounding: Grounding) -> ReaderReply:
        if self._template is None:
            return parse_reply(reply.text, form, grounding.knows, cut=reply.cut)
        found = self._template.parse(reply.text, grounding.knows, cut=reply.cut)
        return replace(found, citations=grounding.numbers(found.answers))


def _answered(result: Result) -> Answer:
    """The answer; what stands in its place is raised."""
    if not isinstance(result, Answer):
        raise result
    return result


def _all_of(results: list[Result], errors: Errors) -> list[Answer] | list[Result]:
    return [_answered(result) for result in results] if errors == "raise" else results
