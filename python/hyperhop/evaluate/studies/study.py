"""What a study comes to: one table, and what to draw of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hyperhop.evaluate.plots import Figure
from hyperhop.evaluate.tables import Table


@dataclass(frozen=True)
class Study:
    """One study of the paper, measured.

    Attributes:
        name: as `studies.NAMES` has it.
        paper: the table or figure that it repeats.
        about: benchmark, part, split, seed, planner, encoder, versions, day: what was run.
        table: the numbers.
        figure: what to draw of them.
    """

    name: str
    paper: str
    about: Mapping[str, Any]
    table: Table
    figure: Figure

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; each row by the keys of its columns."""
        return {
            "study": self.name,
            "paper": self.paper,
            **self.about,
            "title": self.table.title,
            "notes": list(self.table.notes),
            "rows": [dict(row) for row in self.table.rows],
        }
