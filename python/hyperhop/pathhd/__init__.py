"""PathHD: relation paths as hypervectors, one reader call a question."""

from hyperhop.pathhd.calibration import Calibration, Frequencies
from hyperhop.pathhd.codebooks import TextQuery
from hyperhop.pathhd.planners import (
    AssociativePlanner,
    ContextualPlanner,
    EmbeddingPlanner,
    Example,
    GoldPlanner,
    LexicalPlanner,
    LinearPlanner,
    LLMPlanner,
    MemoryPlanner,
    MixturePlanner,
    Planner,
    Plans,
    get_planner,
    planner_names,
)
from hyperhop.pathhd.query import encode_query
from hyperhop.pathhd.retriever import PathHD
from hyperhop.retrieval.topics import TopicNotFound

__all__ = [
    "AssociativePlanner",
    "Calibration",
    "ContextualPlanner",
    "EmbeddingPlanner",
    "Example",
    "Frequencies",
    "GoldPlanner",
    "LLMPlanner",
    "LexicalPlanner",
    "LinearPlanner",
    "MemoryPlanner",
    "MixturePlanner",
    "PathHD",
    "Planner",
    "Plans",
    "TextQuery",
    "TopicNotFound",
    "encode_query",
    "get_planner",
    "planner_names",
]
