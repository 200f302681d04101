"""From scored relation sequences to evidence: the entity paths of the best ones."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from hyperhop.evidence import Evidence, EvidencePath, EvidenceSequence
from hyperhop.graph import KnowledgeGraph
from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners import Plans
from hyperhop.pathhd.walks import Walks

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
    kg = walks.kg
    planned = dict(zip(plans.sequences.tolist(), plans.weights.tolist(), strict=True))
    order = candidates.order(scores)
    paths: list[EvidencePath] = []
    sequences: list[EvidenceSequence] = []
    truncated = False
    # only `simple` leaves a sequence without paths and so needs a second round
    for start in range(0, len(order), k):
        room = k - (len(sequences) if unit == "sequence" else len(paths))
        if room <= 0 or len(paths) >= walks.path_cap:
            break
        chosen = order[start : start + k]
        found = walks.paths(entity, candidates.paths.take(chosen))
        truncated = truncated or found.truncated or found.ends_truncated
        for row, index in enumerate(chosen.tolist()):
            ids = found.of_sequence(row)
            if len(ids) == 0 or room <= 0:
                continue
            check_paths(kg, ids, candidates.paths[index])
            names, width = kg.entity_names(ids.ravel().tolist()), ids.shape[1]
            steps = [names[i : i + width] for i in range(0, len(names), width)]
            ends = kg.entity_names(found.ends_of(row).tolist())
            if not kg.ids_are_ranks:  # then order by id is not by name
                steps.sort()
                ends.sort()
            if unit == "path":
                steps = steps[:room]
            room -= 1 if unit == "sequence" else len(steps)
            relations, score = candidates.relations(index), float(scores[index])
            paths += [EvidencePath(step, relations, score) for step in steps]
            weight = planned.get(index, float("-inf"))
            sequences.append(EvidenceSequence(relations, ends, score, weight))
    return Evidence(paths=paths, sequences=sequences, truncated=truncated)


def check_paths(
    kg: KnowledgeGraph, walks: npt.NDArray[np.int32], symbols: npt.NDArray[np.int32]
) -> None:
    """Every step of every path, int32 (n, L + 1), must be a fact of the graph."""
    relations = kg.num_relation_ids
    inverse = symbols >= relations
    before, after = walks[:, :-1], walks[:, 1:]
    heads, tails = np.where(inverse, after, before), np.where(inverse, before, after)
    labels = np.broadcast_to(np.where(inverse, symbols - relations, symbols), heads.shape)
    wrong = np.argwhere(~kg.has_triples(heads, labels, tails))
    if len(wrong):
        place = tuple(wrong[0])
        fact = tuple(int(part[place]) for part in (heads, labels, tails))
        raise RuntimeError(f"PathHD: a path holds {fact}, which is no fact of the graph")
