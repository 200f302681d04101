"""Tables of results: one description, written as Markdown, LaTeX or plain cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_LATEX = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
}


@dataclass(frozen=True)
class Column:
    """One column: `key` in a row, `head` above it, `form` a format such as ".3f"; "" for text."""

    key: str
    head: str
    form: str = ""

    def cell(self, row: Mapping[str, Any]) -> str:
        """The value as printed; "-" where the row has none. A pair is an interval."""
        value = row.get(self.key)
        if value is None:
            return "-"
        if isinstance(value, tuple | list):
            return " to ".join(format(part, self.form) for part in value)
        return format(value, self.form)


@dataclass(frozen=True)
class Table:
    """Rows as plain mappings, and how to print them. `notes` stand below."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def heads(self) -> list[str]:
        """What stands above the columns."""
        return [column.head for column in self.columns]

    def cells(self) -> list[list[str]]:
        """All values as printed, row by row."""
        return [[column.cell(row) for column in self.columns] for row in self.rows]


def markdown(table: Table) -> str:
    """A pipe table with its title above and its notes below; numbers are set right."""
    marks = ["---:" if column.form else "---" for column in table.columns]
    body = [[_markdown_text(cell) for cell in row] for row in (table.heads, *table.cells())]
    lines = ["| " + " | ".join(row) + " |" for row in (body[0], marks, *body[1:])]
    parts = [f"**{_markdown_text(table.title)}**", "\n".join(lines)]
    return "\n\n".join([*parts, *map(_markdown_text, table.notes)]) + "\n"


def latex(table: Table) -> str:
    """A `table` with a caption that compiles without any package."""
    layout = "".join("r" if column.form else "l" for column in table.columns)
    lines = [" & ".join(map(_latex_text, row)) + r" \\" for row in (table.heads, *table.cells())]
    caption = " ".join([f"{table.title}.", *table.notes])
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_latex_text(caption)}}}",
            rf"\begin{{tabular}}{{{layout}}}",
            r"\hline",
            lines[0],
            r"\hline",
            *lines[1:],
            r"\hline",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _markdown_text(text: str) -> str:
    one_line = " ".join(text.split())
    return "".join(f"\\{letter}" if letter in "\\|*_`<[]" else letter for letter in one_line)


def _latex_text(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in " ".join(text.split()))
