"""From passages of text to the triples that a graph is built of."""

from hyperhop.help.estimate import CostEstimate, estimate
from hyperhop.help.extract import aextract, extract
from hyperhop.help.extracted import ExtractedPassage, Extraction, ExtractionReport
from hyperhop.help.openie import read_openie, write_openie
from hyperhop.help.passages import Passage, as_passages
from hyperhop.help.triples import Triple

__all__ = [
    "CostEstimate",
    "ExtractedPassage",
    "Extraction",
    "ExtractionReport",
    "Passage",
    "Triple",
    "aextract",
    "as_passages",
    "estimate",
    "extract",
    "read_openie",
    "write_openie",
]
