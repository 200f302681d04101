"""Any model of the library sentence-transformers (extra `sentence-transformers`)."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._extras import optional
from hyperhop.text.batches import as_texts, check_batch_size, is_blank
from hyperhop.text.content import content_id, model_files

_EXTRA = "sentence-transformers"


class SentenceTransformerEncoder:
    """A model given by its folder or its name on the hub, run by torch.

    A folder is used as it is and needs no network. A text longer than the model's
    `max_seq_length` is cut by the library without a word.
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        device: str = "cpu",
        batch_size: int = 32,
        query_prompt: str | None = None,
    ) -> None:
        """Load the model. Without `query_prompt` it is the model's own prompt named "query".

        ImportError without the extra, OSError where the model is neither here nor on the hub,
        ValueError for a model that leaves its prompt out of the mean: that is not supported.
        """
        check_batch_size("SentenceTransformerEncoder", batch_size)
        library = optional("sentence_transformers", "SentenceTransformerEncoder", _EXTRA)
        self._arguments = (os.fspath(model), device, batch_size, query_prompt)
        self._place = Path(model).resolve() if os.path.isdir(model) else None
        self._name = f"{_EXTRA}:{self._place or os.fspath(model)}"
        self._batch_size = batch_size
        self._model: Any = library.SentenceTransformer(os.fspath(model), device=device)
        prompts = getattr(self._model, "prompts", None) or {}
        self.query_prompt = prompts.get("query", "") if query_prompt is None else query_prompt
        if self.query_prompt and any(
            getattr(module, "include_prompt", True) is False for module in self._model
        ):
            raise ValueError(
                f"{self._name} leaves its prompt out of the mean, which is not supported: "
                "give query_prompt='' to use it without"
            )
        self._dim = len(self._rows(["dim"])[0])

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return _load, self._arguments

    @property
    def name(self) -> str:
        """The name `get_encoder` accepts."""
        return self._name

    @property
    def content_id(self) -> str | None:
        """Stands for the files of a folder; None for a name on the hub, which stands for itself."""
        return None if self._place is None else content_id(self._place, model_files(self._place))

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return self._dim

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Float32 (len(texts), dim), rows of unit length; a blank text is a zero row."""
        checked = as_texts("encode", texts)
        rows = np.zeros((len(checked), self._dim), np.float32)
        filled = [place for place, text in enumerate(checked) if not is_blank(text)]
        if filled:
            rows[filled] = self._rows([checked[place] for place in filled])
        return rows

    def encode_tokens(
        self, texts: Sequence[str]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        """Contextual token states, float32 (total, width), and int64 (len(texts) + 1,) offsets.

        As the model's last layer gives them, without those of the marks around a text.
        """
        checked = as_texts("encode_tokens", texts)
        states = self._encode(checked, output_value="token_embeddings") if checked else []
        kept = [
            np.asarray(state.cpu(), np.float32)[self._inner(text, len(state))]
            for text, state in zip(checked, states, strict=True)
        ]
        offsets = np.zeros(len(checked) + 1, np.int64)
        np.cumsum([len(state) for state in kept], out=offsets[1:])
        return np.concatenate(kept) if kept else np.zeros((0, self._dim), np.float32), offsets

    def _inner(self, text: str, count: int) -> npt.NDArray[np.bool_]:
        """Which of a text's tokens are no marks."""
        marks = self._model.tokenizer(
            text,
            truncation=True,
            max_length=self._model.max_seq_length,
            return_special_tokens_mask=True,
        )["special_tokens_mask"]
        if len(marks) != count:
            raise ValueError(
                f"{self._name}: {len(marks)} tokens, but {count} states: encode_tokens cannot tell "
                "which belong together"
            )
        return ~np.array(marks, bool)

    def _rows(self, texts: list[str]) -> npt.NDArray[np.float32]:
        return np.asarray(self._encode(texts, normalize_embeddings=True), np.float32)

    def _encode(self, texts: list[str], **options: Any) -> Any:
        # an empty prompt: not the one that some models put before every text by default
        return self._model.encode(
            texts, prompt="", batch_size=self._batch_size, show_progress_bar=False, **options
        )


def _load(
    model: str, device: str, batch_size: int, query_prompt: str | None
) -> SentenceTransformerEncoder:
    return SentenceTransformerEncoder(
        model, device=device, batch_size=batch_size, query_prompt=query_prompt
    )
