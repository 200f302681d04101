"""Dense retrieval: the passages whose vectors are nearest to the question's."""

import numpy as np
import numpy.typing as npt

from hyperhop.evaluate.baselines.baseline import VectorBaseline
from hyperhop.help.index import PassageIndex
from hyperhop.text import TextEncoder


class Dense(VectorBaseline):
    """Passages by the cosine of their vector with the question's."""

    def __init__(self, index: PassageIndex, encoder: TextEncoder, passages: int = 10) -> None:
        super().__init__(index, encoder, passages)
        self._rows = np.asarray(index.passage_embeddings, np.float32)

    def scores(self, query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The cosine of each passage (P,) with one question's unit vector (d,)."""
        return self._rows @ query
