"""Knowledge graphs: building, storing, linking names, and walking."""

from hyperhop.graph.errors import (
    DamagedStore,
    MalformedLine,
    UnknownEntity,
    UnknownName,
    UnknownRelation,
    UnreadableFile,
)
from hyperhop.graph.knowledge_graph import KnowledgeGraph
from hyperhop.graph.linker import EntityLinker, EntityMatch
from hyperhop.graph.path_set import PathSet
from hyperhop.graph.read import BuildReport
from hyperhop.graph.subgraph import Subgraph

__all__ = [
    "BuildReport",
    "DamagedStore",
    "EntityLinker",
    "EntityMatch",
    "KnowledgeGraph",
    "MalformedLine",
    "PathSet",
    "Subgraph",
    "UnknownEntity",
    "UnknownName",
    "UnknownRelation",
    "UnreadableFile",
]
