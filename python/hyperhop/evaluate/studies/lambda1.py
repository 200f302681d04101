"""Figure 2: how much the flow's entropy weighs in the loss."""

from hyperhop.evaluate.plots import Figure
from hyperhop.evaluate.studies.columns import HITS
from hyperhop.evaluate.studies.study import Study
from hyperhop.evaluate.tables import Column, Table
from hyperhop.evaluate.trained.context import Setting, TrainedContext, Training

_WEIGHTS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.5)
_COLUMNS = (
    Column("lambda_1", "lambda_1", "g"),
    *HITS,
    Column("candidates", "candidates", ".2f"),
    Column("on_the_way", "on the way", ".2f"),
    Column("epochs", "epochs", "d"),
)


def run(context: TrainedContext) -> Study:
    """The grid of the paper, and 0."""
    settings = [Setting(f"lambda_1 {weight:g}", {"lambda_1": weight}) for weight in _WEIGHTS]
    rows = [
        {**row, "lambda_1": weight, "on_the_way": _mean(row["candidates_by_hop"])}
        for row, weight in zip(
            context.each("lambda1", settings, Training.measured), _WEIGHTS, strict=True
        )
    ]
    notes = (
        "candidates: exp of the entropy of the last flow, mean over questions; on the way: the "
        "same, mean over all hops.",
    )
    table = Table(
        f"Weight of the flow's entropy on {context.title_with_seed}", _COLUMNS, rows, notes
    )
    labels = ("effective candidates", "hits@1")
    figure = Figure(
        table.title, rows, "points", "candidates", "hits_at_1", *labels, name="lambda_1"
    )
    return Study("lambda1", "figure 2", context.about, table, figure)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
