"""The reader without a language model: the best path's ends are the answer."""

from time import perf_counter

from hyperhop.evidence import Answer, Constraint, Evidence, EvidencePath
from hyperhop.text.verbalize import Verbalizer


class VectorReader:
    """Answers with every end of the best relation sequence, in order of name; deterministic.

    Where evidence lists no sequences, the ends of the paths that share the first path's relations.
    Cites all paths of that sequence. No language model is called.
    """

    def __init__(self, verbalizer: Verbalizer | None = None) -> None:
        """`verbalizer` words answer and rationale; without labels if None."""
        self._words = Verbalizer() if verbalizer is None else verbalizer

    def read(self, question: str, evidence: Evidence) -> Answer:
        """The answer; without paths its text says so and `entities` is empty. O(paths)."""
        start = perf_counter()
        if not evidence.paths:
            about = f" that starts at {evidence.topic}" if evidence.topic is not None else ""
            return Answer(
                f"No answer: the graph has no path{about} for this question.",
                timings={"read": (perf_counter() - start) * 1e3},
            )
        best = (
            evidence.sequences[0].relations if evidence.sequences else evidence.paths[0].relations
        )
        citations = evidence.along(best)
        constraint = evidence.sequences[0].constraint if evidence.sequences else None
        if constraint is not None:
            citations = _meeting(evidence, constraint)
        entities = (
            list(evidence.sequences[0].ends)
            if evidence.sequences
            else sorted({evidence.paths[i].entities[-1] for i in citations})
        )
        cited = citations[:1] if constraint is None else citations[:2]
        return Answer(
            ", ".join(map(self._words.entity, entities)),
            entities,
            citations,
            self._rationale([evidence.paths[i] for i in cited], len(entities)),
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
        return ", then ".join(f'"{self._words.relation(symbol)}"' for symbol in path.relations)


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
