"""Passages into a directory that HELP asks."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from hyperhop.cli.index.extraction import Asking, extracted
from hyperhop.cli.report import busy, say
from hyperhop.cli.vectors import forget, kept
from hyperhop.graph import store as stores
from hyperhop.graph.read.open import suffixes
from hyperhop.help import Extraction, Passage, build_index, read_openie, read_passages, store
from hyperhop.help.given import given_triples
from hyperhop.text import encoder_settings
from hyperhop.text.settings import open_encoder


@dataclass(frozen=True)
class Documents:
    """How passages are read, where their triples come from, and how they are encoded.

    With `asking` a language model extracts the triples; without, and without `no_triples`, they
    are read from `given` or from the input itself.
    """

    encoder: str | None
    given: Path | None
    asking: Asking | None
    no_triples: bool
    chunk: int | None
    overlap: int | None
    synonyms: float | None
    storage: str
    skip_bad: bool
