"""Planners: they choose, among the relation sequences that exist, those a question asks for."""

from collections.abc import Callable, Sequence

from hyperhop.pathhd.planners.associative import AssociativePlanner
from hyperhop.pathhd.planners.contextual import ContextualPlanner
from hyperhop.pathhd.planners.embedding import EmbeddingPlanner
from hyperhop.pathhd.planners.examples import Example
from hyperhop.pathhd.planners.gold import GoldPlanner
from hyperhop.pathhd.planners.lexical import LexicalPlanner
from hyperhop.pathhd.planners.linear import LinearPlanner
from hyperhop.pathhd.planners.llm import LLMPlanner
from hyperhop.pathhd.planners.memory import MemoryPlanner
from hyperhop.pathhd.planners.mixture import MixturePlanner
from hyperhop.pathhd.planners.protocol import Planner, Plans, plan_all, ranked
from hyperhop.text.protocol import TextEncoder

__all__ = [
    "AssociativePlanner",
    "ContextualPlanner",
    "EmbeddingPlanner",
    "Example",
    "GoldPlanner",
    "LLMPlanner",
    "LexicalPlanner",
    "LinearPlanner",
    "MemoryPlanner",
    "MixturePlanner",
    "Planner",
    "Plans",
    "get_planner",
    "needs_encoder",
    "plan_all",
    "planner_names",
    "ranked",
]

_LEXICAL: dict[str, Callable[[Sequence[str]], Planner]] = {"lexical": LexicalPlanner}
_EMBEDDING: dict[str, Callable[[Sequence[str], TextEncoder], Planner]] = {
    "embedding": EmbeddingPlanner,
    "contextual": ContextualPlanner,
}


def planner_names() -> list[str]:
    """Names `get_planner` accepts."""
    return [*_LEXICAL, *_EMBEDDING]


def needs_encoder(name: str) -> bool:
    """Whether the planner of this name asks an encoder. ValueError if there is none."""
    if name not in planner_names():
        raise ValueError(f"get_planner: expected one of {', '.join(planner_names())}, got {name!r}")
    return name in _EMBEDDING


def get_planner(name: str, symbols: Sequence[str], encoder: TextEncoder | None = None) -> Planner:
    """The planner of this name over a graph's symbols; "lexical" needs no encoder.

    ValueError if there is none of this name, and without an encoder where it needs one.
    """
    if not needs_encoder(name):
        return _LEXICAL[name](symbols)
    if encoder is None:
        raise ValueError(f"get_planner: the planner {name!r} needs an encoder, got None")
    return _EMBEDDING[name](symbols, encoder)
