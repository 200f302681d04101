"""What a ranking could reach at best: is the gold path a candidate, is an answer in reach?"""

import numpy as np

from hyperhop.evaluate.question import Question, names_of
from hyperhop.pathhd import PathHD
from hyperhop.pathhd.candidates import Candidates, name_ranks
from hyperhop.rsf import RSF


class Coverage:
    """Measures one system, question by question; of PathHD slower than asking it."""

    def __init__(self, system: PathHD | RSF) -> None:
        self.system = system
        self._known = names_of(system.kg)
        self._symbols = system.kg.symbols
        self._ranks = name_ranks(self._symbols)

    def __call__(self, question: Question) -> dict[str, float]:
        """Of one question, each 0 or 1.

        "topic_in_graph", "answer_in_graph": the topic, or any gold answer, is an entity of the
        graph. "candidate_coverage", of PathHD where there are gold paths: one of them is among the
        sequences that the system ranks. "answer_coverage": one of those sequences leads to a gold
        answer, or of RSF, a gold answer is in the ball that flows go over. The last two are 0 where
        the topic is unknown. O(candidates and all their ends), or O(ball).
        """
        known = question.topic in self._known
        found = {
            "topic_in_graph": known,
            "answer_in_graph": not self._known.isdisjoint(question.answers),
            **self._reach(question, known),
        }
        return {name: float(value) for name, value in found.items()}

    def _reach(self, question: Question, known: bool) -> dict[str, bool]:
        if not known or question.topic is None:
            reach = {"answer_coverage": False}
            paths = question.paths and isinstance(self.system, PathHD)
            return reach | ({"candidate_coverage": False} if paths else {})
        gold = [self.system.kg.entity_id(one) for one in question.answers if one in self._known]
        if isinstance(self.system, RSF):
            return {"answer_coverage": len(self.system.ball(question.topic).nodes_of(gold)) > 0}
        walks = self.system.walks
        topic = self.system.kg.entity_id(question.topic)
        sequences = walks.sequences(topic)
        ends = walks.paths(topic, sequences, np.arange(len(sequences))).ends.tolist()
        reach = {"answer_coverage": not set(ends).isdisjoint(gold)}
        if question.paths:
            candidates = Candidates(sequences, self._symbols, self._ranks)
            found = any(candidates.find(path) is not None for path in question.paths)
            reach["candidate_coverage"] = found
        return reach
