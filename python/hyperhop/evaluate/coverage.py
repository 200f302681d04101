"""What a ranking could reach at best: is the gold path a candidate, is an answer in reach?"""

from hyperhop.evaluate.question import Question, names_of
from hyperhop.pathhd import PathHD
from hyperhop.pathhd.candidates import Candidates, name_ranks


class Coverage:
    """Measures one PathHD system, question by question; slower than asking it."""

    def __init__(self, system: PathHD) -> None:
        self._system = system
        self._known = names_of(system.kg)
        self._ranks = name_ranks(system.kg.symbols)

    def __call__(self, question: Question) -> dict[str, float]:
        """Of one question, each 0 or 1.

        "topic_in_graph", "answer_in_graph": the topic, or any gold answer, is an entity of the
        graph. "candidate_coverage" (where there are gold paths): one of them is among the
        sequences that the system ranks. "answer_coverage": one of those sequences leads to a gold
        answer. Both are 0 where the topic is unknown. O(candidates * their ends).
        """
        known = question.topic in self._known
        found = {
            "topic_in_graph": float(known),
            "answer_in_graph": float(not self._known.isdisjoint(question.answers)),
            "answer_coverage": 0.0,
        }
        if question.paths:
            found["candidate_coverage"] = 0.0
        return found | (self._reached(question) if known else {})
