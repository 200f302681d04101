"""Knowledge graphs: building, storing, linking names, and walking."""

from hyperhop.graph.errors import (
    DamagedStore,
    MalformedLine,
    UnknownEntity,
    UnknownName,
    UnknownRelation,
    UnknownTriple,
    UnreadableFile,
)
from hyperhop.graph.knowledge_graph import KnowledgeGraph
from hyperhop.graph.linker import EntityLinker, EntityMatch
from hyperhop.graph.path_set import PathSet
from hyperhop.graph.read import BuildReport

__all__ = [
    "BuildReport",
    "DamagedStore",
    "EntityLinker",
    "EntityMatch",
    "KnowledgeGraph",
    "MalformedLine",
    "PathSet",
    "UnknownEntity",
    "UnknownName",
    "UnknownRelation",
    "UnknownTriple",
    "UnreadableFile",
]
