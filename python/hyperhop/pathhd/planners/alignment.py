"""Scores of relation sequences against the groups of a question, given how alike words are."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners.lexicon import RelationLexicon
from hyperhop.pathhd.planners.protocol import Plans, Span, ranked
from hyperhop.pathhd.planners.question import Group, parse_question
from hyperhop.text.words import stem

Floats = npt.NDArray[np.float32]
# How alike some distinct question words (rows) and vocabulary words (columns) are, in [0, 1]
WordSimilarity = Callable[[Sequence[str]], Floats]

# Chosen on the dev parts of PathQuestion (`disjoint`, seed 0) and MetaQA, all seven sets together,
# with both planners. Beside words matched one by one, cosines of groups, of whole paths, and how
# much of a path's words the question has, gained nothing.
_STEPS, _LENGTH = 0.1, 0.02  # for each step too few or too many, and for each step
_CONTEXT = 0.5  # a domain or type word says less than the relation's own name
_STEP = 0.3  # what may be no step is one only if some relation is at least this alike
_NAMED = 0.6  # a verb this alike is a step beside a noun that is a relation's own
_INVERSE = 0.02  # forward is the rule ...
_FORWARD = 0.1  # ... but not in "whose capital is Lima"


@dataclass(frozen=True)
class Reading:
    """A question as read against one graph, one row for each group.

    Attributes:
        groups: the words of each group.
        backwards, returns: bool (groups,), see Group.
        similarity: float32 (groups, vocabulary), of the group's word that is most alike.
    """

    groups: list[tuple[str, ...]]
    backwards: npt.NDArray[np.bool_]
    returns: npt.NDArray[np.bool_]
    similarity: Floats


def plan_by_words(
    question: str,
    mention: Span | None,
    candidates: Candidates,
    lexicon: RelationLexicon,
    alike: WordSimilarity,
) -> Plans:
    """All candidates, best first."""
    reading = read_groups(split_question(question, mention, lexicon), lexicon, alike)
    return ranked(align(reading, lexicon, candidates), candidates)


def split_question(question: str, mention: Span | None, lexicon: RelationLexicon) -> list[Group]:
    """Groups of the question, the one nearest the topic first, each about one relation at most."""
    parsed = parse_question(question, mention, lexicon.keep)
    return [part for group in parsed for part in _split(group, lexicon)]


def read_groups(
    groups: Sequence[Group], lexicon: RelationLexicon, alike: WordSimilarity
) -> Reading:
    """Groups of a question, hop by hop, with their similarities to the words of all relations.

    What is asked or in apposition is dropped where no relation is like it; a predicate joins what
    is asked. A loose group joins the one before where both say the same relation or one of them
    says none, as do two groups that together are one relation's literal name ("place of birth").
    """
    words = list(dict.fromkeys(word for group in groups for word in group.words))
    similarity = alike(words)
    rows = {word: row for row, word in enumerate(words)}
    if similarity.size:
        groups = _Steps(lexicon, rows, similarity).of(groups)
    flat = [rows[word] for group in groups for word in group.words]
    lengths = np.array([len(group.words) for group in groups], np.int64)
    best = similarity[:0]
    if len(groups):
        best = np.maximum.reduceat(similarity[flat], np.cumsum(lengths) - lengths, axis=0)
    return Reading(
        [group.words for group in groups],
        np.array([group.backwards for group in groups], bool),
        np.array([group.returns for group in groups], bool),
        best,
    )


def _split(group: Group, lexicon: RelationLexicon) -> list[Group]:
    """Parts of a group, nearest to the topic first; naming another relation starts a new one."""
    if group.returns:
        return [group]
    if len(group.words) == 1:
        return [*_generations(group, lexicon)]
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
    last = replace(last, backwards=group.backwards)
    # "which countries border X": what is before the verb is the kind of the answer
    return [last, *rest[::-1]] if group.asked else [last, *rest[::-1], first]


def _generations(group: Group, lexicon: RelationLexicon) -> list[Group]:
    """ "grandson" is the son of a son, unless a relation is named so."""
    (word,) = group.words
    kin = word.removeprefix("grand")
    if kin == word or len(kin) < 3 or lexicon.naming(word):
        return [group]
    return [Group((kin,), outward=group.outward), replace(group, words=(kin,))]


class _Steps:
    """Finds the groups that are steps, see `read_groups`."""

    def __init__(
        self, lexicon: RelationLexicon, rows: Mapping[str, int], similarity: Floats
    ) -> None:
        self._lexicon, self._rows = lexicon, rows
        self._best: list[float] = similarity.max(axis=1).tolist()
        self._nearest: list[int] = similarity.argmax(axis=1).tolist()

    def of(self, groups: Sequence[Group]) -> list[Group]:
        found = self._joined_predicates(self._joined_loose(groups))
        found = [g for g in found if not g.asked or self._is_step(g)] or found[-1:]
        return self._joined_literal(found)

    def _is_step(self, group: Group) -> bool:
        return any(self._best[self._rows[word]] >= _STEP for word in group.words)

    def _relations(self, group: Group) -> Set[str]:
        word = max(group.words, key=lambda word: self._best[self._rows[word]])
        return self._lexicon.with_word[self._nearest[self._rows[word]]]

    def _joined_loose(self, groups: Sequence[Group]) -> list[Group]:
        """ "wrote the screenplay" is one step, "wrote the films" two."""
        found: list[Group] = []
        for group in groups:
            # before in the text: for words that are read towards the topic, that is the next group
            if found and group.outward and group.loose and self._same(found[-1], group):
                found[-1] = _merged(found[-1], group)
            elif (
                found and not found[-1].outward and found[-1].loose and self._same(group, found[-1])
            ):
                found[-1] = _merged(group, found[-1])
            else:
                found.append(group)
        return found

    def _same(self, before: Group, loose: Group) -> bool:
        if not (self._is_step(before) and self._is_step(loose)):
            return True
        return not self._relations(before).isdisjoint(self._relations(loose))

    def _joined_predicates(self, groups: Sequence[Group]) -> list[Group]:
        """ "which currency does X use" is one step, "in which country was X born" may be two."""
        found: list[Group] = []
        for group in groups:
            if found and found[-1].predicate and not self._both_named(found[-1], group):
                said = found.pop()
                group = replace(said, words=group.words + said.words, predicate=False)
            found.append(group)
        return found

    def _both_named(self, said: Group, asked: Group) -> bool:
        return (
            not said.backwards
            and any(map(self._lexicon.naming, asked.words))
            and any(self._best[self._rows[word]] >= _NAMED for word in said.words)
            and self._relations(said).isdisjoint(self._relations(asked))
        )

    def _joined_literal(self, groups: Sequence[Group]) -> list[Group]:
        joined: list[Group] = []
        for group in groups:
            if joined and self._lexicon.literal:
                both = (*group.words, *joined[-1].words)
                stems = frozenset(map(stem, both))
                # "the release of X 's release type" is two steps: no word of a name comes twice
                if len(stems) == len(both) and stems in self._lexicon.literal:
                    group = Group(both, backwards=joined.pop().backwards or group.backwards)
            joined.append(group)
        return joined


def _merged(before: Group, after: Group) -> Group:
    return replace(
        before,
        words=before.words + after.words,
        returns=before.returns or after.returns,
        backwards=before.backwards or after.backwards,
    )


def align(
    reading: Reading, lexicon: RelationLexicon, candidates: Candidates
) -> npt.NDArray[np.float64]:
    """Score of every candidate, float64 (N,).

    A group and a step are alike by the best pair of words and by how many of the relation's words
    the group has, half each. Groups and steps are aligned in order, each at most once (Needleman
    and Wunsch, without gap costs), but a group that returns takes a step and the same one back; the
    sum is divided by the larger count. Long sequences, and lengths that differ from the count of
    groups, cost a little. O(groups * length * N + groups * words of all relations).
    """
    lengths = np.maximum(candidates.lengths, 1)
    groups = len(reading.groups) + int(reading.returns.sum())
    scores: npt.NDArray[np.float64] = -_LENGTH * lengths - _STEPS * abs(groups - lengths)
    if groups == 0 or len(candidates) == 0:
        return scores
    relations = lexicon.relation[candidates.symbols]
    best, complete = lexicon.core.best_and_mean(reading.similarity)
    if lexicon.context is not None:
        context, _ = lexicon.context.best_and_mean(reading.similarity)
        best = np.maximum(best, _CONTEXT * context)
    steps: npt.NDArray[np.float64] = ((best + complete) / 2.0)[:, relations].astype(np.float64)
    inverse = lexicon.inverse[candidates.symbols]
    steps -= _INVERSE * inverse
    if reading.backwards.any():
        steps[reading.backwards] -= np.where(inverse, -_INVERSE, _FORWARD)
    signed = np.append(np.where(inverse, -relations - 1, relations + 1), 0)
    aligned = _ordered(steps, reading.returns, signed, candidates.table)
    return scores + aligned / np.maximum(lengths, groups)


def _ordered(
    steps: npt.NDArray[np.float64],
    returns: npt.NDArray[np.bool_],
    signed: npt.NDArray[np.int64],
    table: npt.NDArray[np.int64],
) -> npt.NDArray[np.float64]:
    """Best sum of an in-order alignment of groups and steps, for every row of `table`.

    `signed`: relation of each symbol, negative where it is walked backwards.
    """
    groups, count = len(steps), len(table)
    steps = np.append(steps, np.zeros((groups, 1)), axis=1)  # the last is for -1: beyond the end
    both_ways = np.flatnonzero(returns)
    # best sum of the first groups (rows) and the hops so far; and that of a hop less
    best = before = np.zeros((groups + 1, count))
    gain = np.zeros((groups, count))
    for hop, column in enumerate(table.T):
        last_gain, gain = gain, steps[:, column]
        new = best.copy()
        np.maximum(new[1:], best[:-1] + gain, out=new[1:])
        if hop and len(both_ways):
            there = signed[table[:, hop - 1]]
            back = there == -signed[column]
            both = before[both_ways] + last_gain[both_ways] + gain[both_ways]
            both -= _INVERSE * (there < 0)  # of the two directions, forward first
            new[both_ways + 1] = np.maximum(new[both_ways + 1], np.where(back, both, 0.0))
        np.maximum.accumulate(new, axis=0, out=new)
        before, best = best, new
    return np.asarray(best[groups], np.float64)
