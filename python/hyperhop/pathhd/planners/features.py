"""Questions as vectors that know their words and the order of these."""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from hyperhop.pathhd.planners.protocol import Span
from hyperhop.text.protocol import TextEncoder
from hyperhop.text.words import words

Floats = npt.NDArray[np.float32]

ORDER = 0.5
_PAIR_DIM = 512
_REACH = 5  # words
_TOPIC = "_"  # no word of a question: it separates words


class QuestionFeatures:
    """Vectors of masked questions, whose product is a mean of two cosines.

    `order` in [0, 1] is the weight of which words come before which, at most 5 on; 1 - `order` that
    of the encoder. ValueError for another `order`.
    """

    def __init__(self, encoder: TextEncoder, order: float = ORDER) -> None:
        if not 0 <= order <= 1:
            raise ValueError(f"QuestionFeatures: order must be in [0, 1], got {order}")
        self._encoder, self._order = encoder, order
        self.dim = encoder.dim + _PAIR_DIM

    def __call__(self, texts: Sequence[str]) -> Floats:
        """Float32 (len(texts), dim) of texts that `masked` made; unit rows unless one is empty."""
        rows = np.empty((len(texts), self.dim), np.float32)
        if texts:
            plain = [text.replace(_TOPIC, " ") for text in texts]
            rows[:, :-_PAIR_DIM] = np.sqrt(1 - self._order) * self._encoder.encode(plain)
        for row, text in zip(rows, texts, strict=True):
            row[-_PAIR_DIM:] = np.sqrt(self._order) * _pairs(text)
        return rows


def masked(question: str, mention: Span | None) -> str:
    """A question's words, lower-cased, with one mark where it names its topic."""
    start, end = mention if mention is not None else (len(question), len(question))
    mark = [_TOPIC] if mention is not None else []
    return " ".join([*words(question[:start]), *mark, *words(question[end:])])


def _pairs(text: str) -> Floats:
    """Unit vector of pairs of words in their order, hashed with a sign; near ones weigh more."""
    row = np.zeros(_PAIR_DIM, np.float32)
    listed = ["", *text.split(" "), ""]
    for i, word in enumerate(listed):
        for distance, later in enumerate(listed[i + 1 : i + 1 + _REACH], 1):
            column, sign = _hashed(word, later)
            row[column] += sign / distance
    norm = float(np.sqrt(np.square(row).sum()))
    return row / np.float32(norm) if norm > 0 else row


@lru_cache(maxsize=65536)
def _hashed(word: str, later: str) -> tuple[int, int]:
    digest = blake2b(f"{word}\n{later}".encode(), digest_size=8).digest()
    number = int.from_bytes(digest, "little")
    return (number >> 1) % _PAIR_DIM, 1 if number & 1 else -1
