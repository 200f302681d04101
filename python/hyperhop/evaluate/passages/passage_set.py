"""What all sets of questions with gold passages are read into."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from hyperhop.evaluate.question import Question
from hyperhop.help import Passage, Triple


@dataclass(frozen=True)
class PassageSet:
    """Questions, the passages they are asked on, and the triples of those, if there are any.

    Attributes:
        name, title: as it is asked for, and as tables call it.
        passages: distinct; ids are positions.
        triples: of each passage; None where nobody extracted any: what needs triples cannot run.
        questions: all of them, in file order.
        oracle: the triples are gold evidence of these very questions. What uses them is an upper
            bound, no result.
        notes: what every number must be read with.
    """

    name: str
    title: str
    passages: Sequence[Passage]
    triples: Sequence[Sequence[Triple]] | None
    questions: list[Question]
    oracle: bool = False
    notes: tuple[str, ...] = field(default_factory=tuple)

    @property
    def said(self) -> tuple[str, ...]:
        """The notes, and what cannot run."""
        if self.triples is not None:
            return self.notes
        return (*self.notes, "Nobody extracted triples of these passages: help and ppr need them.")
