"""One system on one set: a record a question, and what they come to."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from hyperhop.evaluate.asking import More, Progress, ask, judge
from hyperhop.evaluate.passages.context import DEEPEST, INDEX_OPTIONS, PassageContext
from hyperhop.evaluate.question import Question
from hyperhop.evaluate.records import Record
from hyperhop.evaluate.scores import Scores, summarize
from hyperhop.evidence import Reader
from hyperhop.help import HELP

_DEEP = tuple(f"{name}@{DEEPEST}" for name in ("recall", "passage_hit", "all_passages", "answer"))


@dataclass(frozen=True)
class PassageRun:
    """A system's records, in the order of the questions, and their scores."""

    system: str
    records: list[Record]
    scores: Scores


def measure(
    context: PassageContext,
    system: str,
    options: Mapping[str, Any] | None = None,
    *,
    reader: Reader | None = None,
    progress: Progress | None = None,
) -> PassageRun:
    """Ask one system all questions of the context, one at a time.

    `options` are of HELP, see `PassageContext.help`. `reader` reads an answer from each evidence.
    Raises what `PassageContext.system` raises.
    """
    given = dict(options or {})
    made = context.help(**given) if system == "help" else context.system(system)
    more = None
    if isinstance(made, HELP) and made.settings.passages < DEEPEST:
        more = deeper(context, given)
    records = ask(made, context.questions, reader=reader, more=more, progress=progress)
    settings: dict[str, Any] = {"system": system, "encoder": context.encoder.name}
    if isinstance(made, HELP):
        settings |= {**INDEX_OPTIONS, **context.options, **given, **asdict(made.settings)}
    settings["reader"] = "none" if reader is None else type(reader).__name__
    return PassageRun(system, records, scored(context, records, settings))


def scored(context: PassageContext, records: list[Record], settings: Mapping[str, Any]) -> Scores:
    """The scores of some records of the context's questions."""
    return summarize(
        records,
        benchmark=context.set.title,
        split="all",
        part="test",
        note=" ".join(context.set.said),
        settings={**settings, "limit": context.about["limit"]},
    )


def deeper(context: PassageContext, options: Mapping[str, Any]) -> More:
    """The metrics of the first ten passages, by HELP with ten of them and its quota in proportion.

    HELP orders passages by how they were found, so more of them are another list, and are asked for
    apart; what that takes is not counted.
    """
    settings = context.help(**options).settings
    quota = round(settings.quota * DEEPEST / settings.passages)
    system = context.help(**{**options, "passages": DEEPEST, "quota": quota})

    def values(question: Question) -> dict[str, float]:
        found = judge(question, system.retrieve(question.text))
        return {name: found[name] for name in found if name in _DEEP}

    return values
