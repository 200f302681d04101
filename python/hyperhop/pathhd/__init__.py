"""PathHD: relation paths as hypervectors, one reader call a question."""

from hyperhop.pathhd.calibration import Calibration, Frequencies
from hyperhop.pathhd.planners import (
    AssociativePlanner,
    ContextualPlanner,
    EmbeddingPlanner,
    Example,
    GoldPlanner,
    LexicalPlanner,
    MemoryPlanner,
    MixturePlanner,
    Planner,
    Plans,
    get_planner,
    planner_names,
)
from hyperhop.pathhd.query import encode_query
from hyperhop.pathhd.retriever import PathHD, TopicNotFound

__all__ = [
    "AssociativePlanner",
    "Calibration",
    "ContextualPlanner",
    "EmbeddingPlanner",
    "Example",
    "Frequencies",
    "GoldPlanner",
    "LexicalPlanner",
    "MemoryPlanner",
    "MixturePlanner",
    "PathHD",
    "Planner",
    "Plans",
    "TopicNotFound",
    "encode_query",
    "get_planner",
    "planner_names",
]
