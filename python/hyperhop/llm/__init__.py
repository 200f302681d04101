"""Readers: they turn evidence into an answer, with a language model or without."""

from hyperhop.evidence import Reader
from hyperhop.llm.chat import ChatModel, LLMError, Message, Reply, SchemaRefused
from hyperhop.llm.reader import VectorReader
from hyperhop.llm.replies import ParseFailure, ParseReport

__all__ = [
    "ChatModel",
    "LLMError",
    "Message",
    "ParseFailure",
    "ParseReport",
    "Reader",
    "Reply",
    "SchemaRefused",
    "VectorReader",
]
