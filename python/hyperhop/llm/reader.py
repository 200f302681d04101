"""The reader without a language model: where the best path, or the best HyperNode, leads."""

from dataclasses import replace
from time import perf_counter

from hyperhop.evidence import Answer, Constraint, Evidence, EvidenceHyperNode, EvidencePath
from hyperhop.llm.pointing import pointed_at
from hyperhop.text.verbalize import Verbalizer


class VectorReader:
    """Answers with what `Evidence.answering` tells; deterministic.

    Cites all paths of the best sequence, or, where the evidence ranks entities itself, all that end
    in an answer. No language model is called.

    Of passages alone it cites those that state a triple of the nearest HyperNode of which any does,
    and answers with the entity which that HyperNode points at (see `pointed_at`). Where passages
    were found without HyperNodes it cites them all and names no entity.
    """

    def __init__(self, verbalizer: Verbalizer | None = None) -> None:
        """`verbalizer` words answer and rationale; without labels if None."""
        self._words = Verbalizer() if verbalizer is None else verbalizer

    def read(self, question: str, evidence: Evidence) -> Answer:
        """The answer; without paths its text says so and `entities` is empty. O(paths)."""
        start = perf_counter()
        if evidence.passages and not evidence.paths:
            answer = _of_passages(question, evidence)
            return replace(answer, timings={"read": (perf_counter() - start) * 1e3})
        if not evidence.paths and evidence.scoring is not None:
            return Answer(
                "No answer: there are no passages.",
                timings={"read": (perf_counter() - start) * 1e3},
            )
        if not evidence.paths:
            about = f" that starts at {evidence.topic}" if evidence.topic is not None else ""
            return Answer(
                f"No answer: the graph has no path{about} for this question.",
                timings={"read": (perf_counter() - start) * 1e3},
            )
        constraint = evidence.sequences[0].constraint if evidence.sequences else None
        entities = evidence.answering()
        citations = _citations(evidence, entities, constraint)
        cited = citations[:1] if constraint is None else citations[:2]
        return Answer(
            ", ".join(map(self._words.entity, entities)),
            entities,
            citations,
            self._rationale([evidence.paths[i] for i in cited], _ends(evidence, entities)),
            timings={"read": (perf_counter() - start) * 1e3},
        )

    def _rationale(self, paths: list[EvidencePath], count: int) -> str:
        """In words: one path, or two from different topics that meet."""
        followed = " and ".join(
            f"{self._steps(path)} from {self._words.entity(path.entities[0])}" for path in paths
        )
        ends = "one entity" if count == 1 else f"{count} entities"
        shown = "; ".join(self._words.path(path.entities, path.relations) for path in paths)
        return f"Following {followed} leads to {ends}: {shown}."

    def _steps(self, path: EvidencePath) -> str:
        steps = (f'"{self._words.relation(symbol)}"' for symbol in path.relations)
        return ", then ".join(steps) or "no relation"


def _of_passages(question: str, evidence: Evidence) -> Answer:
    """The answer where there are passages alone, whose indexes citations then are."""
    node = next((one for one in evidence.hypernodes if one.passages), None)
    if node is None:
        return Answer(
            "No answer in one name: the cited passages come nearest to the question.",
            citations=list(range(len(evidence.passages))),
        )
    entity = pointed_at(question, node.triples)
    return Answer(
        "No answer: the question names all entities of the nearest facts."
        if entity is None
        else entity,
        [] if entity is None else [entity],
        list(node.passages),
        _facts(node, evidence, entity),
    )


def _facts(node: EvidenceHyperNode, evidence: Evidence, entity: str | None) -> str:
    """In words: the facts, who states them, and what they point at."""
    facts = "; ".join(" - ".join(triple) for triple in node.triples)
    titles = (evidence.passages[place].title for place in node.passages)
    ids = (evidence.passages[place].id for place in node.passages)
    named = ", ".join(f'"{title or id}"' for title, id in zip(titles, ids, strict=True))
    points = "" if entity is None else f", which point at {entity}"
    return f"Nearest to the question are the facts {facts}{points}. Stated in {named}."


def _citations(evidence: Evidence, entities: list[str], constraint: Constraint | None) -> list[int]:
    """Indexes of the paths that lead to the answers."""
    if evidence.answers:
        named = set(entities)
        return [i for i, path in enumerate(evidence.paths) if path.entities[-1] in named]
    if constraint is not None:
        return _meeting(evidence, constraint)
    best = evidence.sequences[0].relations if evidence.sequences else evidence.paths[0].relations
    return evidence.along(best)


def _ends(evidence: Evidence, entities: list[str]) -> int:
    """How many answers the first cited path's relations lead to."""
    if not evidence.answers:
        return len(entities)
    alike = evidence.along(evidence.paths[0].relations)
    return len(set(entities).intersection(evidence.paths[i].entities[-1] for i in alike))


def _meeting(evidence: Evidence, constraint: Constraint) -> list[int]:
    """Indexes of the paths of the best sequence and its constraint to where both lead."""
    best = evidence.sequences[0]
    wanted = {
        (evidence.topic, tuple(best.relations)),
        (constraint.topic, tuple(constraint.relations)),
    }
    ends = set(best.ends)
    return [
        i
        for i, path in enumerate(evidence.paths)
        if (path.entities[0], tuple(path.relations)) in wanted and path.entities[-1] in ends
    ]
