"""How far HyperNodes should grow: quality and time by the number of levels."""

from hyperhop.evaluate.passages.context import PassageContext
from hyperhop.evaluate.passages.studies.measured import COST, NOTE, RECALL, Measured, about, title
from hyperhop.evaluate.plots import Figure
from hyperhop.evaluate.studies.study import Study
from hyperhop.evaluate.tables import Column, Table

_LEVELS = (1, 2, 3, 4)


def run(context: PassageContext) -> Study:
    """N = 1 (seeds alone) to 4."""
    measured = Measured(context)
    rows = [measured.row(levels=levels) for levels in context.track(_LEVELS)]
    table = Table(
        title("Levels N", context),
        (Column("levels", "N", "d"), *RECALL, *COST),
        rows,
        (NOTE, *context.set.said),
    )
    figure = Figure(
        *(table.title, rows, "points", "search", "recall@5"),
        *("milliseconds a question, encoding it aside (median)", "recall@5, %"),
        name="levels",
    )
    return Study("levels", "expansion hops", about(context), table, figure)
