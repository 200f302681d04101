"""Retrieve, then read: one question or many, with or without an event loop."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar, ParamSpec, TypeVar

from hyperhop.evidence import Answer, Evidence, Reader
from hyperhop.retrieval.batch import Progress
from hyperhop.retrieval.topics import Topic, Topics, questions_of

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Answering(ABC):
    """What a retriever with a reader can do; `system` is what its messages call it."""

    system: ClassVar[str]
    reader: Reader

    @abstractmethod
    def retrieve(
        self,
        question: str,
        topic: Topic = None,
        *,
        explain: bool = False,
        threads: int | None = None,
    ) -> Evidence:
        """Evidence for one question."""

    @abstractmethod
    def _each(
        self,
        questions: Sequence[str],
        topics: Topics | None,
        finish: Callable[[str, Evidence], Result],
        threads: int | None,
        progress: Progress | None,
    ) -> list[Result]:
        """`finish` of each question and its evidence, in the thread that retrieved it."""

    def retrieve_batch(
        self,
        questions: Sequence[str],
        topics: Topics | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Evidence]:
        """`retrieve` of each question: the same bits, over threads, equal topics walked once.

        `progress` is told (questions done, of) every few dozen. Interrupts and errors are raised at
        once. ValueError unless topics are as many as questions.

        (What asks an encoder is as exact as that, whose rows may depend on what else was encoded in
        the same call: see TextEncoder.)
        """
        listed = questions_of(self.system, questions)
        return self._each(listed, topics, lambda _, evidence: evidence, threads, progress)

    def answer(self, question: str, topic: Topic = None, *, threads: int | None = None) -> Answer:
        """The reader's answer to the evidence retrieved; timings of both."""
        return self._read(question, self.retrieve(question, topic, threads=threads))

    def answer_batch(
        self,
        questions: Sequence[str],
        topics: Topics | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Answer]:
        """`answer` of each question: the same bits. See `retrieve_batch`.

        A reader's `read_batch` reads all evidence after it was retrieved, which is what `progress`
        then tells of; without one each question is read where it was retrieved.

        What the reader raises, for whichever question, is raised and no answer returned. To keep
        the others hand it the evidence of `retrieve_batch` yourself: see `LLMReader.read_batch`.
        """
        questions = questions_of(self.system, questions)
        if getattr(self.reader, "read_batch", None) is None:
            return self._each(questions, topics, self._read, threads, progress)
        evidence = self.retrieve_batch(questions, topics, threads=threads, progress=progress)
        answers = self._read_batch(questions, evidence)
        return [with_retrieval(answer, one) for answer, one in zip(answers, evidence, strict=True)]

    async def aanswer(
        self, question: str, topic: Topic = None, *, threads: int | None = None
    ) -> Answer:
        """`answer` for callers inside an event loop: retrieves in a thread, awaits the reader.

        A reader without `aread` reads in a thread too.
        """
        evidence = await _in_thread(self.retrieve, question, topic, threads=threads)
        aread = getattr(self.reader, "aread", None)
        answer = (
            await aread(question, evidence)
            if aread is not None
            else await _in_thread(self.reader.read, question, evidence)
        )
        return with_retrieval(answer, evidence)

    async def aanswer_batch(
        self,
        questions: Sequence[str],
        topics: Topics | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Answer]:
        """`answer_batch` for callers inside an event loop, as `aanswer`.

        `progress` is called in another thread.
        """
        questions = questions_of(self.system, questions)
        evidence = await _in_thread(
            self.retrieve_batch, questions, topics, threads=threads, progress=progress
        )
        aread_batch = getattr(self.reader, "aread_batch", None)
        answers = (
            await aread_batch(questions, evidence)
            if aread_batch is not None
            else await _in_thread(self._read_batch, questions, evidence)
        )
        return [with_retrieval(answer, one) for answer, one in zip(answers, evidence, strict=True)]

    def _read(self, question: str, evidence: Evidence) -> Answer:
        return with_retrieval(self.reader.read(question, evidence), evidence)

    def _read_batch(self, questions: Sequence[str], evidence: list[Evidence]) -> list[Answer]:
        read_batch = getattr(self.reader, "read_batch", None)
        if read_batch is None:
            return [self.reader.read(q, e) for q, e in zip(questions, evidence, strict=True)]
        answers: list[Answer] = read_batch(questions, evidence)
        return answers


def with_retrieval(answer: Answer, evidence: Evidence) -> Answer:
    """The answer with the times and the calls of both."""
    calls = evidence.planner_calls
    return replace(
        answer,
        timings={**evidence.timings, **answer.timings},
        llm_calls=answer.llm_calls + sum(call.llm_calls for call in calls),
        llm_attempts=answer.llm_attempts + sum(call.llm_attempts for call in calls),
        prompt_tokens=answer.prompt_tokens + sum(call.prompt_tokens for call in calls),
        completion_tokens=answer.completion_tokens + sum(call.completion_tokens for call in calls),
    )


async def _in_thread(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    import asyncio  # whoever awaits has it; nobody else waits for it

    return await asyncio.to_thread(function, *args, **kwargs)
