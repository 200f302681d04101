"""Scores of relation sequences against the groups of a question, given how alike words are."""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners.lexicon import RelationLexicon
from hyperhop.pathhd.planners.protocol import Span
from hyperhop.pathhd.planners.question import Group, parse_question
from hyperhop.text.words import stem

Floats = npt.NDArray[np.float32]
# How alike question words (rows) and vocabulary words (columns) are, in [0, 1]
WordSimilarity = Callable[[Sequence[str]], Floats]

_CONTEXT = 0.5  # a domain or type word says less than the relation's own name
_STEP = 0.35  # "which NOUN" and a predicate are steps only if some relation is at least this alike
_INVERSE = 0.02  # forward is the rule ...
_FORWARD = 0.1  # ... but not in "whose capital is Lima"


@dataclass(frozen=True)
class AlignmentWeights:
    """Score = alignment + precision * p - steps * |groups - length| - length * length."""

    precision: float
    steps: float
    length: float


@dataclass(frozen=True)
class Reading:
    """A question as read against one graph.

    `words` are all content words, `starts` where each group starts in them, `similarity` float32
    (words, vocabulary), `backwards` bool (groups,).
    """

    words: list[str]
    starts: npt.NDArray[np.int64]
    backwards: npt.NDArray[np.bool_]
    returns: npt.NDArray[np.bool_]
    similarity: Floats

    @property
    def groups(self) -> list[list[str]]:
        """Words of each group."""
        return [self.words[a:b] for a, b in pairwise([*self.starts.tolist(), len(self.words)])]


def split_question(question: str, mention: Span | None, lexicon: RelationLexicon) -> list[Group]:
    """Groups of the question, the one nearest the topic first, each about one relation at most."""
    parsed = parse_question(question, mention, lexicon.keep)
    return [part for group in parsed for part in _split(group, lexicon)]


def read_groups(
    groups: Sequence[Group], lexicon: RelationLexicon, alike: WordSimilarity
) -> Reading:
    """Groups of a question, hop by hop, with their similarities to the words of all relations.

    "which NOUN" is dropped and a predicate joins what is asked where no relation is like it. Two
    groups that together are one relation's literal name ("place of birth") become one.
    """
    groups = _steps(groups, lexicon, alike)
    words = [word for group in groups for word in group.words]
    lengths = np.array([len(group.words) for group in groups], np.int64)
    return Reading(
        words,
        np.cumsum(lengths) - lengths,
        np.array([group.backwards for group in groups], bool),
        np.array([group.returns for group in groups], bool),
        alike(words),
    )


def _split(group: Group, lexicon: RelationLexicon) -> list[Group]:
    """Parts of a group, nearest to the topic first; naming another relation starts a new one."""
    parts: list[list[str]] = [[]]
    current: Set[str] = frozenset()
    for word in group.words:
        named = lexicon.naming(word)
        if named and current and not named & current:
            parts.append([])
            current = named
        elif named:
            current = (named & current) or named
        parts[-1].append(word)
    if len(parts) == 1:
        return [group]
    # flags stay with the end they were read from
    first, *rest = [Group(tuple(part), outward=group.outward) for part in parts]
    *rest, last = rest
    if group.outward:
        return [replace(first, predicate=group.predicate), *rest, last]
    first, last = replace(first, asked=group.asked), replace(last, backwards=group.backwards)
    return [last, *rest[::-1], first]


def _steps(groups: Sequence[Group], lexicon: RelationLexicon, alike: WordSimilarity) -> list[Group]:
    """The groups that are steps, see `read_groups`."""

    def is_step(group: Group) -> bool:
        known = alike(group.words)
        return bool(known.size) and float(known.max()) >= _STEP

    found = _joined_loose(groups, lexicon, alike, is_step)
    found = [g for g in found if not g.asked or is_step(g)] or found[-1:]
    steps: list[Group] = []
    waiting: tuple[str, ...] = ()
    for place, group in enumerate(found):
        after = found[place + 1 : place + 2]
        if waiting:
            group = replace(group, words=group.words + waiting)
            waiting = ()
        if group.predicate and after and (after[0].opening or not is_step(group)):
            waiting = group.words
        else:
            steps.append(group)
    return _join_literal(steps, lexicon)


