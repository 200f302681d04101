"""An encoder whose rows are kept on disk."""

import logging
import os
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop.text.batches import as_texts, query_prompt
from hyperhop.text.protocol import TextEncoder
from hyperhop.text.row_file import KEY_BYTES, RowFile, Storage

_CHUNK = 1024  # texts encoded between two writes: what a killed process loses at most
_log = logging.getLogger(__name__)


class CachedEncoder:
    """Encodes each text once: rows are kept in `folder` by encoder name, prompt and text.

    (The prompt is part of what is encoded, see TextEncoder.) Several processes may use one folder,
    and one may be killed at any moment. A damaged row is encoded again; that is logged, and so is
    what cannot be written. A file whose beginning is damaged is refused. Rows are kept until the
    folder is removed; a name stands for one model, so a model replaced under the same name needs
    another folder.

    With `storage="float16"` rows take half the room: every row is rounded to float16 and scaled
    back to unit length, found or not, which changes a cosine by 1e-3 at most. With "float32" a row
    that is found is the one once encoded, bit for bit.

    Attributes:
        encoder: the one that encodes what is not here.
        hits, misses: texts found, and texts encoded. A text that comes twice is encoded once.
    """

    def __init__(
        self, encoder: TextEncoder, folder: str | os.PathLike[str], storage: Storage = "float32"
    ) -> None:
        """ValueError for another storage, and for a damaged file in the folder."""
        if storage not in ("float32", "float16"):
            raise ValueError(f"CachedEncoder: storage must be float32 or float16, got {storage!r}")
        self.encoder = encoder
        self.hits = self.misses = 0
        self._folder, self._storage = folder, storage
        self._file = RowFile(folder, encoder.name, storage)

    def __reduce__(self) -> tuple[type["CachedEncoder"], tuple[Any, ...]]:
        return type(self), (self.encoder, self._folder, self._storage)

    @property
    def name(self) -> str:
        """The encoder's name."""
        return self.encoder.name

    @property
    def dim(self) -> int:
        """Length of a vector; the encoder is not asked where there are rows."""
        return self._file.dim or self.encoder.dim

    @property
    def query_prompt(self) -> str:
        """The encoder's."""
        return query_prompt(self.encoder)

    def __getattr__(self, name: str) -> Any:
        # token states are not kept; what the encoder lacks is not here either
        if name in ("encode_tokens", "content_id"):
            return getattr(self.encoder, name)
        raise AttributeError(f"CachedEncoder has no {name}")

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Float32 (len(texts), dim), as the encoder's; what is not here is encoded and kept."""
        checked = as_texts("encode", texts)
        places = {text: place for place, text in enumerate(dict.fromkeys(checked))}
        distinct = list(places)
        keys = [blake2b(text.encode(), digest_size=KEY_BYTES).digest() for text in distinct]
        rows = np.empty((len(distinct), self.dim), self._storage)
        missing, damaged = self._file.read(keys, rows)
        if damaged:
            _log.warning("%s: %d damaged rows are encoded again", self._file.path, damaged)
        for start in range(0, len(missing), _CHUNK):
            chunk = missing[start : start + _CHUNK]
            rows[chunk] = self._encoded([distinct[place] for place in chunk], rows.shape[1])
            self._keep([keys[place] for place in chunk], rows[chunk])
        self.misses += len(missing)
        self.hits += len(checked) - len(missing)
        wide = _widened(rows)
        return wide if len(wide) == len(checked) else wide[[places[text] for text in checked]]

    def _keep(self, keys: list[bytes], rows: npt.NDArray[Any]) -> None:
        try:
            self._file.append(keys, rows)
        except OSError as error:
            reason = error.strerror or error
            _log.warning("%s: %d rows are not kept: %s", self._file.path, len(keys), reason)

    def _encoded(self, texts: list[str], dim: int) -> npt.NDArray[np.float32]:
        rows = self.encoder.encode(texts)
        if rows.shape != (len(texts), dim):
            raise ValueError(
                f"the cache in {self._folder} has rows of dim {dim} for {self.name!r}, which now "
                f"gives {rows.shape} for {len(texts)} texts: its model was changed; use another "
                "folder, and index again what was made with it"
            )
        if not np.isfinite(rows).all():
            raise ValueError(f"{self.name!r} gave NaN or infinity, which is not kept")
        return rows


def _widened(rows: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Float32; rows of float16 at unit length again, each by itself."""
    wide: npt.NDArray[np.float32] = rows.astype(np.float32, copy=False)
    if rows.dtype != np.float32:
        norms = np.sqrt(np.square(wide).sum(axis=1, keepdims=True))
        np.divide(wide, norms, out=wide, where=norms > 0)
    return wide
