"""Readers: they turn evidence into an answer, with a language model or without."""

from hyperhop.evidence import Reader
from hyperhop.llm.reader import VectorReader

__all__ = ["Reader", "VectorReader"]
