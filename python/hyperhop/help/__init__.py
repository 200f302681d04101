"""HELP: from passages of text to their triples, an index of both, and cited passages."""

from hyperhop.help.build import build_index
from hyperhop.help.change import add, remove, update
from hyperhop.help.corpus import read_passages
from hyperhop.help.estimate import CostEstimate, estimate
from hyperhop.help.extract import aextract, extract
from hyperhop.help.extracted import ExtractedPassage, Extraction, ExtractionReport
from hyperhop.help.index import PassageIndex, Sources
from hyperhop.help.keys import name_key
from hyperhop.help.openie import read_openie, write_openie
from hyperhop.help.passages import Passage, as_passages
from hyperhop.help.retriever import HELP
from hyperhop.help.settings import RetrievalSettings
from hyperhop.help.triples import Triple

__all__ = [
    "HELP",
    "CostEstimate",
    "ExtractedPassage",
    "Extraction",
    "ExtractionReport",
    "Passage",
    "PassageIndex",
    "RetrievalSettings",
    "Sources",
    "Triple",
    "add",
    "aextract",
    "as_passages",
    "build_index",
    "estimate",
    "extract",
    "name_key",
    "read_openie",
    "read_passages",
    "remove",
    "update",
    "write_openie",
]
