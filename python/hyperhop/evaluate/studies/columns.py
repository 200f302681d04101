"""Columns that the studies of trained models share."""

from hyperhop.evaluate.tables import Column

HITS = (
    Column("hits_at_1", "hits@1", ".3f"),
    Column("hits_at_5", "hits@5", ".3f"),
    Column("hits_at_10", "hits@10", ".3f"),
)
SETS = (
    Column("precision", "precision", ".3f"),
    Column("recall", "recall", ".3f"),
    Column("f1", "F1", ".3f"),
)
SETS_NOTE = (
    "precision, recall, F1: of the set of entities that answer against all gold answers, by name, "
    "means of questions; the share of flow that tells which answer is chosen on dev."
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
