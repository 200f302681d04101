"""Texts on their way into an encoder: checked, batched, with progress."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from hyperhop.text.protocol import TextEncoder

Progress = Callable[[int, int], object]  # (done, of) in texts


def as_texts(function: str, texts: Sequence[str]) -> list[str]:
    """`texts` as a list; a lone surrogate, which is no character, becomes "?".

    TypeError for one string instead of a sequence, and for an item that is no string.
    """
    if isinstance(texts, str):
        raise TypeError(f"{function}: texts must be a sequence of strings, got one string")
    checked = list(texts)
    for place, text in enumerate(checked):
        if not isinstance(text, str):
            kind = type(text).__name__
            raise TypeError(f"{function}: texts must be strings, got {kind} at {place}")
        if not text.isascii():
            checked[place] = text.encode("utf-8", "replace").decode("utf-8")
    return checked


def is_blank(text: str) -> bool:
    """Whether there is nothing to encode but white space: such a text is a zero row."""
    return not text.strip()


def batches_by_length(lengths: Sequence[int], size: int) -> Iterator[npt.NDArray[np.int64]]:
    """Places of texts of equal length, at most `size` at once, shortest texts first. O(n log n).

    No text of such a batch is padded, so that its row does not depend on the others.
    """
    order = np.argsort(np.asarray(lengths, np.int64), kind="stable")
    edges = np.flatnonzero(np.diff(np.asarray(lengths, np.int64)[order])) + 1
    for same in np.split(order, edges):
        for start in range(0, len(same), size):
            yield same[start : start + size]


def encode_all(
    encoder: TextEncoder,
    texts: Sequence[str],
    *,
    batch_size: int = 1024,
    progress: Progress | None = None,
) -> npt.NDArray[np.float32]:
    """Float32 (len(texts), dim), the rows in the order of `texts`, `batch_size` texts a call.

    `progress(done, of)` is told after each call. ValueError unless `batch_size` is positive.
    """
    check_batch_size("encode_all", batch_size)
    checked = as_texts("encode_all", texts)
    rows = np.empty((len(checked), encoder.dim), np.float32)
    for start in range(0, len(checked), batch_size):
        batch = checked[start : start + batch_size]
        rows[start : start + len(batch)] = encoder.encode(batch)
        if progress is not None:
            progress(start + len(batch), len(checked))
    return rows


def encode_queries(encoder: TextEncoder, questions: Sequence[str]) -> npt.NDArray[np.float32]:
    """Float32 (len(questions), dim): each question encoded with the encoder's `query_prompt`.

    For whole questions that are compared with stored texts of another kind. PathHD's planners do
    not: they compare words and groups of words, or questions with questions, as they are.
    """
    prompt = query_prompt(encoder)
    checked = as_texts("encode_queries", questions)
    return encoder.encode([prompt + question for question in checked])


def query_prompt(encoder: TextEncoder) -> str:
    """What the encoder wants before a question; "" where it says nothing."""
    return str(getattr(encoder, "query_prompt", ""))


def check_batch_size(function: str, batch_size: int) -> None:
    """ValueError unless positive."""
    if batch_size < 1:
        raise ValueError(f"{function}: batch_size must be positive, got {batch_size}")
