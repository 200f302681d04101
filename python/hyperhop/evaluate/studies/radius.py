"""Table 5: how far from the topic the subgraph reaches."""

from hyperhop.evaluate.plots import Figure
from hyperhop.evaluate.studies.columns import COSTS, COSTS_NOTE, HITS
from hyperhop.evaluate.studies.study import Study
from hyperhop.evaluate.tables import Column, Table
from hyperhop.evaluate.trained.context import Setting, TrainedContext, Training

_COLUMNS = (
    Column("radius", "K", "d"),
    Column("in_reach", "in reach", ".3f"),
    *HITS,
    *COSTS,
)


def run(context: TrainedContext) -> Study:
    """Radius 1 up to one more than the hops of a flow, which stay the same."""
    radii = range(1, context.settings.model.hops + 2)
    settings = [Setting(f"radius {k}", {"radius": k, "layout": "packed"}) for k in radii]
    found = context.each("radius", settings, Training.measured, may_miss=True)
    rows = [{**row, "radius": k} for row, k in zip(found, radii, strict=True)]
    hops = context.settings.model.hops
    notes = (
        f"T = {hops} hops throughout. in reach: questions with an answer in their subgraph, which "
        "no hits@k can exceed; where no training question has one, nothing is trained and all "
        f"miss. {COSTS_NOTE}",
    )
    table = Table(f"Radius of the subgraph on {context.title_with_seed}", _COLUMNS, rows, notes)
    figure = Figure(
        *(table.title, rows, "lines", "radius", "hits_at_1"), *("radius K, in hops", "hits@1")
    )
    return Study("radius", "table 5", context.about, table, figure)
