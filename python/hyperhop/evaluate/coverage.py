"""What a ranking could reach at best: is the gold path a candidate, is an answer in reach?"""

import numpy as np

from hyperhop.evaluate.question import Question, names_of
from hyperhop.pathhd import PathHD
from hyperhop.pathhd.candidates import Candidates, name_ranks


class Coverage:
    """Measures one PathHD system, question by question; slower than asking it."""

    def __init__(self, system: PathHD) -> None:
        self.system = system
        self._known = names_of(system.kg)
        self._symbols = system.kg.symbols
        self._ranks = name_ranks(self._symbols)

    def __call__(self, question: Question) -> dict[str, float]:
        """Of one question, each 0 or 1.

        "topic_in_graph", "answer_in_graph": the topic, or any gold answer, is an entity of the
        graph. "candidate_coverage", where there are gold paths: one of them is among the sequences
        that the system ranks. "answer_coverage": one of those sequences leads to a gold answer.
        The last two are 0 where the topic is unknown. O(candidates and all their ends).
        """
        known = question.topic in self._known
        found = {
            "topic_in_graph": known,
            "answer_in_graph": not self._known.isdisjoint(question.answers),
            **self._reach(question, known),
        }
        return {name: float(value) for name, value in found.items()}

    def _reach(self, question: Question, known: bool) -> dict[str, bool]:
        candidate = answer = False
        if known and question.topic is not None:
            kg, walks = self.system.kg, self.system.walks
            topic = kg.entity_id(question.topic)
            sequences = walks.sequences(topic)
            candidates = Candidates(sequences, self._symbols, self._ranks)
            candidate = any(candidates.find(path) is not None for path in question.paths)
            ends = set(walks.paths(topic, sequences, np.arange(len(sequences))).ends.tolist())
            gold = {kg.entity_id(name) for name in question.answers if name in self._known}
            answer = not ends.isdisjoint(gold)
        reach = {"answer_coverage": answer}
        return reach | ({"candidate_coverage": candidate} if question.paths else {})
