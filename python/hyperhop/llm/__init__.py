"""Readers and language models: what turns evidence into an answer, with a model or without."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hyperhop.evidence import Reader
from hyperhop.llm.chat import ChatModel, LLMError, Message, Reply, SchemaRefused
from hyperhop.llm.reader import VectorReader
from hyperhop.llm.replies import ParseFailure, ParseReport

if TYPE_CHECKING:
    from hyperhop.llm.batch import achat_batch, chat_batch
    from hyperhop.llm.client import ChatClient
    from hyperhop.llm.config import open_chat
    from hyperhop.llm.function import CallableModel
    from hyperhop.llm.llm_reader import LLMReader
    from hyperhop.llm.local import LocalModel
    from hyperhop.llm.pretrained import TransformersModel
    from hyperhop.llm.template import ReaderTemplate
    from hyperhop.llm.usage import Usage

__all__ = [
    "CallableModel",
    "ChatClient",
    "ChatModel",
    "LLMError",
    "LLMReader",
    "LocalModel",
    "Message",
    "ParseFailure",
    "ParseReport",
    "Reader",
    "ReaderTemplate",
    "Reply",
    "SchemaRefused",
    "TransformersModel",
    "Usage",
    "VectorReader",
    "achat_batch",
    "chat_batch",
    "open_chat",
]

# Imported when first named: the vector reader waits for no HTTP and no event loop.
_HOME = {
    "CallableModel": "function",
    "ChatClient": "client",
    "LLMReader": "llm_reader",
    "LocalModel": "local",
    "ReaderTemplate": "template",
    "TransformersModel": "pretrained",
    "Usage": "usage",
    "achat_batch": "batch",
    "chat_batch": "batch",
    "open_chat": "config",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'hyperhop.llm' has no attribute {name!r}")
    value = getattr(import_module(f"hyperhop.llm.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
