"""Writing what a retriever finds for training questions, for any tool that trains on JSON Lines."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from hyperhop.evidence import Evidence, Retriever
from hyperhop.graph.export import replaced
from hyperhop.llm.listing import list_evidence
from hyperhop.llm.template import ReaderTemplate
from hyperhop.rsf.stage2.examples import ReaderExample, Record, template_file
from hyperhop.text.verbalize import Verbalizer

Topic = str | Sequence[str] | None


@dataclass(frozen=True)
class Exported:
    """What was written, and what was not.

    Attributes:
        examples: lines of the file.
        paths: paths in them.
        unshown: paths that were found beyond the template's `max_paths`.
        without_evidence: questions left out because nothing was found: a reader is not asked then.
        without_answers: questions left out because they have no gold answer.
        answer_shown: examples with a gold answer among the ends of their paths.
    """

    examples: int = 0
    paths: int = 0
    unshown: int = 0
    without_evidence: int = 0
    without_answers: int = 0
    answer_shown: int = 0


def write_examples(
    path: str | os.PathLike[str],
    examples: Iterable[ReaderExample],
    template: ReaderTemplate | None = None,
    *,
    verbalizer: Verbalizer | None = None,
    progress: Callable[[int], object] | None = None,
) -> Exported:
    """Write question, context and answers of each example, and beside them the template.

    One line is in memory at a time. The file appears under its name when it is whole; UTF-8.

    Args:
        path: the file, usually .jsonl; the template goes to `template_file(path)`.
        template: `ReaderTemplate()` if None; one whose `paths` is False writes questions alone, and
            also those without evidence.
        verbalizer: the wording, which goes into the template: all but labels and `is_mediator`,
            which a reader must be given again. None takes the template's.
        progress: told (examples looked at).
    """
    template = ReaderTemplate() if template is None else template
    if verbalizer is None:
        words = template.verbalizer()
    else:
        words, template = verbalizer, template.worded_like(verbalizer)
    counted = _Counts()
    with replaced(os.fspath(path)) as file:
        for done, example in enumerate(examples, start=1):
            record = _record(example, template, words, counted)
            if record is not None:
                line = json.dumps(asdict(record), ensure_ascii=False)
                # half a pair of surrogates becomes its escape in JSON
                file.write(f"{line}\n".encode("utf-8", "backslashreplace"))
            if progress is not None:
                progress(done)
        template.save(template_file(path))
    return Exported(**vars(counted))


def evidence_for(
    retriever: Retriever, questions: Iterable[tuple[str, Topic, Sequence[str]]]
) -> Iterator[ReaderExample]:
    """Ask a retriever each (question, topic, answers), one after another.

    The topic is a name, None, or several names where the retriever takes that. A question that
    the retriever knows no topic for (LookupError) has no evidence.
    """
    retrieve: Callable[..., Evidence] = retriever.retrieve
    for question, topic, answers in questions:
        try:
            found = retrieve(question, topic)
        except LookupError as error:
            if isinstance(error, KeyError | IndexError):
                raise  # a fault of the retriever's
            found = Evidence()
        yield ReaderExample(question, answers, found)


class _Counts:
    def __init__(self) -> None:
        self.examples = self.paths = self.unshown = 0
        self.without_evidence = self.without_answers = self.answer_shown = 0


def _record(
    example: ReaderExample, template: ReaderTemplate, words: Verbalizer, counted: _Counts
) -> Record | None:
    """The line of an example, None for one that is left out; either is counted."""
    answers = list(dict.fromkeys(map(words.entity, example.answers)))
    if not answers:
        counted.without_answers += 1
        return None
    lines: list[str] = []
    if template.paths:
        listing = list_evidence(example.evidence, words, template.max_paths, quoted=False)
        if not len(listing):
            counted.without_evidence += 1
            return None
        lines = listing.lines
        counted.paths += len(lines)
        counted.unshown += listing.unread
        counted.answer_shown += not set(answers).isdisjoint(listing.ends)
    counted.examples += 1
    return Record(
        example.question,
        lines,
        answers,
        template.ask(example.question, lines),
        template.complete(answers),
    )
