"""The entity that a HyperNode points at."""

from collections.abc import Sequence

from hyperhop.text.mention import find_mention


def pointed_at(question: str, triples: Sequence[tuple[str, str, str]]) -> str | None:
    """The end of the chain of facts that leads away from what the question names.

    Of the entities that the question does not name, those of one triple alone are ends of the
    chain; the end that is most triples away from what the question names is pointed at. Ties go to
    tails, then to the first in order of the triples. None where the question names all of them.
    O(triples squared).
    """
    entities = dict.fromkeys(name for head, _, tail in triples for name in (head, tail))
    named = {entity for entity in entities if find_mention(question, entity)}
    steps = _steps_from(named, triples)

    def rank(entity: str) -> tuple[bool, int, bool]:
        uses = sum(entity in (head, tail) for head, _, tail in triples)
        return uses == 1, steps.get(entity, 0), any(entity == tail for _, _, tail in triples)

    return max((entity for entity in entities if entity not in named), key=rank, default=None)


def _steps_from(named: set[str], triples: Sequence[tuple[str, str, str]]) -> dict[str, int]:
    """How many triples away each entity is that can be reached from the named ones."""
    steps = dict.fromkeys(named, 0)
    for distance in range(1, len(triples) + 1):
        reached = {
            entity
            for head, _, tail in triples
            if head in steps or tail in steps
            for entity in (head, tail)
            if entity not in steps
        }
        steps |= dict.fromkeys(reached, distance)
    return steps
