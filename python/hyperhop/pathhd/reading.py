"""How a question is read: about one topic, or about two at once."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.clauses import Clause, Clauses, masked_others, split_clauses
from hyperhop.pathhd.planned import Ids, Planned
from hyperhop.pathhd.planners.protocol import Planner, Span, Start, plan_all

Topic = tuple[int, Span | None]  # entity, and where the question names it


_SLACK = 0.02  # on dev of PathQuestion and MetaQA no question about one topic is lost


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
    both (see `split_clauses`) and is planned better than the whole question from one of them.
    """
    if len(topics) == 1:  # nearly always, and then there is nothing to weigh
        ((entity, mention),) = topics
        candidates, hubs = exists(entity)
        clause = Clause(question, mention)
        (plans,) = plan_all(planner, question, [Start(*clause, candidates)])
        return Reading(Planned(entity, clause, candidates, hubs, plans), [])
    known = {entity: exists(entity) for entity, _ in topics}
    clauses = [(entity, Clause(question, mention)) for entity, mention in topics]
    if given:
        spans = [mention for _, mention in topics]
        clauses = [(one, masked_others(question, mention, spans)) for one, mention in topics]
    pairs = _pairs(question, topics, given)
    wanted = clauses + [
        side for a, b, said in pairs for side in ((a, said.first), (b, said.second))
    ]
    starts = [Start(*clause, known[entity][0]) for entity, clause in wanted]
    all_plans = plan_all(planner, question, starts)
    planned = [
        Planned(entity, clause, *known[entity], plans)
        for (entity, clause), plans in zip(wanted, all_plans, strict=True)
    ]
    singles, sides = planned[: len(clauses)], planned[len(clauses) :]
    single = max(singles, key=lambda one: one.weight)  # the first of equals
    found = [
        pair
        for pair, (_, _, said) in zip(zip(sides[::2], sides[1::2], strict=True), pairs, strict=True)
        if given or _is_better(pair, said.shared, single)
    ]
    return Reading(single, sorted(found, key=_loss))


def _loss(pair: tuple[Planned, Planned]) -> float:
    return -(pair[0].weight + pair[1].weight)


def _is_better(pair: tuple[Planned, Planned], shared: bool, single: Planned) -> bool:
    """Whether two clauses are planned better than the whole question.

    Each must be planned as well, or two mentions of which one is a common word would be a pair;
    and their mean better, unless the same is said of both: then there is nothing to gain.
    """
    worse, better = sorted(side.weight for side in pair)
    gains = (worse + better) / 2 > single.weight
    return worse >= single.weight - _SLACK and (shared or gains)


def _pairs(question: str, topics: Sequence[Topic], given: bool) -> list[tuple[int, int, Clauses]]:
    """Pairs of topics, and what is said of each, that may be meant together."""
    pairs = []
    for (first, span), (second, other) in combinations(topics, 2):
        found = None
        if span is not None and other is not None:
            if span[1] <= other[0]:
                found = split_clauses(question, span, other)
            elif other[1] <= span[0]:
                turned = split_clauses(question, other, span)
                found = turned and Clauses(turned.second, turned.first, turned.shared)
        if found is None and given:
            spans = [span, other]
            masked = [masked_others(question, one, spans) for one in spans]
            found = Clauses(masked[0], masked[1], True)
        if found is not None and first != second:
            pairs.append((first, second, found))
    return pairs
