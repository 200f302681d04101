"""Text: encoders behind one protocol, and the wording of relations and paths."""

from collections.abc import Callable

from hyperhop.text import verbalize
from hyperhop.text.hashing import HashingEncoder
from hyperhop.text.protocol import TextEncoder
from hyperhop.text.verbalize import Verbalizer
from hyperhop.text.wordllama import WordLlamaEncoder

__all__ = [
    "HashingEncoder",
    "TextEncoder",
    "Verbalizer",
    "WordLlamaEncoder",
    "encoder_names",
    "get_encoder",
    "verbalize",
]

_ENCODERS: dict[str, Callable[[], TextEncoder]] = {
    "hashing": HashingEncoder,
    "wordllama": WordLlamaEncoder,
}


def encoder_names() -> list[str]:
    """Names `get_encoder` accepts."""
    return list(_ENCODERS)


def get_encoder(name: str) -> TextEncoder:
    """The encoder of this name; ValueError if there is none, ImportError without its extra."""
    if name not in _ENCODERS:
        raise ValueError(f"get_encoder: expected one of {', '.join(_ENCODERS)}, got {name!r}")
    return _ENCODERS[name]()
