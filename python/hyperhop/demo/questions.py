"""The demo's questions, read from ``questions.json``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True)
class Question:
    """A question and the steps through the records that answer it."""

    question: str
    steps: tuple[str, ...]  # for hyperhop.demo.gold only: PathHD never sees them


def demo_questions() -> list[Question]:
    """Return the demo's questions in the order they are asked."""
    text = (resources.files(__package__) / "questions.json").read_text(encoding="utf-8")
    return [Question(item["question"], tuple(item["steps"])) for item in json.loads(text)]
