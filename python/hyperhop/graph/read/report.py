"""What reading met, and the builder it goes into."""

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from hyperhop._core import TripleBuilder
from hyperhop.graph.errors import MalformedLine

_EXCERPT_CHARACTERS = 80


@dataclass(frozen=True)
class BuildReport:
    """What building a graph met.

    Attributes:
        num_read: well-formed triples, duplicates included.
        num_duplicates: triples equal to an earlier one; they were merged.
        num_skipped: malformed lines (rows, items) that were left out.
        skipped: number and fault of the first ten of them.
        num_literals_skipped: triples left out because `literals` is "skip".
        num_blank_nodes_skipped: triples left out because `blank_nodes` is "skip"; one with a
            literal too counts here.
        format: what the source was read as, in words.
        unit: what `skipped` numbers: "line", "row" or "item".
    """

    num_read: int
    num_duplicates: int
    num_skipped: int
    skipped: tuple[tuple[int, str], ...]
    num_literals_skipped: int = 0
    num_blank_nodes_skipped: int = 0
    format: str = "triples"
    unit: str = "item"


class Intake:
    """A builder, together with what messages call its source.

    Readers give every answer of the builder to `check`, which raises at the first malformed line
    unless such lines are skipped.
    """

    def __init__(
        self, source: str, format: str, unit: str, expected: str, *, skip_bad: bool
    ) -> None:
        self.source = source
        self.format = format
        self.unit = unit
        self.expected = expected
        self.builder = TripleBuilder(skip_bad)
        self.num_literals_skipped = 0
        self.num_blank_nodes_skipped = 0

    def check(self, good: bool) -> None:
        """Raise MalformedLine for the line that the builder has just refused."""
        if not good:
            line, found, excerpt = self.builder.bad_lines[-1]
            raise MalformedLine(self.source, line, self.expected, _fault(found, excerpt), self.unit)

    def reject(self, number: int, found: str) -> None:
        """Skip a malformed line, or raise MalformedLine."""
        self.check(self.builder.reject(number, found))

    def finish(self) -> tuple[dict[str, npt.NDArray[Any]], BuildReport]:
        """The arrays of the graph, and the report."""
        arrays = self.builder.build()
        skipped = ((line, _fault(found, text)) for line, found, text in self.builder.bad_lines)
        report = BuildReport(
            self.builder.num_read,
            self.builder.num_duplicates,
            self.builder.num_bad,
            tuple(skipped),
            self.num_literals_skipped,
            self.num_blank_nodes_skipped,
            self.format,
            self.unit,
        )
        return arrays, report


def _fault(found: str, excerpt: bytes) -> str:
    if not excerpt:
        return found
    return f"{found} in {shortened(excerpt.decode('utf-8', 'backslashreplace'))}"


def shortened(text: str) -> str:
    """The beginning of a text, quoted."""
    cut = " ..." if len(text) > _EXCERPT_CHARACTERS else ""
    return f"{text[:_EXCERPT_CHARACTERS]!r}{cut}"
