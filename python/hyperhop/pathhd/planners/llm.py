"""The planner that asks a language model, once (PathHD, appendix F)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import merge
from itertools import repeat
from typing import Any

import numpy as np

from hyperhop._extras import optional
from hyperhop.evidence import PlannerCall
from hyperhop.llm.asking import Outcome, ask
from hyperhop.llm.chat import ChatModel, LLMError
from hyperhop.llm.replies import ParseFailure, ParseReport
from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners.proposals import Menu, Proposals, read_proposals
from hyperhop.pathhd.planners.protocol import Planner, Plans, Span, Start, plan_all, ranked
from hyperhop.text.verbalize import Verbalizer

_NOTHING = "no sequence that the model proposed exists"


class LLMPlanner:
    """Shows a language model the relations near the topic and plans what it proposes.

    Args:
        model: any ChatModel.
        base: the planner that chooses which relations are shown where there are too many, and that
            ranks what the model does not propose.
        count: most sequences the model may propose.
        max_relations: most relations to show: those of the base planner's best sequences;
            `PlannerCall.unlisted` counts the others.
        verbalizer: the wording of relations; `Verbalizer()` if None.
        fallback: let `base` plan alone where the call fails or its reply cannot be read;
            `PlannerCall.fallback` says why. Otherwise these are errors (LLMError, ParseFailure).
        max_tokens: of a reply; the model's own limit if None.

    One call a question, for all its topics together; none where nothing exists from any of them.
    The model answers in numbers of the list, so that it can name no relation of its own, and only
    sequences that exist count: `PlannerCall.dropped` has the others. Where none exists the base
    planner's order stands, and `fallback` of the call says so.

    TypeError for what is no ChatModel, ValueError for numbers below 1; ImportError without the
    extra `llm`, whose json-repair reads damaged replies.
    """

    def __init__(
        self,
        model: ChatModel,
        base: Planner,
        *,
        count: int = 3,
        max_relations: int = 64,
        verbalizer: Verbalizer | None = None,
        fallback: bool = False,
        max_tokens: int | None = None,
    ) -> None:
        if not isinstance(model, ChatModel) or isinstance(model, type):
            raise TypeError(
                "LLMPlanner: model must be a ChatModel, such as open_chat(url, model) returns, "
                f"got {type(model).__name__}"
            )
        numbers = ("count", count), ("max_relations", max_relations), ("max_tokens", max_tokens)
        for name, number in numbers:
            if number is not None and number < 1:
                raise ValueError(f"LLMPlanner: {name} must be 1 or more, got {number}")
        optional("json_repair", "reading a language model's replies", "llm")  # before any call
        self.model, self.base = model, base
        self.count, self.max_relations = count, max_relations
        self.fallback, self.max_tokens = fallback, max_tokens
        self.report = ParseReport()
        self._words = Verbalizer() if verbalizer is None else verbalizer

    @property
    def name(self) -> str:
        """Recorded with every result."""
        return f"llm ({self.model.name}, {self.base.name})"

    def plan(self, question: str, mention: Span | None, candidates: Candidates) -> Plans:
        """All candidates: the proposed ones first, in the model's order, then the base planner's.

        Proposals weigh 1 down to 1 / proposals, the others 0 and less.
        """
        return self.plan_all(question, [Start(question, mention, candidates)])[0]

    def plan_all(self, question: str, starts: Sequence[Start]) -> list[Plans]:
        """`plan` from several topics, in one call."""
        planned = plan_all(self.base, question, starts)
        # a topic may be planned from more than once, for different readings of the question
        shown = {_topic(start): start for start in reversed(starts)}
        topics = list(reversed(shown.values()))
        menu, unlisted = self._menu(topics, starts, planned)
        if not menu.relations:
            return planned
        proposals, call = self._settle(self._ask(question, menu), menu)
        chosen: list[dict[int, int]] = [{} for _ in topics]  # place of each proposal, by topic
        proposed: list[list[str]] = []
        dropped = list(proposals.foreign)
        for path in proposals.paths:
            index = topics[path.start].candidates.find(path.relations)
            if index is None:
                dropped.append(path.written)
            else:
                chosen[path.start][index] = len(proposed)
                proposed.append(list(path.relations))
        if not proposed and not call.fallback:
            call = replace(call, fallback=_NOTHING)
        call = replace(call, proposed=proposed, dropped=dropped, unlisted=unlisted)
        calls = (*(planned[0].calls), call)
        best = max((plans.weights[0] for plans in planned if len(plans)), default=0.0)
        places = dict(zip(map(_topic, topics), chosen, strict=True))
        return [
            _combined(plans, start, places[_topic(start)], len(proposed), best, calls)
            for plans, start in zip(planned, starts, strict=True)
        ]

    def _menu(
        self, topics: Sequence[Start], starts: Sequence[Start], planned: Sequence[Plans]
    ) -> tuple[Menu, int]:
        """What the model is shown, and how many relations it is not shown."""
        relations: dict[str, None] = {}
        for start, sequence in _best_first(planned):
            if len(relations) >= self.max_relations:
                break
            relations.update(dict.fromkeys(starts[start].candidates.relations(sequence)))
        shown = list(relations)[: self.max_relations]
        existing = {
            topic.candidates.names[symbol]
            for topic in topics
            for symbol in topic.candidates.symbols
        }
        names = [_topic(topic)[0] for topic in topics]
        hops = max((topic.candidates.table.shape[1] for topic in topics), default=0)
        words = [self._words.relation(symbol) for symbol in shown]
        return Menu(names, shown, words, hops, self.count), len(existing) - len(shown)

    def _ask(self, question: str, menu: Menu) -> Outcome:
        plain: dict[str, Any] = {
            "messages": menu.messages(question),
            "max_tokens": self.max_tokens,
        }
        held = [] if self.model.takes_schema is False else [{**plain, "schema": menu.schema()}]
        return ask(self.model.chat, [*held, plain])

    def _settle(self, outcome: Outcome, menu: Menu) -> tuple[Proposals, PlannerCall]:
        """What was proposed, and the call; errors are raised unless `fallback`."""
        result, nothing = outcome.result, Proposals([], [], False)
        if isinstance(result, LLMError):
            if not self.fallback:
                raise result
            return nothing, PlannerCall(llm_attempts=outcome.attempts, fallback=str(result))
        call = PlannerCall(
            1, outcome.attempts, result.prompt_tokens, result.completion_tokens, raw=result.text
        )
        try:
            proposals = read_proposals(result.text, menu)
        except ParseFailure as error:
            cut = " (it was cut at max_tokens)" if result.cut else ""
            failure = ParseFailure(error.reason + cut, error.text)
            self.report.failures.append(failure)
            if not self.fallback:
                raise failure from None
            return nothing, replace(call, fallback=failure.reason)
        self.report.count(proposals.repaired)
        return proposals, replace(call, parse="repaired" if proposals.repaired else "parsed")


def _topic(start: Start) -> tuple[str | None, int]:
    """What stands for a topic: its name in the question, and what exists from it."""
    name = None if start.mention is None else start.question[slice(*start.mention)]
    return name, id(start.candidates)


def _best_first(planned: Sequence[Plans]) -> Iterator[tuple[int, int]]:
    """(start, candidate) of all plans by weight, as far as they are asked for."""
    lists = (
        zip(-plans.weights, repeat(start), plans.sequences.tolist(), strict=False)
        for start, plans in enumerate(planned)
    )
    return ((start, sequence) for _, start, sequence in merge(*lists, key=lambda one: one[:2]))


def _combined(
    plans: Plans,
    start: Start,
    places: dict[int, int],
    count: int,
    best: float,
    calls: tuple[PlannerCall, ...],
) -> Plans:
    """Proposed candidates by their place among `count`, the others as they were, below them."""
    weights = plans.weights - best
    scores = np.full(len(start.candidates), weights.min(initial=0.0) - 1)
    scores[plans.sequences] = weights
    for index, place in places.items():
        scores[index] = 1 - place / count
    return replace(ranked(scores, start.candidates), calls=calls)
