"""Table 3, with the costs of table 2: what each part of the flow model is worth."""

from typing import Any

from hyperhop.evaluate.plots import Figure
from hyperhop.evaluate.studies.columns import COSTS, COSTS_NOTE, HITS, SETS, SETS_NOTE
from hyperhop.evaluate.studies.study import Study
from hyperhop.evaluate.tables import Column, Table
from hyperhop.evaluate.trained.context import Setting, TrainedContext, Training

_FULL: dict[str, Any] = {
    "content_bias": True,
    "gate": True,
    "query_update": True,
    "node_text": "used",
}
_WITHOUT: dict[str, dict[str, Any]] = {
    "query update": {"query_update": False},
    "content bias": {"content_bias": False},
    "dynamic gate": {"gate": False},
    "flow sparsity": {"lambda_1": 0.0},
    "node text": {"node_text": "dropped"},
    "STAY": {"stay": False},
}
_COLUMNS = (
    Column("setting", "model"),
    *HITS,
    Column("difference", "change", "+.3f"),
    *SETS,
    Column("candidates", "candidates", ".1f"),
    *COSTS,
)


def run(context: TrainedContext) -> Study:
    """A model with all its parts, and one trained without each; hits@10 and F1 are the paper's.

    The paper's F1 compares words of an answer in words; a flow without a reader has a set of
    entities, whose F1 this is.

    Those without node text and without STAY are ours, as is the other way to read a
    question, where the encoder can.
    """
    other = "pooled" if context.settings.model.question == "tokens" else "tokens"
    can = other == "pooled" or hasattr(context.encoder, "encode_tokens")
    settings = [
        Setting("full", _FULL),
        *(Setting(f"without {name}", _FULL | changes) for name, changes in _WITHOUT.items()),
        *([Setting(f"question {other}", _FULL | {"question": other})] if can else []),
    ]
    rows = context.each("switches", settings, Training.measured)
    full = rows[0]["hits_at_10"]
    rows = [{**row, "difference": row["hits_at_10"] - full} for row in rows]
    notes = (
        "change: of hits@10, from the full model's. candidates: exp of the last flow's entropy, "
        f"mean. {SETS_NOTE} {COSTS_NOTE}",
    )
    table = Table(f"Switches on {context.title_with_seed}", _COLUMNS, rows, notes)
    figure = Figure(table.title, rows, "bars", "setting", "hits_at_10", "model", "hits@10")
    return Study("switches", "tables 2 and 3", context.about, table, figure)
