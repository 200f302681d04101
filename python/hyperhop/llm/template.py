"""The text form that a reader is fine-tuned on, stored beside it (RSF-GLLM, section 2.5)."""

import json
import os
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable

from hyperhop.llm.answers import ReaderReply
from hyperhop.llm.chat import Reply
from hyperhop.llm.replies import ParseFailure
from hyperhop.text.verbalize import Mediators, Template, Verbalizer

FILE = "hyperhop_reader.json"
_VERSION = 1
_SLOTS = {
    "prompt": ("{context}", "{question}"),
    "question_only": ("{question}",),
    "answer": ("{answers}",),
}


@dataclass(frozen=True)
class ReaderTemplate:
    """How question, paths and answers become a prompt and its completion.

    Names stand in it as the verbalizer words them, unquoted: a tokenizer must read the prompt as
    plain text, never as control tokens.

    Attributes:
        prompt: of paths and a question; `question_only` of the question alone.
        answer: the completion.
        between_paths, between_answers: what stands between two of them.
        paths: whether paths are shown; without, the prompt is `question_only` (RSF-GLLM, table 4).
        max_paths: most paths to show, see `list_evidence`.
        max_tokens: of prompt and completion together when the reader was trained; None before.
        mediators, context, steps: the wording of paths, see `Verbalizer`.

    ValueError where a text lacks a slot it needs or has another, and for a number below 1.
    """

    prompt: str = "Context: [{context}] Question: {question}\n"
    question_only: str = "Question: {question}\n"
    answer: str = "Answer: {answers}"
    between_paths: str = "; "
    between_answers: str = "; "
    paths: bool = True
    max_paths: int = 32
    max_tokens: int | None = None
    mediators: Mediators = "keep"
    context: bool = True
    steps: Template = field(default_factory=Template)

    def __post_init__(self) -> None:
        for name, slots in _SLOTS.items():
            text = getattr(self, name)
            rest = text
            for slot in slots:
                rest = rest.replace(slot, "", 1)
            if len(text) - len(rest) != sum(map(len, slots)) or "{" in rest or "}" in rest:
                wanted = " and ".join(slots)
                raise ValueError(f"ReaderTemplate: {name} must hold {wanted} once, got {text!r}")
        for name in ("between_paths", "between_answers"):
            if not getattr(self, name):
                raise ValueError(f"ReaderTemplate: {name} must not be empty")
        for name in ("max_paths", "max_tokens"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise ValueError(f"ReaderTemplate: {name} must be 1 or more, got {number}")

    def ask(self, question: str, lines: Sequence[str] = ()) -> str:
        """The prompt; `lines` are the paths in words, which a template without paths leaves out."""
        if not self.paths:
            return self.ask_alone(question)
        return self.prompt.format(context=self.between_paths.join(lines), question=question)

    def ask_alone(self, question: str) -> str:
        """The prompt of the question alone."""
        return self.question_only.format(question=question)

    def complete(self, answers: Sequence[str]) -> str:
        """The completion that names these answers."""
        return self.answer.format(answers=self.between_answers.join(answers))

    def shorten(
        self, question: str, lines: Sequence[str], fits: Callable[[str], bool]
    ) -> tuple[str, int] | None:
        """The prompt with as many of the first lines as fit, and how many these are.

        None if not even the question fits without any. O(log lines) calls of `fits`.
        """
        count = len(lines) if self.paths else 0
        if fits(whole := self.ask(question, lines)):
            return whole, count
        shown = bisect_left(
            range(count), True, key=lambda size: not fits(self.ask(question, lines[:size]))
        )
        if shown == 0:  # the first size that does not fit: that of no line
            return None
        return self.ask(question, lines[: shown - 1]), shown - 1

    def parse(self, text: str, known: Callable[[str], bool], *, cut: bool = False) -> ReaderReply:
        """The answers that a completion names; it holds no citations and no rationale.

        A name that holds `between_answers` itself is one answer where `known` says so. A `cut`
        reply's last name may be incomplete and is left out. `repaired` says that the reply had
        another form. ParseFailure where it names no answer.
        """
        head, tail = self.answer.split("{answers}")
        exact = text.startswith(head) and text.endswith(tail) and not cut
        body = text.removeprefix(head).removesuffix(tail)
        pieces = (body if exact else body.strip()).split(self.between_answers)
        if cut:
            pieces.pop()
        names = [name for name in self._joined(pieces, known) if name.strip()]
        if not names:
            why = "ends before its first answer does" if cut else "names no answer"
            raise ParseFailure(f"the reply {why}", text)
        return ReaderReply(names, [], "", not exact)

    def _joined(self, pieces: Sequence[str], known: Callable[[str], bool]) -> list[str]:
        """Pieces as names, each the longest known one that begins there."""
        names = []
        at = 0
        while at < len(pieces):
            ends = range(len(pieces), at + 1, -1)
            joined = ((self.between_answers.join(pieces[at:end]), end) for end in ends)
            name, at = next(((n, e) for n, e in joined if known(n)), (pieces[at], at + 1))
            names.append(name)
        return names

    def worded_like(self, words: Verbalizer) -> Self:
        """The same template with the wording of a verbalizer, its labels and mediators aside."""
        return replace(self, mediators=words.mediators, context=words.context, steps=words.template)

    def verbalizer(
        self,
        labels: Mapping[str, str] | None = None,
        relation_labels: Mapping[str, str] | None = None,
    ) -> Verbalizer:
        """A verbalizer with this wording."""
        return Verbalizer(
            labels or {},
            relation_labels or {},
            mediators=self.mediators,
            context=self.context,
            template=self.steps,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a JSON file."""
        values = {"version": _VERSION, **asdict(self)}
        text = json.dumps(values, indent=1, ensure_ascii=False)
        Path(path).write_text(f"{text}\n", encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """What `save` wrote; OSError without the file, ValueError for any other content."""
        try:
            return cls._from_dict(json.loads(Path(path).read_text(encoding="utf-8")))
        except (ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"{os.fspath(path)} holds no reader template: {error}") from None

    @classmethod
    def _from_dict(cls, values: Any) -> Self:
        if not isinstance(values, dict) or values.pop("version", None) != _VERSION:
            raise ValueError(f"expected a JSON object of version {_VERSION}")
        names = {one.name for one in fields(cls)}
        if set(values) != names:
            raise ValueError(f"expected the keys version, {', '.join(sorted(names))}")
        return cls(**{**values, "steps": Template(**values["steps"])})


@runtime_checkable
class TemplateModel(Protocol):
    """A model that may have been fine-tuned on a template, and is then asked by it."""

    @property
    def template(self) -> ReaderTemplate | None:
        """None where it was not."""
        ...

    def fits(self, prompt: str, max_tokens: int | None = None) -> bool:
        """Whether there is room for this prompt and a reply."""
        ...

    def complete(
        self, prompt: str, *, without: str | None = None, max_tokens: int | None = None
    ) -> Reply:
        """What follows the prompt; `without` is the prompt without its evidence."""
        ...

    async def acomplete(
        self, prompt: str, *, without: str | None = None, max_tokens: int | None = None
    ) -> Reply:
        """`complete` for callers inside an event loop."""
        ...
