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
from hyperhop.graph.sequences import Sequences

__all__ = [
    "BuildReport",
    "DamagedStore",
    "EntityLinker",
    "EntityMatch",
    "KnowledgeGraph",
    "MalformedLine",
    "PathSet",
    "Sequences",
    "UnknownEntity",
    "UnknownName",
    "UnknownRelation",
    "UnknownTriple",
    "UnreadableFile",
]
