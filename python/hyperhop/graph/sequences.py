"""Symbol sequences that walks from one topic follow."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop.paths import Paths


class Sequences(Paths):
    """What `KnowledgeGraph.sequences` returns: Paths that also know the hubs met.

    Attributes:
        hubs: int32, ascending ids of the entities that some walk had to leave and whose edges
            `max_degree` limited there; empty without that limit.
    """

    __slots__ = ("hubs",)

    hubs: npt.NDArray[np.int32]

    def __init__(
        self,
        symbols: npt.ArrayLike,
        offsets: npt.ArrayLike,
        truncated: bool = False,
        hubs: npt.NDArray[np.int32] | None = None,
    ) -> None:
        super().__init__(symbols, offsets, truncated)
        self.hubs = np.zeros(0, np.int32) if hubs is None else hubs

    @classmethod
    def unchecked(
        cls,
        symbols: npt.NDArray[np.int32],
        offsets: npt.NDArray[np.int64],
        truncated: bool,
        hubs: npt.NDArray[np.int32],
    ) -> "Sequences":
        """From what compiled code made; checking it would cost more than most walks."""
        made = cls.__new__(cls)
        made.symbols, made.offsets, made.truncated, made.hubs = symbols, offsets, truncated, hubs
        return made

    def __reduce__(self) -> tuple[type[Paths], tuple[Any, ...]]:
        return Sequences, (self.symbols, self.offsets, self.truncated, self.hubs)
