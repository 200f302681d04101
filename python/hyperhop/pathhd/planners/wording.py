"""Questions as the linear planner sees them: pooled token states and n-grams, few numbers each."""

from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from hyperhop.text.protocol import TextEncoder

Floats = npt.NDArray[np.float32]

# The parts, not their exact shares, were chosen with MiniLM on WebQSP: by two fifths of train that
# were held out, and validation.
_MEAN, _EXTREMES, _LAST, _NGRAMS = 1.5, 2.0, 1.0, 0.9
_LONGEST = 3  # words of an n-gram
_COLUMNS = 1024
_KEPT = 300  # dimensions
_ROUNDS = 3


class WordingFeatures:
    """What is said, as vectors of at most 300 numbers: principal components of
    - the encoder's vector;
    - if it has `encode_tokens`: the largest and the smallest values of the token states, and the
      last token's state, which keep single words that a mean blurs;
    - n-grams of 1 to 3 words that two of the training texts share, rare ones weighing more, hashed.
    """

    def __init__(self, encoder: TextEncoder, texts: Sequence[str]) -> None:
        """Learns n-grams and components from training texts, as `features.masked` makes them."""
        self._encoder = encoder
        seen = Counter(gram for text in texts for gram in _ngrams(text))
        self._weights = {
            gram: float(np.log(len(texts) / count)) for gram, count in seen.items() if count > 1
        }
        rows = self._parts(texts)
        self._mean = rows.mean(axis=0) if len(rows) else np.zeros(rows.shape[1], np.float32)
        self._components = _components(rows - self._mean)

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self._components.shape[1])

    def __call__(self, texts: Sequence[str]) -> Floats:
        """Float32 (len(texts), dim)."""
        return np.asarray((self._parts(texts) - self._mean) @ self._components, np.float32)

    def _parts(self, texts: Sequence[str]) -> Floats:
        parts = [_MEAN * self._encoder.encode(texts)]
        encode_tokens = getattr(self._encoder, "encode_tokens", None)
        if encode_tokens is not None:
            parts += _pooled(*encode_tokens(texts))
        parts.append(_NGRAMS * self._hashed(texts))
        return np.hstack(parts)

    def _hashed(self, texts: Sequence[str]) -> Floats:
        rows = np.zeros((len(texts), _COLUMNS), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for gram in sorted(_ngrams(text)):
                if gram in self._weights:
                    column, sign = _place(gram)
                    row[column] += sign * self._weights[gram]
        return _unit(rows)


def _ngrams(text: str) -> set[str]:
    words = ["", *text.split(" "), ""]  # the ends count as words
    return {
        " ".join(words[start : start + length])
        for length in range(1, _LONGEST + 1)
        for start in range(len(words) - length + 1)
    }


def _place(gram: str) -> tuple[int, int]:
    """Column and sign; n-grams that meet in a column then cancel as often as they add."""
    digest = blake2b(gram.encode(), digest_size=8).digest()
    number = int.from_bytes(digest, "little")
    return (number >> 1) % _COLUMNS, 1 if number & 1 else -1


def _pooled(states: Floats, offsets: npt.NDArray[np.int64]) -> list[Floats]:
    """Unit rows of extremes and of last states; zeros for a text without tokens."""
    count, dim = len(offsets) - 1, states.shape[1]
    extremes = np.zeros((count, 2 * dim), np.float32)
    last = np.zeros((count, dim), np.float32)
    filled = np.flatnonzero(np.diff(offsets))
    if len(filled):
        starts = offsets[:-1][filled]
        extremes[filled, :dim] = np.maximum.reduceat(states, starts)
        extremes[filled, dim:] = np.minimum.reduceat(states, starts)
        last[filled] = states[offsets[1:][filled] - 1]
    return [_EXTREMES * _unit(extremes), _LAST * _unit(last)]


def _unit(rows: Floats) -> Floats:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Floats = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    return unit


def _components(rows: Floats) -> Floats:
    """The first principal directions of centred rows, float32 (dim, at most 300).

    Orthogonal iteration from a fixed start: O(rounds * n dim kept), far below all of them.
    """
    kept = min(_KEPT, *rows.shape)
    found = np.random.default_rng(0).standard_normal((rows.shape[1], kept)).astype(np.float32)
    for _ in range(_ROUNDS):
        found = np.linalg.qr(rows.T @ (rows @ found))[0]
    return np.asarray(found, np.float32)
