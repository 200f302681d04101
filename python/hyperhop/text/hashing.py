"""Signed feature hashing of words and character n-grams (Weinberger et al., 2009)."""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from hyperhop.text.batches import as_texts
from hyperhop.text.words import words

_DIM = 512
_LARGEST = 65536  # half a megabyte a text while features are counted
_NGRAMS = (3, 4, 5)
_WORD_WEIGHT = 4  # one shared word outweighs a few shared n-grams


class HashingEncoder:
    """Texts are alike if they share words or pieces of words; it knows no synonyms.

    Needs nothing but NumPy. Features are counted in integers, so the rows are the same bits in
    every process and on every platform. Cost: one hash a word and n-gram, cached by word.
    """

    def __init__(self, dim: int = _DIM) -> None:
        """ValueError unless `dim` is positive and at most 65536."""
        if not 1 <= dim <= _LARGEST:
            raise ValueError(
                f"HashingEncoder: dim must be positive and at most {_LARGEST}, got {dim}"
            )
        self._dim = dim

    @property
    def name(self) -> str:
        """The name `get_encoder` accepts."""
        return "hashing" if self._dim == _DIM else f"hashing:{self._dim}"

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return self._dim

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Float32 (len(texts), dim), rows of unit length; a text without words is a zero row."""
        checked = as_texts("encode", texts)
        counts = np.zeros((len(checked), self._dim), np.int64)
        for row, text in zip(counts, checked, strict=True):
            for word in words(text):
                index, weight = _features(word, self._dim)
                np.add.at(row, index, weight)
        norms = np.sqrt((counts * counts).sum(axis=1).astype(np.float64))
        norms[norms == 0] = 1.0
        rows: npt.NDArray[np.float32] = (counts / norms[:, None]).astype(np.float32)
        return rows


@lru_cache(maxsize=65536)
def _features(word: str, dim: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Columns and signed weights of one word."""
    marked = f"<{word}>"
    grams = [marked[i : i + n] for n in _NGRAMS for i in range(len(marked) - n + 1)]
    hashes = [
        int.from_bytes(blake2b(f.encode("utf-8"), digest_size=8).digest(), "little")
        for f in (f"={word}", *grams)
    ]
    weights = [_WORD_WEIGHT] + [1] * len(grams)
    signed = [w if h & 1 else -w for h, w in zip(hashes, weights, strict=True)]
    columns = [(h >> 1) % dim for h in hashes]
    return np.array(columns, np.int64), np.array(signed, np.int64)
