"""Text: encoders behind one protocol, and the wording of relations and paths."""

from hyperhop._server import ServerError
from hyperhop.text import verbalize
from hyperhop.text.batches import encode_all, encode_queries
from hyperhop.text.cache import CachedEncoder
from hyperhop.text.hashing import HashingEncoder
from hyperhop.text.minilm import MiniLMEncoder
from hyperhop.text.openai import OpenAIEncoder
from hyperhop.text.protocol import TextEncoder
from hyperhop.text.registry import encoder_names, get_encoder
from hyperhop.text.sentence_transformer import SentenceTransformerEncoder
from hyperhop.text.settings import encoder_for, encoder_settings
from hyperhop.text.verbalize import Verbalizer
from hyperhop.text.wordllama import WordLlamaEncoder

__all__ = [
    "CachedEncoder",
    "HashingEncoder",
    "MiniLMEncoder",
    "OpenAIEncoder",
    "SentenceTransformerEncoder",
    "ServerError",
    "TextEncoder",
    "Verbalizer",
    "WordLlamaEncoder",
    "encode_all",
    "encode_queries",
    "encoder_for",
    "encoder_names",
    "encoder_settings",
    "get_encoder",
    "verbalize",
]
