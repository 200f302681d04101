"""The demo's passages about the invented Tern Isles, their triples, and questions about them.

Everything in ``passages.jsonl`` was made up for this demo, so no answer can come from anywhere
else. The file is one that ``hyperhop index`` takes as it is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from hyperhop.help import Extraction, Passage, as_passages
from hyperhop.help.given import given_triples


@dataclass(frozen=True)
class PassageQuestion:
    """A question, its answer, and the ids of the passages that together hold it."""

    question: str
    answer: str
    passages: frozenset[str]


def demo_passages() -> tuple[Sequence[Passage], Extraction]:
    """Return the passages and the triples that they state."""
    with resources.as_file(resources.files(__package__) / "passages.jsonl") as path:
        rows = path.read_text(encoding="utf-8").splitlines()
        passages = as_passages(map(json.loads, rows))
        return passages, given_triples(path, passages).extraction


def passage_questions() -> list[PassageQuestion]:
    """Return the questions in the order they are asked; each takes two passages to answer."""
    text = (resources.files(__package__) / "passage_questions.json").read_text(encoding="utf-8")
    return [
        PassageQuestion(item["question"], item["answer"], frozenset(item["passages"]))
        for item in json.loads(text)
    ]
