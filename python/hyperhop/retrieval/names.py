"""Names of entities, looked up when they are read."""

import numpy as np
import numpy.typing as npt

from hyperhop._lazy import LazyList
from hyperhop.graph import KnowledgeGraph

Ids = npt.NDArray[np.int32]


class LazyNames(LazyList[str]):
    """Names of entity ids, in their order."""

    def __init__(self, kg: KnowledgeGraph, ids: Ids) -> None:
        self._kg, self._ids = kg, ids

    def __len__(self) -> int:
        return len(self._ids)

    def _make(self, start: int, stop: int) -> list[str]:
        return self._kg.entity_names(self._ids[start:stop])


def name_walks(kg: KnowledgeGraph, walks: Ids, start: int, stop: int) -> list[list[str]]:
    """Names of the entities of rows start to stop, ids (n, L + 1)."""
    # column by column: neighbouring paths share their first entities, and then one str
    columns = [kg.entity_names(column.copy()) for column in walks[start:stop].T]
    return [list(names) for names in zip(*columns, strict=True)]
