"""From scored relation sequences to evidence: the entity paths of the best ones."""

from collections.abc import Sequence
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from hyperhop._core import graph_broken_step
from hyperhop._lazy import LazyList
from hyperhop.evidence import EvidencePath, EvidenceSequence, PathGroup, PathGroups
from hyperhop.graph import KnowledgeGraph, PathSet
from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners import Plans
from hyperhop.pathhd.walks import Walks
from hyperhop.retrieval.names import Ids, LazyNames, name_walks

Unit = Literal["sequence", "path"]


class Findings(NamedTuple):
    """What evidence holds of one topic, or of two that meet."""

    topic: str
    paths: Sequence[EvidencePath]
    sequences: Sequence[EvidenceSequence]
    truncated: bool


def expand(
    walks: Walks,
    entity: int,
    candidates: Candidates,
    plans: Plans,
    scores: npt.NDArray[np.float64],
    k: int,
    unit: Unit,
) -> Findings:
    """Entity paths of the best sequences, in order, until `k` sequences or paths are found."""
    # only `simple` leaves a sequence without paths and so needs a second round
    order = candidates.order(scores) if walks.simple else candidates.best(scores, k)
    kept: list[_Kept] = []
    truncated = False
    paths = 0
    for start in range(0, len(order), k):
        room = k - (len(kept) if unit == "sequence" else paths)
        if room <= 0 or paths >= walks.path_cap:
            break
        chosen = order[start : start + k]
        found = walks.paths(entity, candidates.paths, chosen)
        check_paths(walks.kg, found)
        truncated = truncated or found.truncated or found.ends_truncated
        offsets = found.offsets.tolist()
        for place, index in enumerate(chosen.tolist()):
            count = offsets[place + 1] - offsets[place]
            if count == 0 or room <= 0:
                continue
            if unit == "path":
                count = min(count, room)
            room -= 1 if unit == "sequence" else count
            paths += count
            kept.append(_Kept(index, float(scores[index]), found, place, count))
    groups = _Groups(walks.kg, candidates, kept)
    sequences = _Sequences(walks.kg, candidates, plans, kept)
    name = walks.kg.entity_name(entity)
    return Findings(name, PathGroups(groups, paths), sequences, truncated)


class _Kept(NamedTuple):
    """A sequence in the evidence: candidate, score, where its paths are, how many are kept."""

    candidate: int
    score: float
    found: PathSet
    place: int
    paths: int


class _Groups(LazyList[PathGroup]):
    """The paths of each sequence, cut out of what was found when they are read."""

    def __init__(self, kg: KnowledgeGraph, candidates: Candidates, kept: list[_Kept]) -> None:
        self._kg, self._candidates, self._kept = kg, candidates, kept

    def __len__(self) -> int:
        return len(self._kept)

    def _make(self, start: int, stop: int) -> list[PathGroup]:
        return [self._group(one) for one in self._kept[start:stop]]

    def _group(self, one: _Kept) -> PathGroup:
        relations = self._candidates.relations(one.candidate)
        ids = one.found.of_sequence(one.place)
        if self._kg.ids_are_ranks:
            return PathGroup(relations, one.score, one.paths, partial(name_walks, self._kg, ids))
        # order by id is not by name, so all names are needed now
        named = sorted(name_walks(self._kg, ids, 0, len(ids)))
        return PathGroup(relations, one.score, one.paths, lambda start, stop: named[start:stop])


class _Sequences(LazyList[EvidenceSequence]):
    """The sequences and their ends, made when they are read."""

    def __init__(
        self, kg: KnowledgeGraph, candidates: Candidates, plans: Plans, kept: list[_Kept]
    ) -> None:
        self._kg, self._candidates, self._plans, self._kept = kg, candidates, plans, kept

    def __len__(self) -> int:
        return len(self._kept)

    def _make(self, start: int, stop: int) -> list[EvidenceSequence]:
        plans = self._plans
        weights = dict(zip(plans.sequences.tolist(), plans.weights.tolist(), strict=True))
        return [
            EvidenceSequence(
                self._candidates.relations(one.candidate),
                self._ends(one.found.ends_of(one.place)),
                one.score,
                weights.get(one.candidate, -np.inf),
            )
            for one in self._kept[start:stop]
        ]

    def _ends(self, ids: Ids) -> LazyNames | list[str]:
        kg = self._kg
        return LazyNames(kg, ids) if kg.ids_are_ranks else sorted(kg.entity_names(ids))


def check_paths(kg: KnowledgeGraph, found: PathSet) -> None:
    """RuntimeError unless every step of every path is a fact of the graph."""
    place = graph_broken_step(
        kg._index, found.entities, found.offsets, found.sequences.symbols, found.sequences.offsets
    )
    if place >= 0:
        step = found.entities[place : place + 2].tolist()
        raise RuntimeError(f"PathHD: a path holds the step {step}, which is no fact of the graph")
