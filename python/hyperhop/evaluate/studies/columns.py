"""Columns that the studies of trained models share."""

from hyperhop.evaluate.tables import Column

HITS = (
    Column("hits_at_1", "hits@1", ".3f"),
    Column("hits_at_5", "hits@5", ".3f"),
    Column("hits_at_10", "hits@10", ".3f"),
)
COSTS = (
    Column("parameters", "parameters", ",.0f"),
    Column("epochs", "epochs", "d"),
    Column("seconds_per_epoch", "s/epoch", ".1f"),
    Column("milliseconds", "ms", ".2f"),
    Column("peak_megabytes", "MB", ",.0f"),
)
COSTS_NOTE = (
    "s/epoch: training and dev questions. ms: a question, in batches, texts aside. MB: most memory "
    "of this process so far, graph and text vectors included."
)
