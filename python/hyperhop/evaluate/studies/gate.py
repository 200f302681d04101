"""Table 6 and figure 3: the gate, hop by hop, and a model without it."""

from hyperhop.evaluate.plots import Figure
from hyperhop.evaluate.studies.columns import HITS
from hyperhop.evaluate.studies.study import Study
from hyperhop.evaluate.tables import Column, Table
from hyperhop.evaluate.trained.context import Setting, TrainedContext, Training

_ON = {"content_bias": True, "node_text": "used"}
_SETTINGS = (
    Setting("with gate", _ON | {"gate": True}),
    Setting("lambda = 1", _ON | {"gate": False}),
)


def run(context: TrainedContext) -> Study:
    """A model that learns when to look at what nodes are about, and one that always does."""
    hops = range(1, context.settings.model.hops + 1)
    rows = [
        {**row, **{f"hop_{hop}": row["gates"][hop - 1] for hop in hops}}
        for row in context.each("gate", _SETTINGS, Training.measured)
    ]
    columns = (
        Column("setting", "model"),
        *HITS,
        *(Column(f"hop_{hop}", f"hop {hop}", ".3f") for hop in hops),
    )
    notes = ("hop 1, 2 ...: mean gate lambda of all questions; 1 weighs nodes by their content.",)
    table = Table(f"The gate on {context.title_with_seed}", columns, rows, notes)
    points = [
        {"setting": row["setting"], "hop": hop, "gate": row[f"hop_{hop}"]}
        for row in rows
        for hop in hops
    ]
    figure = Figure(table.title, points, "lines", "hop", "gate", "hop", "mean gate", by="setting")
    return Study("gate", "table 6 and figure 3", context.about, table, figure)
