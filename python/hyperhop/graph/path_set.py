"""Entity paths, grouped by the relation sequence they follow."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hyperhop.paths import Paths


@dataclass(frozen=True, eq=False)
class PathSet:
    """Entity paths of S sequences from one topic; what `KnowledgeGraph.paths` returns.

    Attributes:
        sequences: the S symbol sequences, in the order asked for.
        entities: int32 (total,), all paths end to end; a path along L symbols has L + 1 entities,
            the topic first.
        offsets: int64 (S + 1,), number of paths before each sequence.
        truncated: a path, or a sequence, is missing because of `cap` or a work limit.
        ends: int32 (total ends,), the distinct end entities of each sequence, ascending; `cap` does
            not cut them.
        end_offsets: int64 (S + 1,), where each sequence's ends start.
        ends_truncated: an end is missing because of a work limit.
        hubs: int32, ascending ids of the entities that some walk had to leave and whose edges
            `max_degree` limited there, those of `sequences` included.
    """

    sequences: Paths
    entities: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    truncated: bool
    ends: npt.NDArray[np.int32]
    end_offsets: npt.NDArray[np.int64]
    ends_truncated: bool
    hubs: npt.NDArray[np.int32]

    @cached_property
    def _starts(self) -> npt.NDArray[np.int64]:
        """Where each sequence's paths start in `entities`."""
        starts = np.zeros(len(self.sequences) + 1, np.int64)
        np.cumsum(np.diff(self.offsets) * (self.sequences.lengths + 1), out=starts[1:])
        return starts

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def sequence_of(self, index: int) -> int:
        """Number of the sequence that path `index` follows. O(log S)."""
        if not 0 <= index < len(self):
            raise IndexError(f"PathSet: path {index} of {len(self)}")
        return int(np.searchsorted(self.offsets, index, side="right")) - 1

    def path(self, index: int) -> npt.NDArray[np.int32]:
        """The entities of path `index`: int32 (L + 1,), a view."""
        sequence = self.sequence_of(index)
        width = int(self.sequences.lengths[sequence]) + 1
        start = int(self._starts[sequence]) + width * (index - int(self.offsets[sequence]))
        return self.entities[start : start + width]

    def of_sequence(self, sequence: int) -> npt.NDArray[np.int32]:
        """All paths along one sequence: int32 (number of paths, L + 1), a view."""
        self._check(sequence)
        width = int(self.sequences.lengths[sequence]) + 1
        flat = self.entities[self._starts[sequence] : self._starts[sequence + 1]]
        return flat.reshape(-1, width)

    def ends_of(self, sequence: int) -> npt.NDArray[np.int32]:
        """The distinct end entities of one sequence: int32, ascending, a view."""
        self._check(sequence)
        return self.ends[self.end_offsets[sequence] : self.end_offsets[sequence + 1]]

    def _check(self, sequence: int) -> None:
        if not 0 <= sequence < len(self.sequences):
            raise IndexError(f"PathSet: sequence {sequence} of {len(self.sequences)}")
