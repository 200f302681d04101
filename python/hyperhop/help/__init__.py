"""HELP: from passages of text to triples, HyperNodes and cited passages."""

from hyperhop.help.estimate import CostEstimate, estimate
from hyperhop.help.extract import aextract, extract
from hyperhop.help.extracted import ExtractedPassage, Extraction, ExtractionReport
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
    "RetrievalSettings",
    "Triple",
    "aextract",
    "as_passages",
    "estimate",
    "extract",
    "read_openie",
    "write_openie",
]
