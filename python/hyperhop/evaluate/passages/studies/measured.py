"""What the studies of settings have in common: a row for each of them, against dense retrieval."""

from collections.abc import Mapping
from typing import Any

from hyperhop.evaluate.machine import machine, versions
from hyperhop.evaluate.passages.comparison import row
from hyperhop.evaluate.passages.context import PassageContext
from hyperhop.evaluate.passages.run import PassageRun, measure
from hyperhop.evaluate.tables import Column

RECALL = (
    Column("recall@2", "recall@2", ".1f"),
    Column("recall@5", "recall@5", ".1f"),
    Column("interval", "95 %", ".1f"),
    Column("gain", "+/-", "+.1f"),
    Column("gain_interval", "95 %", "+.1f"),
    Column("all_passages@5", "all@5", ".1f"),
)
COST = (
    Column("encoder_calls", "encoded", ",.0f"),
    Column("search", "ms", ".2f"),
)
NOTE = (
    "Per cent of gold passages among the first 2 and 5; all@5: all of them. 95 %: bootstrap over "
    "questions; +/-: recall@5 less that of dense retrieval, paired. ms: median of a question "
    "without encoding it; encoded: candidates encoded for a question."
)


class Measured:
    """Runs of HELP under several settings, each compared with the same dense retrieval."""

    def __init__(self, context: PassageContext) -> None:
        """Asks dense retrieval. ValueError for a set without triples or gold passages."""
        context.check("help")
        if not any(question.passages for question in context.questions):
            raise ValueError(f"study: {context.set.title} has no gold passages to be recalled")
        self.context = context
        self._dense = measure(context, "dense")

    def row(self, **options: Any) -> dict[str, Any]:
        """The settings, and what HELP came to with them."""
        return {**options, **row(self.run(**options), self._dense)}

    def run(self, **options: Any) -> PassageRun:
        """HELP with some of the context's options replaced."""
        return measure(self.context, "help", options)


def about(context: PassageContext) -> Mapping[str, Any]:
    """What was run, with what."""
    settings = context.help().settings
    return {
        **context.about,
        "questions": len(context.questions),
        "options": {**vars(settings), **context.options},
        "versions": versions(),
        "machine": machine(),
    }


def title(what: str, context: PassageContext) -> str:
    """What is measured, where, and how candidates are scored."""
    scorer = context.help().settings.scorer
    return f"{what} on {context.set.title}, {context.encoder.name}, scorer {scorer}"
