"""Vectors that the command line keeps between its runs, in the user's cache directory."""

from __future__ import annotations

import os
import shutil
from hashlib import blake2b
from pathlib import Path

from hyperhop.cli.report import say
from hyperhop.text import CachedEncoder, TextEncoder
from hyperhop.text.settings import EncoderSettings, encoder_id

SLOW = ("minilm", "sentence-transformers:", "http://", "https://")


def kept(encoder: TextEncoder) -> TextEncoder:
    """The encoder behind a cache if it is slow to ask; by itself, and saying so, if none works."""
    if not encoder.name.startswith(SLOW):
        return encoder
    try:
        return CachedEncoder(encoder, _folder(encoder.name, encoder_id(encoder)))
    except (OSError, ValueError) as error:
        say(f"vectors are not kept: {error}")
        return encoder


def forget(settings: EncoderSettings) -> None:
    """Drop what is kept of an encoder that is known by name only: its model may have changed."""
    if not settings["encoder"].startswith(SLOW) or "encoder_id" in settings:
        return
    folder = _folder(settings["encoder"], None)
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        pass
    except OSError as error:
        say(f"old vectors may be left in {folder}: {error.strerror or error}")


def _folder(name: str, content: str | None) -> Path:
    """A folder for each model; one whose files are known gets another when they change."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if os.path.isabs(base) else Path("~/.cache").expanduser()
    label = blake2b(f"{content or ''} {name}".encode(), digest_size=10).hexdigest()
    return root / "hyperhop" / "embeddings" / label
