"""Seeds and beam: how many triples to start from, how many HyperNodes to keep."""

from itertools import product

from hyperhop.evaluate.passages.context import PassageContext
from hyperhop.evaluate.passages.studies.measured import COST, NOTE, RECALL, Measured, about, title
from hyperhop.evaluate.plots import Figure
from hyperhop.evaluate.studies.study import Study
from hyperhop.evaluate.tables import Column, Table

_SEEDS = (1, 2, 3, 4, 5)
_BEAMS = (30, 50, 70, 100)


def run(context: PassageContext) -> Study:
    """n seeds by k HyperNodes kept."""
    measured = Measured(context)
    points = list(product(_SEEDS, _BEAMS))
    rows = [measured.row(n=seeds, k=beam) for seeds, beam in context.track(points)]
    table = Table(
        title("Seeds n and beam k", context),
        (Column("n", "n", "d"), Column("k", "k", "d"), *RECALL, *COST),
        rows,
        (NOTE, *context.set.said),
    )
    figure = Figure(
        *(table.title, rows, "lines", "n", "recall@5", "seeds n", "recall@5, %"), by="k"
    )
    return Study("beam", "initial triples and beam", about(context), table, figure)
