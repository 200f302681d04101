"""From scored relation sequences to evidence: the entity paths of the best ones."""

from functools import partial
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from hyperhop._core import graph_broken_step
from hyperhop.evidence import Evidence, EvidenceSequence, PathGroup, PathGroups
from hyperhop.graph import KnowledgeGraph, PathSet
from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners import Plans
from hyperhop.pathhd.walks import Walks
from hyperhop.retrieval.names import Ids, LazyNames, name_walks

Unit = Literal["sequence", "path"]


def expand(
    walks: Walks,
    entity: int,
    candidates: Candidates,
    plans: Plans,
    scores: npt.NDArray[np.float64],
    k: int,
    unit: Unit,
) -> Evidence:
    """Entity paths of the best sequences, in order, until `k` sequences or paths are found."""
    planned = np.full(len(candidates), -np.inf)
    planned[plans.sequences] = plans.weights
    order = candidates.order(scores)
    groups: list[PathGroup] = []
    sequences: list[EvidenceSequence] = []
    truncated = False
    found_paths = 0
    # only `simple` leaves a sequence without paths and so needs a second round
    for start in range(0, len(order), k):
        room = k - (len(sequences) if unit == "sequence" else found_paths)
        if room <= 0 or found_paths >= walks.path_cap:
            break
        chosen = order[start : start + k]
        found = walks.paths(entity, candidates.paths.take(chosen))
        check_paths(walks.kg, found)
        truncated = truncated or found.truncated or found.ends_truncated
        for index, ids, ends in zip(chosen.tolist(), *_by_sequence(found), strict=True):
            if len(ids) == 0 or room <= 0:
                continue
            count = len(ids) if unit == "sequence" else min(len(ids), room)
            room -= 1 if unit == "sequence" else count
            found_paths += count
            relations, score = candidates.relations(index), float(scores[index])
            groups.append(_group(walks.kg, relations, score, ids, count))
            named = _ends(walks.kg, ends)
            sequences.append(EvidenceSequence(relations, named, score, float(planned[index])))
    return Evidence(paths=PathGroups(groups), sequences=sequences, truncated=truncated)


def _by_sequence(found: PathSet) -> tuple[list[Ids], list[Ids]]:
    """Paths (n, L + 1) and ends of each sequence: `of_sequence` and `ends_of` of all at once."""
    symbols, counts = found.sequences.offsets.tolist(), found.offsets.tolist()
    paths, start = [], 0
    for (first, last), (before, after) in zip(pairwise(symbols), pairwise(counts), strict=True):
        width = last - first + 1
        end = start + (after - before) * width
        paths.append(found.entities[start:end].reshape(-1, width))
        start = end
    return paths, [found.ends[a:b] for a, b in pairwise(found.end_offsets.tolist())]


def _group(
    kg: KnowledgeGraph, relations: list[str], score: float, ids: Ids, count: int
) -> PathGroup:
    if kg.ids_are_ranks:
        return PathGroup(relations, score, count, partial(name_walks, kg, ids))
    # order by id is not by name, so all names are needed now
    named = sorted(name_walks(kg, ids, 0, len(ids)))
    return PathGroup(relations, score, count, lambda start, stop: named[start:stop])


def _ends(kg: KnowledgeGraph, ids: Ids) -> LazyNames | list[str]:
    return LazyNames(kg, ids) if kg.ids_are_ranks else sorted(kg.entity_names(ids))


def check_paths(kg: KnowledgeGraph, found: PathSet) -> None:
    """RuntimeError unless every step of every path is a fact of the graph."""
    place = graph_broken_step(
        kg._index, found.entities, found.offsets, found.sequences.symbols, found.sequences.offsets
    )
    if place >= 0:
        step = found.entities[place : place + 2].tolist()
        raise RuntimeError(f"PathHD: a path holds the step {step}, which is no fact of the graph")