def _joined_loose(
    groups: Sequence[Group],
    lexicon: RelationLexicon,
    alike: WordSimilarity,
    is_step: Callable[[Group], bool],
) -> list[Group]:
    """ "wrote the screenplay": one step where both say the same relation, or one says none."""
    found = list(groups)
    for group in groups:
        if not group.loose:
            continue
        place = next(i for i, one in enumerate(found) if one is group)
        other = place - 1 if group.outward else place + 1
        if not 0 <= other < len(found):
            continue
        before = found[other]
        if is_step(group) and (
            not is_step(before)
            or lexicon.nearest(alike(group.words)) != lexicon.nearest(alike(before.words))
        ):
            continue
        found[other] = replace(
            before,
            words=before.words + group.words,
            returns=before.returns or group.returns,
            backwards=before.backwards or group.backwards,
        )
        found.pop(place)
    return found


def _join_literal(groups: list[Group], lexicon: RelationLexicon) -> list[Group]:
    joined: list[Group] = []
    for group in groups:
        if joined:
            both = (*group.words, *joined[-1].words)
            if frozenset(map(stem, both)) in lexicon.literal:
                group = Group(both, joined.pop().backwards or group.backwards)
        joined.append(group)
    return joined


def align(
    reading: Reading,
    lexicon: RelationLexicon,
    candidates: Candidates,
    weights: AlignmentWeights,
    phrases: Floats | None = None,
) -> npt.NDArray[np.float64]:
    """Score of every candidate, float64 (N,).

    A group and a step are alike by the best pair of words (or by `phrases`, float32 (groups, U),
    how alike whole groups and relations are) and by how many of the relation's words the group has,
    half each. Groups and steps are aligned in order, each at most once (Needleman and Wunsch,
    without gap costs); the sum is divided by the larger count. Precision is how much of the steps'
    words the whole question has. O(groups * length * N).
    """
    lengths = np.maximum(candidates.lengths, 1)
    groups = len(reading.starts) + int(reading.returns.sum())
    scores: npt.NDArray[np.float64] = -weights.length * lengths - weights.steps * abs(
        groups - lengths
    )
    if groups == 0 or len(candidates) == 0:
        return scores
    core, core_starts = lexicon.core.take(candidates.symbols)
    context, context_starts = lexicon.context.take(candidates.symbols)
    sizes = np.diff([*core_starts, len(core)])
    of_core, of_context = reading.similarity[:, core], reading.similarity[:, context]
    best = np.maximum(
        np.maximum.reduceat(of_core, core_starts, axis=1),
        _CONTEXT * np.maximum.reduceat(of_context, context_starts, axis=1),
    )
    best = np.maximum.reduceat(best, reading.starts, axis=0)
    if phrases is not None:
        best = np.maximum(best, phrases)
    in_group = np.maximum.reduceat(of_core, reading.starts, axis=0)
    complete = np.add.reduceat(in_group, core_starts, axis=1) / sizes
    steps = (best + complete) / 2
    inverse = lexicon.inverse[candidates.symbols]
    steps = steps - np.where(
        reading.backwards[:, None],
        np.where(inverse, 0.0, _FORWARD),
        np.where(inverse, _INVERSE, 0.0),
    )
    found = np.add.reduceat(of_core.max(axis=0), core_starts) / sizes
    inside = candidates.table >= 0
    precision = np.where(inside, found[candidates.table], 0.0).sum(axis=1) / lengths
    scores = scores + weights.precision * precision
    return scores + _ordered(
        steps, reading.returns, lexicon.relation[candidates.symbols], candidates
    ) / np.maximum(lengths, groups)


def _ordered(
    steps: npt.NDArray[np.floating],
    returns: npt.NDArray[np.bool_],
    relation: npt.NDArray[np.int64],
    candidates: Candidates,
) -> npt.NDArray[np.float64]:
    """Best sum of an in-order, one-to-one alignment of groups and steps, for every candidate."""
    groups, count = len(steps), len(candidates)
    earlier = previous = np.zeros((groups + 1, count))
    total = np.zeros(count)
    for hop in range(candidates.table.shape[1]):
        column = candidates.table[:, hop]
        row = np.zeros((groups + 1, count))
        if hop:
            last = candidates.table[:, hop - 1]
            back = relation[last] == -relation[column]
        for group in range(groups):
            row[group + 1] = np.maximum(
                np.maximum(row[group], previous[group + 1]), previous[group] + steps[group, column]
            )
            if returns[group] and hop:
                both = earlier[group] + steps[group, last] + steps[group, column]
                row[group + 1] = np.where(back, np.maximum(row[group + 1], both), row[group + 1])
        total = np.where(candidates.lengths == hop + 1, row[groups], total)
        earlier, previous = previous, row
    return total
