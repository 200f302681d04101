"""Training examples of a reader, as they stand in a file: one JSON object a line."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hyperhop.evidence import Evidence
from hyperhop.llm.template import ReaderTemplate

_STRINGS = ("question", "prompt", "completion")
_LISTS = ("context", "answers")


class ReaderExample(NamedTuple):
    """A question, its gold answers as the graph names them, and what a retriever found for it."""

    question: str
    answers: Sequence[str]
    evidence: Evidence


@dataclass(frozen=True)
class Record:
    """One line of the file.

    Attributes:
        question: as it was asked.
        context: the paths in words, best first; empty where the template shows none.
        answers: the gold answers in words.
        prompt, completion: the same in the template, for any other tool.
    """

    question: str
    context: list[str]
    answers: list[str]
    prompt: str
    completion: str


def template_file(path: str | os.PathLike[str]) -> Path:
    """Where the template of a file of examples stands: train.jsonl -> train.template.json."""
    return Path(path).with_suffix(".template.json")


def read_records(path: str | os.PathLike[str]) -> tuple[ReaderTemplate, Iterator[Record]]:
    """The template of a file that `write_examples` wrote, and its lines one after another.

    OSError without file or template; ValueError, with the line's number, for a line that is no
    record, and for one whose prompt or completion is not what the template makes of it.
    """
    template = ReaderTemplate.load(template_file(path))
    return template, _records(Path(path), template)


def _records(path: Path, template: ReaderTemplate) -> Iterator[Record]:
    with path.open(encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            record = _record(line, f"{path}, line {number}")
            made = template.ask(record.question, record.context), template.complete(record.answers)
            if made != (record.prompt, record.completion):
                raise ValueError(
                    f"{path}, line {number}: prompt or completion is not what the template in "
                    f"{template_file(path).name} makes of question, context and answers"
                )
            yield record


def _record(line: str, where: str) -> Record:
    try:
        values: Any = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"{where} is no JSON: {error}") from None
    keys = {*_STRINGS, *_LISTS}
    if not isinstance(values, dict) or set(values) != keys:
        raise ValueError(f"{where}: expected an object with the keys {', '.join(sorted(keys))}")
    texts = [values[key] for key in _STRINGS]
    for key in _LISTS:
        if not isinstance(values[key], list):
            raise ValueError(f"{where}: {key} must be a list of strings")
        texts += values[key]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{where}: question, prompt, completion and all items must be strings")
    return Record(**values)
