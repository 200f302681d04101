"""Embeddings of any OpenAI-compatible server (extra `llm`)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._server import (
    ServerError,
    find_key,
    make_client,
    normalize_url,
    only_model,
    read_json,
    said_error,
    scrub,
    with_retries,
)
from hyperhop.text.batches import as_texts, check_batch_size, is_blank


class OpenAIEncoder:
    """Asks a server's /embeddings, `batch_size` texts a request.

    Args:
        base_url: address of the server, with or without "/v1" or "/v1/embeddings".
        model: its name there; None for the server's only model, which is asked for at once.
        api_key: otherwise HYPERHOP_LLM_KEY is used, OPENAI_API_KEY for api.openai.com alone, or
            none. Never shown, and left out of a pickle: there the environment has to give it.
        timeout: seconds a request may take.
        retries: how often one is tried again after status 429 or 5xx, a time-out or a lost
            connection; `backoff` seconds after the first failure, then twice as long each time.
        query_prompt: put before questions by `encode_queries`.

    ServerError (an OSError) where there is no usable reply, ImportError without the extra.
    """

    def __init__(
        self,
        base_url: str,
        model: str | None = None,
        api_key: str | None = None,
        *,
        batch_size: int = 64,
        timeout: float = 60.0,
        retries: int = 4,
        backoff: float = 0.5,
        query_prompt: str = "",
    ) -> None:
        check_batch_size("OpenAIEncoder", batch_size)
        self.query_prompt = query_prompt
        self._url = normalize_url(base_url)
        self._batch_size, self._timeout = batch_size, timeout
        self._retries, self._backoff = retries, backoff
        self._dim: int | None = None
        self._connect(api_key)
        self._model = model or only_model(self._client, self._url, self._key, retries)

    def _connect(self, api_key: str | None) -> None:
        self._key = find_key(self._url, api_key)
        self._client = make_client("OpenAIEncoder", self._url, self._key, self._timeout)

    def __repr__(self) -> str:
        return f"OpenAIEncoder({self._url!r}, {self._model!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_key", "_client")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._connect(None)

    @property
    def name(self) -> str:
        """URL#MODEL, which `get_encoder` accepts."""
        return f"{self._url}#{self._model}"

    @property
    def dim(self) -> int:
        """Length of a vector; the server is asked once."""
        if self._dim is None:
            self._ask(["dim"])
        assert self._dim is not None
        return self._dim

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Float32 (len(texts), dim), rows of unit length; a blank text is a zero row, not sent."""
        checked = as_texts("encode", texts)
        filled = [place for place, text in enumerate(checked) if not is_blank(text)]
        found = [
            self._ask([checked[place] for place in filled[start : start + self._batch_size]])
            for start in range(0, len(filled), self._batch_size)
        ]
        rows = np.zeros((len(checked), self.dim), np.float32)
        if found:
            rows[filled] = np.concatenate(found)
        return rows

    def _ask(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Unit rows of one batch."""
        raw, attempts = with_retries(
            lambda: self._client.embeddings.with_raw_response.create(
                model=self._model, input=texts, encoding_format="float"
            ),
            retries=self._retries,
            backoff=self._backoff,
            url=self._url,
            key=self._key,
        )
        try:
            rows = _unit_rows(_in_order(read_json(raw, self._url, attempts), len(texts)), self._dim)
        except ValueError as error:
            raise ServerError(f"{self.name}: {scrub(str(error), self._key)}", attempts) from None
        self._dim = rows.shape[1]
        return rows


def _in_order(reply: Any, count: int) -> list[Any]:
    """Vectors of a reply, by the `index` of their items. ValueError if it is not one to a text."""
    said = said_error(reply)
    if said:
        raise ValueError(said)
    items = reply.get("data") if isinstance(reply, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ValueError("the reply has no list of embeddings")
    places = [item.get("index") for item in items]
    if not all(type(place) is int for place in places) or sorted(places) != list(range(count)):
        raise ValueError(
            f"{count} texts were sent, but {len(items)} embeddings came back, with the indexes "
            f"{_shortened(places)}"
        )
    vectors: list[Any] = [None] * count
    for item in items:
        vectors[item["index"]] = item.get("embedding")
    return vectors


def _unit_rows(vectors: list[Any], dim: int | None) -> npt.NDArray[np.float32]:
    """The vectors at unit length. ValueError unless each has `dim` finite numbers, not all 0."""
    for place, vector in enumerate(vectors):
        if not isinstance(vector, list) or not vector:
            raise ValueError(f"embedding {place} is no list of numbers")
        dim = dim or len(vector)
        if len(vector) != dim:
            raise ValueError(f"embedding {place} has {len(vector)} numbers, {dim} were expected")
        if not all(type(number) in (int, float) for number in vector):
            raise ValueError(f"embedding {place} holds something that is no number")
    try:
        rows = np.array(vectors, np.float64)
    except OverflowError:  # a whole number of more than 308 digits
        raise ValueError("an embedding holds a number that is too large") from None
    largest = np.abs(rows).max(axis=1, keepdims=True)
    for fault, found in (
        ("holds NaN or infinity", ~np.isfinite(largest)),
        ("is a zero vector", largest == 0),
    ):
        if found.any():
            raise ValueError(f"embedding {np.flatnonzero(found)[0]} {fault}")
    rows /= largest  # lest a square overflows or vanishes
    rows /= np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    return rows.astype(np.float32)


def _shortened(places: list[Any]) -> str:
    shown = ", ".join(str(place) for place in places[:8])
    return f"{shown}, ..." if len(places) > 8 else shown or "none"
