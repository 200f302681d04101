"""Knowledge graphs: building, storing, linking names, and walking."""

from hyperhop.graph.errors import (
    DamagedStore,
    MalformedLine,
    SchemaTooLarge,
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
from hyperhop.graph.schema import RelationSchema
from hyperhop.graph.sequences import Sequences
from hyperhop.graph.stats import GraphStatistics
from hyperhop.graph.subgraph import Subgraph

__all__ = [
    "BuildReport",
    "DamagedStore",
    "EntityLinker",
    "EntityMatch",
    "GraphStatistics",
    "KnowledgeGraph",
    "MalformedLine",
    "PathSet",
    "RelationSchema",
    "SchemaTooLarge",
    "Sequences",
    "Subgraph",
    "UnknownEntity",
    "UnknownName",
    "UnknownRelation",
    "UnknownTriple",
    "UnreadableFile",
]
