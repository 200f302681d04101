"""WordLlama: a static table of token embeddings that comes inside its wheel (extra `text`)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._extras import optional
from hyperhop.text.batches import as_texts


class WordLlamaEncoder:
    """Mean of static token vectors, 256 wide, offline; knows synonyms, not word order."""

    def __init__(self) -> None:
        """ImportError if the extra `text` is not installed."""
        wordllama = optional("wordllama", "WordLlama", "text")
        # the wheel keeps its files where load() does not look by default
        folder = Path(wordllama.__file__).parent
        model: Any = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
        self._table: npt.NDArray[np.float32] = model.embedding
        self._tokenize = model.tokenize

    @property
    def name(self) -> str:
        """The name `get_encoder` accepts."""
        return "wordllama"

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self._table.shape[1])

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Float32 (len(texts), dim), rows of unit length; an empty text is a zero row."""
        states, offsets = self.encode_tokens(texts)
        rows = np.zeros((len(texts), self.dim), np.float32)
        # one text at a time: the bits of a row do not depend on the batch it came in
        for row, start, end in zip(rows, offsets[:-1], offsets[1:], strict=True):
            total = states[start:end].sum(axis=0)
            norm = np.sqrt(np.square(total).sum())
            if norm > 0:
                row[:] = total / norm
        return rows

    def encode_tokens(
        self, texts: Sequence[str]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        """Token states, float32 (total, dim), and int64 (len(texts) + 1,) offsets into them."""
        checked = as_texts("encode_tokens", texts)
        encodings = self._tokenize(checked) if checked else []
        # padding to the longest text of the batch is masked out
        ids = [np.asarray(e.ids, np.int64)[np.flatnonzero(e.attention_mask)] for e in encodings]
        offsets = np.zeros(len(checked) + 1, np.int64)
        np.cumsum([len(i) for i in ids], out=offsets[1:])
        flat = np.concatenate(ids) if ids else np.zeros(0, np.int64)
        return np.asarray(self._table[np.minimum(flat, len(self._table) - 1)], np.float32), offsets
