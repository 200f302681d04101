"""What passages state, in their own words: the triples that an index is built of."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hyperhop.help.keys import name_key
from hyperhop.help.texts import TextTable
from hyperhop.help.triples import Triple


@dataclass(frozen=True, eq=False)
class Statements:
    """The triples of each passage, those of equal keys once, in the order given.

    Attributes:
        forms: the distinct names as they were written, in order of text (UTF-8 bytes).
        rows: int64 (M, 3), forms of head, relation and tail.
        offsets: int64 (P + 1,), the rows of each passage.
    """

    forms: TextTable
    rows: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]

    @classmethod
    def of(cls, triples: Iterable[Sequence[Triple]]) -> "Statements":
        """The statements of one list of triples a passage. O(triples)."""
        keys: dict[str, str] = {}
        kept: list[Triple] = []
        offsets = [0]
        for listed in triples:
            distinct: dict[tuple[str, ...], Triple] = {}
            for triple in listed:
                for name in triple:
                    if name not in keys:
                        keys[name] = name_key(name)
                distinct.setdefault(tuple(keys[name] for name in triple), triple)
            kept += distinct.values()
            offsets.append(len(kept))
        names = sorted({name for triple in kept for name in triple})
        form = {name: place for place, name in enumerate(names)}
        rows = np.array([[form[name] for name in triple] for triple in kept], np.int64)
        return cls(TextTable.of(names), rows.reshape(-1, 3), np.array(offsets, np.int64))

    def take(self, passages: npt.NDArray[np.int64]) -> "Statements":
        """Those of the passages at these positions, in that order, as if there were no others."""
        counts = np.diff(self.offsets)[passages]
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[passages] - offsets[:-1], counts)
        used, rows = np.unique(self.rows[places], return_inverse=True)
        return Statements(self.forms.take(used), rows.reshape(-1, 3).astype(np.int64), offsets)

    def then(self, other: "Statements") -> "Statements":
        """These passages, followed by the other ones."""
        mine, others = list(self.forms), list(other.forms)
        names = sorted({*mine, *others})
        form = {name: place for place, name in enumerate(names)}
        parts = [
            np.array([form[name] for name in table], np.int64)[one.rows]
            for table, one in ((mine, self), (others, other))
        ]
        offsets = np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:]])
        return Statements(TextTable.of(names), np.concatenate(parts), offsets)
