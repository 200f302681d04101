"""Encoders by name: one line of text says which."""

import os
from pathlib import Path

from hyperhop._server import normalize_url
from hyperhop.text.bert.folder import unsupported
from hyperhop.text.hashing import HashingEncoder
from hyperhop.text.minilm import MiniLMEncoder
from hyperhop.text.openai import OpenAIEncoder
from hyperhop.text.protocol import TextEncoder
from hyperhop.text.sentence_transformer import SentenceTransformerEncoder
from hyperhop.text.wordllama import WordLlamaEncoder

_NAMES = ("hashing", "wordllama", "minilm")
_KINDS = ("hashing", "minilm", "sentence-transformers")  # those that take something after ":"


def encoder_names() -> list[str]:
    """Names that stand for an encoder by themselves."""
    return list(_NAMES)


def get_encoder(spec: str, *, query_prompt: str | None = None) -> TextEncoder:
    """The encoder that `spec` names; the `name` of every encoder of ours is such a spec.

    hashing, hashing:DIM     words and pieces of words, needs nothing
    wordllama                a static table of token vectors (extra text)
    minilm, minilm:FOLDER    a BERT-style model without torch (extra minilm)
    sentence-transformers:X  X is a folder or a name on the hub (extra sentence-transformers)
    FOLDER                   minilm:FOLDER if its files are those of a model that MiniLMEncoder
                             runs, else sentence-transformers:FOLDER; what is installed plays no
                             part in it
    URL, URL#MODEL           a server with an OpenAI-compatible /embeddings (extra llm); without
                             #MODEL its only model

    `query_prompt` is put before questions (see TextEncoder); None leaves it to the encoder.
    ValueError for another spec, ImportError without the extra, ServerError from a server.
    """
    if not isinstance(spec, str):
        raise TypeError(f"get_encoder: spec must be a string, got {type(spec).__name__}")
    if spec.startswith(("http://", "https://")):
        url, _, model = spec.partition("#")
        return OpenAIEncoder(url, model or None, query_prompt=query_prompt or "")
    kind, given = _parsed(spec)
    if kind == "minilm":
        return MiniLMEncoder(given or None, query_prompt=query_prompt or "")
    if kind == "sentence-transformers":
        return SentenceTransformerEncoder(given, query_prompt=query_prompt)
    if query_prompt:
        raise ValueError(f"get_encoder: {kind} takes no query_prompt, got {query_prompt!r}")
    if kind == "wordllama":
        return WordLlamaEncoder()
    return _hashing(given)


def encoder_name(spec: str) -> str:
    """Name of the encoder that `get_encoder(spec)` makes, without making it.

    Of a server without #MODEL the address alone, since it would have to be asked. ValueError for
    what is no spec.
    """
    if spec.startswith(("http://", "https://")):
        url, _, model = spec.partition("#")
        return normalize_url(url) + (f"#{model}" if model else "")
    kind, given = _parsed(spec)
    if kind == "hashing":
        return _hashing(given).name
    if (kind == "minilm" and given) or os.path.isdir(given):
        given = os.path.realpath(given)
    return f"{kind}:{given}" if given else kind


def _hashing(dim: str) -> HashingEncoder:
    return HashingEncoder(int(dim)) if dim else HashingEncoder()


def _parsed(spec: str) -> tuple[str, str]:
    """Kind of encoder and what follows the colon. ValueError for neither a name nor a folder."""
    if spec in _NAMES:
        return spec, ""
    kind, _, given = spec.partition(":")
    if kind in _KINDS and given and (kind != "hashing" or _is_number(given)):
        return kind, given
    if os.path.isdir(spec):
        return ("sentence-transformers" if unsupported(Path(spec)) else "minilm"), spec
    raise ValueError(
        f"get_encoder: expected {', '.join(_NAMES)}, hashing:DIM, minilm:FOLDER, "
        f"sentence-transformers:NAME, a folder or a URL, got {spec!r}"
    )


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < 4300  # int() refuses more digits
