"""The reader without a language model: the best path's ends are the answer."""

from time import perf_counter

from hyperhop.evidence import Answer, Evidence, EvidencePath
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
        entities = (
            list(evidence.sequences[0].ends)
            if evidence.sequences
            else sorted({evidence.paths[i].entities[-1] for i in citations})
        )
        return Answer(
            ", ".join(map(self._words.entity, entities)),
            entities,
            citations,
            self._rationale(evidence.paths[citations[0]], len(entities)),
            timings={"read": (perf_counter() - start) * 1e3},
        )

    def _rationale(self, path: EvidencePath, count: int) -> str:
        steps = ", then ".join(f'"{self._words.relation(symbol)}"' for symbol in path.relations)
        ends = "one entity" if count == 1 else f"{count} entities"
        shown = self._words.path(path.entities, path.relations)
        topic = self._words.entity(path.entities[0])
        return f"Following {steps} from {topic} leads to {ends}: {shown}."
