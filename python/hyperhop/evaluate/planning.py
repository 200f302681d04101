"""Planners by name, those that learn from training questions included."""

import re
from collections.abc import Callable, Sequence

from hyperhop import llm
from hyperhop.evaluate.question import Question
from hyperhop.pathhd import (
    AssociativePlanner,
    Example,
    GoldPlanner,
    LinearPlanner,
    LLMPlanner,
    MemoryPlanner,
    MixturePlanner,
    Planner,
    get_planner,
    planner_names,
)
from hyperhop.text import TextEncoder

_LEARNERS: dict[str, Callable[[TextEncoder, list[Example]], Planner]] = {
    "memory": MemoryPlanner,
    "associative": AssociativePlanner,
    "linear": LinearPlanner,
}
_TERM = re.compile(r"(?:(\d+(?:\.\d+)?)\*)?([a-z]+)")


def make_planner(
    spec: str,
    symbols: Sequence[str],
    encoder: TextEncoder,
    train: Sequence[Question],
    asked: Sequence[Question],
) -> Planner:
    """The planner that `spec` names: one, or several as "embedding+2*memory".

    "memory" and "associative" remember `train`, "linear" is trained on it; "gold" is told the paths
    of `asked`. "llm" asks the language model that is configured (`open_chat`, with its errors) and
    lets "embedding" rank what that does not propose. ValueError for another spec, and where there
    is nothing to learn.
    """
    terms = [_TERM.fullmatch(term.strip()) for term in spec.split("+")]
    known = [*planner_names(), *_LEARNERS, "gold", "llm"]
    if not all(term and term[2] in known for term in terms):
        raise ValueError(
            f"evaluate: planner must be one of {', '.join(known)}, or several such as "
            f"embedding+2*memory, got {spec!r}"
        )
    parts = []
    for term in filter(None, terms):
        weight, name = float(term[1] or 1), term[2]
        if name in _LEARNERS:
            if not any(question.paths for question in train):
                raise ValueError(
                    f"evaluate: the planner {name} needs training questions with gold paths, "
                    "of which this benchmark has none"
                )
            planner = _LEARNERS[name](encoder, examples(train))
        elif name == "gold":
            planner = GoldPlanner(examples(asked))
        elif name == "llm":
            planner = LLMPlanner(llm.open_chat(), get_planner("embedding", symbols, encoder))
        else:
            planner = get_planner(name, symbols, encoder)
        parts.append((planner, weight))
    return parts[0][0] if len(parts) == 1 else MixturePlanner(parts)


def examples(questions: Sequence[Question]) -> list[Example]:
    """Questions as a memory takes them, one example for each gold path."""
    return [Example(q.text, q.mention, path) for q in questions for path in sorted(q.paths)]
