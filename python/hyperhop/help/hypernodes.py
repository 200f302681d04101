"""HyperNodes by name, made when they are read."""

import numpy as np
import numpy.typing as npt

from hyperhop._lazy import LazyList
from hyperhop.evidence import EvidenceHyperNode
from hyperhop.help.index import PassageIndex


class NamedHyperNodes(LazyList[EvidenceHyperNode]):
    """The HyperNodes behind an evidence, nearest first; most of fifty are never read."""

    def __init__(
        self,
        index: PassageIndex,
        hypernodes: npt.NDArray[np.int64],
        distances: npt.NDArray[np.float64],
        passages: npt.NDArray[np.int64],
    ) -> None:
        """`hypernodes` (n, levels) padded with -1; `passages` are those of the evidence."""
        self._index, self._hypernodes, self._distances = index, hypernodes, distances
        self._passages = passages

    def __len__(self) -> int:
        return len(self._hypernodes)

    def _make(self, start: int, stop: int) -> list[EvidenceHyperNode]:
        sources = self._index.sources
        made = []
        for row, distance in zip(
            self._hypernodes[start:stop], self._distances[start:stop].tolist(), strict=True
        ):
            triples = row[row >= 0].tolist()
            stated = [
                sources.passages[sources.offsets[triple] : sources.offsets[triple + 1]]
                for triple in triples
            ]
            found = np.isin(self._passages, np.concatenate(stated))
            made.append(
                EvidenceHyperNode(
                    [self._index.triple(triple) for triple in triples],
                    distance,
                    np.flatnonzero(found).tolist(),
                )
            )
        return made
