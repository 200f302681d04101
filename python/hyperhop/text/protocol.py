"""What an encoder of text must offer; anything with these members is one."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt


@runtime_checkable
class TextEncoder(Protocol):
    """Maps texts to unit vectors.

    An encoder may also have
        encode_tokens(texts) -> (states, offsets): float32 (total, dim) token states and int64
            (len(texts) + 1,) offsets;
        query_prompt: str, what the model wants before a question. Only `encode_queries` adds it,
            which is for whole questions: `encode` never does, and what encodes words or names (the
            planner "embedding", EntityLinker) does not either;
        content_id: str, what stands for the files of a local model (None: nothing does).

    `isinstance(x, TextEncoder)` may read `dim`, for which a server is asked: use it in tests only.
    """

    @property
    def name(self) -> str:
        """Stands for one model; `get_encoder(name)` makes the same encoder.

        Recorded in an index, so that a question is encoded the way its graph was.
        """
        ...

    @property
    def dim(self) -> int:
        """Length of a vector."""
        ...

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Float32 (len(texts), dim), rows of unit length; a text without words is a zero row.

        Rows are in the order of `texts` and do not depend on the others beyond 1e-5.
        """
        ...
