"""Questions about two topics: the entities that sequences from both lead to."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hyperhop import ghrr
from hyperhop.evidence import Constraint, EvidencePath, EvidenceSequence
from hyperhop.pathhd.expand import Findings, Unit, check_paths
from hyperhop.pathhd.explain import explain
from hyperhop.pathhd.planned import Planned, Scored
from hyperhop.pathhd.walks import Walks

Ids = npt.NDArray[np.int32]

TOP = 8  # sequences of each topic that are tried: 64 pairs at most


@dataclass(frozen=True)
class Meeting:
    """A sequence from each topic (indexes of candidates) and the entities both lead to."""

    first: int
    second: int
    weight: float
    ends: Ids


@dataclass(frozen=True)
class Meetings:
    """Best first; `truncated` says that some ends were not found."""

    found: list[Meeting]
    truncated: bool


def meet(walks: Walks, first: Planned, second: Planned, most: int) -> Meetings:
    """The best `most` pairs of sequences that lead to a common entity.

    Of each topic the best 8 plans are tried, pairs by the mean of their planner's weights, then by
    relation names. All ends of a sequence count, however many paths are kept. O(64 ends).
    """
    sides = []
    truncated = False
    for side in (first, second):
        chosen = side.plans.sequences[:TOP]
        found = walks.paths(side.entity, side.candidates.paths, chosen)
        truncated = truncated or found.ends_truncated
        sides.append(
            [
                (float(weight), side.candidates.relations(int(index)), int(index), found.ends_of(i))
                for i, (index, weight) in enumerate(
                    zip(chosen, side.plans.weights[:TOP], strict=True)
                )
            ]
        )
    pairs = [(round((a[0] + b[0]) / 2, 6), a, b) for a in sides[0] for b in sides[1]]
    pairs.sort(key=lambda pair: (-pair[0], pair[1][1], pair[2][1]))
    meetings: list[Meeting] = []
    for weight, a, b in pairs:
        ends = np.intersect1d(a[3], b[3], assume_unique=True)
        if len(ends):
            meetings.append(Meeting(a[2], b[2], weight, ends))
        if len(meetings) == most:
            break
    return Meetings(meetings, truncated)


def expand_meetings(
    walks: Walks, first: Scored, second: Scored, meetings: Meetings, k: int, unit: Unit
) -> Findings:
    """Evidence of pairs of sequences: their common ends, and the paths from both topics to these.

    The paths to one end stand together, those of the first topic before those of the second. With
    the unit "path", `k` counts paths of the first topic.
    """
    kg = walks.kg
    topics = [kg.entity_name(side.planned.entity) for side in (first, second)]
    paths: dict[tuple[tuple[str, ...], tuple[str, ...]], EvidencePath] = {}
    sequences: list[EvidenceSequence] = []
    truncated = meetings.truncated
    room = k
    for meeting in meetings.found:
        if room <= 0 or len(paths) >= walks.path_cap:
            break
        walked: list[tuple[str, int, list[str]]] = []
        steps = []
        for place, (side, index) in enumerate(((first, meeting.first), (second, meeting.second))):
            candidates = side.planned.candidates
            found = walks.paths(side.planned.entity, candidates.paths, np.array([index]))
            check_paths(kg, found)
            truncated = truncated or found.truncated
            ids = found.of_sequence(0)
            ids = ids[np.isin(ids[:, -1], meeting.ends)]
            names = [kg.entity_names(walk) for walk in ids]
            if place == 0 and unit == "path":
                names = sorted(names, key=lambda walk: (walk[-1], walk))[:room]
            room -= (unit == "sequence") if place else len(names) * (unit == "path")
            walked += [(walk[-1], place, walk) for walk in names]
            steps.append((candidates.relations(index), float(side.scores[index])))
        ends = sorted(kg.entity_names(meeting.ends))
        shown = {end for end, place, _ in walked if place == 0}
        for end, place, walk in sorted(walked):
            if end in shown:
                relations, score = steps[place]
                key = tuple(walk), tuple(relations)
                paths.setdefault(key, EvidencePath(walk, relations, score))
        (relations, score), (others, other) = steps
        sequences.append(
            EvidenceSequence(
                relations,
                ends,
                (score + other) / 2,
                meeting.weight,
                constraint=Constraint(topics[1], others),
            )
        )
    return Findings(topics[0], list(paths.values()), sequences, truncated)


def explain_meetings(
    codebook: ghrr.Codebook,
    findings: Findings,
    first: Scored,
    second: Scored,
    meetings: Meetings,
) -> Findings:
    """The findings of `expand_meetings` with why each sequence of both topics scores as it does."""
    used = meetings.found[: len(findings.sequences)]
    chosen = [one.first for one in used], [one.second for one in used]
    why = [
        explain(codebook, side.encode(), side.planned.candidates, side.scores, indexes)
        for side, indexes in zip((first, second), chosen, strict=True)
    ]
    return findings._replace(
        sequences=[
            replace(
                sequence,
                explanation=mine,
                constraint=sequence.constraint and replace(sequence.constraint, explanation=other),
            )
            for sequence, mine, other in zip(findings.sequences, *why, strict=True)
        ],
    )
