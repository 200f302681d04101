"""Scores of relation sequences against the groups of a question, given how alike words are."""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, product

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
    similarity: Floats

    @property
    def groups(self) -> list[list[str]]:
        """Words of each group."""
        return [self.words[a:b] for a, b in pairwise([*self.starts.tolist(), len(self.words)])]


def split_question(question: str, mention: Span | None, lexicon: RelationLexicon) -> list[Group]:
    """Groups of the question, the one nearest the topic first, each about one relation at most."""
    parsed = parse_question(question, mention, lexicon.keep)
    return [part for group in parsed for part in _split(group, lexicon)]


def possible_texts(groups: Sequence[Group], lexicon: RelationLexicon) -> list[str]:
    """All words of the groups, and all groups that `read_groups` may make of them, as text."""
    texts = {word: None for group in groups for word in group.words}
    for asked, predicate in product((False, True), repeat=2):
        outcome = {True: asked, False: predicate}  # of what is asked about, by `group.asked`
        for group in _steps(groups, lexicon, partial(_told, outcome)):
            texts[" ".join(group.words)] = None
    return list(texts)


def _told(outcome: dict[bool, bool], group: Group) -> bool:
    return outcome[group.asked]


def read_groups(
    groups: Sequence[Group], lexicon: RelationLexicon, alike: WordSimilarity
) -> Reading:
    """Groups of a question, hop by hop, with their similarities to the words of all relations.

    "which NOUN" is dropped and a predicate joins what is asked where no relation is like it. Two
    groups that together are one relation's literal name ("place of birth") become one.
    """
    groups = _steps(groups, lexicon, lambda group: _is_step(group, alike))
    words = [word for group in groups for word in group.words]
    lengths = np.array([len(group.words) for group in groups], np.int64)
    return Reading(
        words,
        np.cumsum(lengths) - lengths,
        np.array([group.backwards for group in groups], bool),
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


def _steps(
    groups: Sequence[Group], lexicon: RelationLexicon, is_step: Callable[[Group], bool]
) -> list[Group]:
    """The groups that are steps; `is_step` is asked about "which NOUN" and a predicate."""
    found = list(groups)
    if len(found) > 1 and found[-1].asked and not is_step(found[-1]):
        found.pop()
    if len(found) > 1 and found[0].predicate:
        first, *rest, last = found
        if last.opening or not is_step(first):
            found = [*rest, replace(last, words=last.words + first.words)]
    return _join_literal(found, lexicon)


def _is_step(group: Group, alike: WordSimilarity) -> bool:
    known = alike(group.words)
    return bool(known.size) and float(known.max()) >= _STEP


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
    groups = len(reading.starts)
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
    return scores + _ordered(steps, candidates) / np.maximum(lengths, groups)


def _ordered(steps: npt.NDArray[np.floating], candidates: Candidates) -> npt.NDArray[np.float64]:
    """Best sum of an in-order, one-to-one alignment of groups and steps, for every candidate."""
    groups, count = len(steps), len(candidates)
    previous = np.zeros((groups + 1, count))
    total = np.zeros(count)
    for hop in range(candidates.table.shape[1]):
        column = candidates.table[:, hop]
        row = np.zeros((groups + 1, count))
        for group in range(groups):
            row[group + 1] = np.maximum(
                np.maximum(row[group], previous[group + 1]), previous[group] + steps[group, column]
            )
        total = np.where(candidates.lengths == hop + 1, row[groups], total)
        previous = row
    return total
