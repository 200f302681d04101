"""How a question is read: about one topic, or about two at once."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.clauses import Clause, masked_others, split_clauses
from hyperhop.pathhd.planned import Ids, Planned
from hyperhop.pathhd.planners.protocol import Planner, Span, Start, plan_all

Topic = tuple[int, Span | None]  # entity, and where the question names it

# By how much the mean of two plans must outweigh the best single one where nobody said that there
# are two topics. Chosen on dev of PathQuestion and MetaQA with topics linked.
MARGIN = 0.0


class Reading(NamedTuple):
    """The best topic alone, and the pairs of topics that are to be tried before, best first."""

    single: Planned
    pairs: list[tuple[Planned, Planned]]


def read_topics(
    planner: Planner,
    question: str,
    topics: Sequence[Topic],
    exists: Callable[[int], tuple[Candidates, Ids]],
    given: bool,
) -> Reading:
    """Plans from each topic and each pair of topics, all in one call of the planner.

    `exists` tells the sequences from an entity and the hubs met. Two topics that were `given` are
    always a pair. Of topics that were found in the question two are one if something is said of
    both (see `split_clauses`) and the two plans outweigh the best single plan.
    """
    known = {entity: exists(entity) for entity, _ in topics}
    clauses = [(entity, Clause(question, mention)) for entity, mention in topics]
    if given:
        spans = [mention for _, mention in topics]
        clauses = [(one, masked_others(question, mention, spans)) for one, mention in topics]
    pairs = list(_pairs(question, topics, given))
    wanted = clauses + [side for pair in pairs for side in pair]
    starts = [Start(*clause, known[entity][0]) for entity, clause in wanted]
    planned = [
        Planned(entity, clause, *known[entity], plans)
        for (entity, clause), plans in zip(wanted, plan_all(planner, question, starts), strict=True)
    ]
    singles, sides = planned[: len(clauses)], planned[len(clauses) :]
    single = max(singles, key=lambda one: one.weight)  # the first of equals
    found = sorted(zip(sides[::2], sides[1::2], strict=True), key=lambda pair: -_weight(pair))
    if not given:
        found = [pair for pair in found if _weight(pair) > single.weight + MARGIN]
    return Reading(single, found)


def _weight(pair: tuple[Planned, Planned]) -> float:
    return (pair[0].weight + pair[1].weight) / 2


def _pairs(
    question: str, topics: Sequence[Topic], given: bool
) -> list[tuple[tuple[int, Clause], tuple[int, Clause]]]:
    """Entities and clauses of each pair of topics that may be one."""
    pairs = []
    for (first, span), (second, other) in combinations(topics, 2):
        found = None
        if span is not None and other is not None:
            if span[1] <= other[0]:
                found = split_clauses(question, span, other)
            elif other[1] <= span[0]:
                turned = split_clauses(question, other, span)
                found = None if turned is None else (turned[1], turned[0])
        if found is None and given:
            spans = [span, other]
            found = masked_others(question, span, spans), masked_others(question, other, spans)
        if found is not None and first != second:
            pairs.append(((first, found[0]), (second, found[1])))
    return pairs
