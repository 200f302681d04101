"""Planners: they choose, among the relation sequences that exist, those a question asks for."""

from collections.abc import Callable, Sequence

from hyperhop.pathhd.planners.associative import AssociativePlanner
from hyperhop.pathhd.planners.embedding import EmbeddingPlanner
from hyperhop.pathhd.planners.examples import Example
from hyperhop.pathhd.planners.lexical import LexicalPlanner
from hyperhop.pathhd.planners.memory import MemoryPlanner
from hyperhop.pathhd.planners.mixture import MixturePlanner
from hyperhop.pathhd.planners.protocol import Planner, Plans, ranked
from hyperhop.text.protocol import TextEncoder

__all__ = [
    "AssociativePlanner",
    "EmbeddingPlanner",
    "Example",
    "LexicalPlanner",
    "MemoryPlanner",
    "MixturePlanner",
    "Planner",
    "Plans",
    "get_planner",
    "planner_names",
    "ranked",
]

_PLANNERS: dict[str, Callable[[Sequence[str], TextEncoder], Planner]] = {
    "lexical": lambda symbols, encoder: LexicalPlanner(symbols),
    "embedding": EmbeddingPlanner,
}


def planner_names() -> list[str]:
    """Names `get_planner` accepts."""
    return list(_PLANNERS)


def get_planner(name: str, symbols: Sequence[str], encoder: TextEncoder) -> Planner:
    """The planner of this name over a graph's symbols. ValueError if there is none."""
    if name not in _PLANNERS:
        raise ValueError(f"get_planner: expected one of {', '.join(_PLANNERS)}, got {name!r}")
    return _PLANNERS[name](symbols, encoder)
