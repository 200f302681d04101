"""How many of the passages shown HyperNodes should choose: the paper's quota study."""

from hyperhop.evaluate.passages.context import PassageContext
from hyperhop.evaluate.passages.studies.measured import COST, NOTE, RECALL, Measured, about, title
from hyperhop.evaluate.plots import Figure
from hyperhop.evaluate.studies.study import Study
from hyperhop.evaluate.tables import Column, Table

_PASSAGES = 5


def run(context: PassageContext) -> Study:
    """M = 0 (the dense list alone) to M = K = 5 (HyperNodes alone).

    HELP's dense list is that of dense retrieval only where `named` and `lexical` are 0.
    """
    measured = Measured(context)
    rows = [
        measured.row(quota=quota, passages=_PASSAGES)
        for quota in context.track(range(_PASSAGES + 1))
    ]
    table = Table(
        title(f"Quota M of {_PASSAGES}", context),
        (Column("quota", "M", "d"), *RECALL, *COST),
        rows,
        (NOTE, *context.set.said),
    )
    figure = Figure(*(table.title, rows, "lines", "quota", "recall@5", "M", "recall@5, %"))
    return Study("quota", "quota of the hybrid retrieval", about(context), table, figure)
