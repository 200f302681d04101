"""How answers, paths and timings look on a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from hyperhop._lines import on_one_line
from hyperhop.evidence import Answer, Evidence, Explanation
from hyperhop.graph import EntityMatch
from hyperhop.text.verbalize import Verbalizer, verbalize_path, verbalize_relation

CITATIONS_SHOWN = 5
PASSAGE_WIDTH = 100
ENDS_SHOWN = 5


def shortened(names: Sequence[str], limit: int) -> str:
    """Join names with commas; beyond the limit say how many there are in all."""
    if len(names) <= limit:
        return ", ".join(names)
    return f"{', '.join(names[:limit])} ... ({len(names)} in all)"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: "1 call", "2 calls"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def answer_lines(answer: Answer, evidence: Evidence) -> list[str]:
    """Return the answer, what it cites, what is wrong with it and how long it took."""
    lines = [answer.text, ""]
    count = len(evidence.paths)
    for index in answer.citations[:CITATIONS_SHOWN]:
        if index < count:
            path = evidence.paths[index]
            lines.append(f"  {verbalize_path(path.entities, path.relations)}  ({path.score:.3f})")
        else:
            passage = evidence.passages[index - count]
            text = textwrap.shorten(passage.text, PASSAGE_WIDTH, placeholder=" ...")
            lines.append(f"  {passage.id}: {text}  ({passage.score:.3f})")
    if len(answer.citations) > CITATIONS_SHOWN:
        lines.append(f"  ... {len(answer.citations)} paths in all (--json lists them)")
    return [*map(on_one_line, lines), *closing_lines(answer, evidence)]


def closing_lines(answer: Answer, evidence: Evidence) -> list[str]:
    """Return what is wrong with an answer, and how long it took."""
    lines = [f"  {warning}" for warning in _warnings(answer, evidence)]
    lines += ["", f"  {_milliseconds({**evidence.timings, **answer.timings})}"]
    return list(map(on_one_line, lines))


def _warnings(answer: Answer, evidence: Evidence) -> list[str]:
    warnings = []
    if answer.fallback:
        warnings.append(f"Answered without the language model: {answer.fallback}")
    if answer.unsupported:
        names = shortened(answer.unsupported, ENDS_SHOWN)
        warnings.append(f"Not supported by what is cited: {names}")
    if answer.dropped_citations:
        cited = ", ".join(answer.dropped_citations)
        warnings.append(f"Cited, but not on the list that was shown: {cited}")
    if answer.unread:
        were = "was" if answer.unread == 1 else "were"
        paths = counted(answer.unread, "path")
        warnings.append(f"{paths} {were} not shown to the language model.")
    if evidence.unused_topics:
        names = shortened(evidence.unused_topics, ENDS_SHOWN)
        warnings.append(
            f"Answered from {evidence.topic} alone: nothing it leads to is reached from {names}."
        )
    for call in evidence.planner_calls:
        if call.fallback:
            warnings.append(f"Planned without the language model: {call.fallback}")
        if call.unlisted:
            relations = counted(call.unlisted, "relation")
            were = "was" if call.unlisted == 1 else "were"
            warnings.append(f"{relations} {were} not shown to the language model that planned.")
    if evidence.truncated:
        warnings.append("The search reached its cap: there may be more.")
    if evidence.hubs:
        hubs = shortened(evidence.hubs, ENDS_SHOWN)
        warnings.append(f"Only some edges were followed of {hubs}: there may be more.")
    return warnings


def explain_lines(answer: Answer, evidence: Evidence, mentions: Sequence[EntityMatch]) -> list[str]:
    """Return how the topic was found, the best sequences with scores, the reader's part, times."""
    found = ", ".join(f"{match.name!r} ({match.score:.1f})" for match in mentions)
    lines = ["", f"Topic: {evidence.topic}", f"Entities in the question: {found or 'none'}", ""]
    for call in evidence.planner_calls:
        proposed = "; ".join(map(_steps, call.proposed)) or "none"
        lines.append(f"Proposed by the language model: {proposed}")
        if call.dropped:
            lines.append(f"Proposed, but no path of the graph: {'; '.join(call.dropped)}")
        lines.append("")
    if evidence.hops:
        lines += _flow_lines(evidence)
    else:
        lines.append("  score   plan  relation sequence -> where it leads")
    for sequence in evidence.sequences:
        steps = _steps(sequence.relations)
        constraint = sequence.constraint
        if constraint is not None:
            steps += f", and from {constraint.topic} {_steps(constraint.relations)}"
        lines.append(
            f"  {sequence.score:5.3f}  {sequence.plan:5.3f}  {steps} -> "
            f"{shortened(sequence.ends, ENDS_SHOWN)}"
        )
        sides = {"": sequence.explanation}
        if constraint is not None:
            sides = {
                f"from {evidence.topic}: ": sequence.explanation,
                f"from {constraint.topic}: ": constraint.explanation,
            }
        for side, explanation in sides.items():
            if explanation is not None:
                lines += [f"{'':16}{side}{line}" for line in _why(explanation)]
    unnamed = Verbalizer().share_unnamed(path.entities for path in evidence.paths)
    if unnamed:
        lines += ["", f"{unnamed:.0%} of the entities on these paths have an id for a name."]
    lines += reading_lines(answer, evidence)
    return list(map(on_one_line, lines))


def reading_lines(answer: Answer, evidence: Evidence) -> list[str]:
    """Return why the answer follows, what reading took of a language model, and all times."""
    lines = ["", f"Why: {answer.rationale}"] if answer.rationale else []
    lines += ["", f"Language model: {_calls(answer)}", "", "Milliseconds by stage:"]
    timings = {**evidence.timings, **answer.timings}
    lines += [f"  {stage:<12} {time:8.2f}" for stage, time in timings.items()]
    return list(map(on_one_line, lines))


def _flow_lines(evidence: Evidence) -> list[str]:
    """What each hop of a flow followed, and what carried it along the paths to the answers."""
    lines = ["   gate  reached  attention to what carried most"]
    for hop in evidence.hops:
        followed = [f"{verbalize_relation(r)} {beta:.3f}" for r, beta in hop.attention.items()]
        lines.append(f"  {hop.gate:5.3f}  {hop.reached:>7,}  {', '.join(followed) or 'nothing'}")
        if hop.leaked:
            lines.append(f"{'':16}{hop.leaked:.2%} of the flow leaked where no fact led it")
    lines += ["", "   flow  path (attention and flow of each hop)"]
    for path in evidence.paths:
        steps = [
            f"{verbalize_relation(step.relation)} {step.attention:.3f} {step.flow:.3f}"
            for step in path.certificate or ()
        ]
        shown = verbalize_path(path.entities, path.relations)
        lines.append(f"  {path.score:5.3f}  {shown} ({'; '.join(steps)})")
    return lines


def _steps(relations: Sequence[str]) -> str:
    return ", then ".join(map(verbalize_relation, relations))


def _why(explanation: Explanation) -> list[str]:
    """What carries a sequence's score, and what the query would rather have."""
    facts = []
    if explanation.margin is not None:
        facts.append(f"{explanation.margin:.3f} ahead of the next")
    if explanation.swapped is not None:
        facts.append(f"{explanation.swapped:.3f} with two relations swapped")
    lines = ["; ".join(facts)] if facts else []
    for fit in explanation.fits:
        if fit.instead != fit.relation:
            wanted, relation = verbalize_relation(fit.instead), verbalize_relation(fit.relation)
            lines.append(f'"{wanted}" in place of "{relation}" would score {fit.instead_score:.3f}')
    return lines


def _calls(answer: Answer) -> str:
    if not answer.llm_attempts:
        return "not asked"
    calls = f"{counted(answer.llm_calls, 'call')} in {counted(answer.llm_attempts, 'request')}"
    tokens = f"{counted(answer.prompt_tokens, 'token')} in, {answer.completion_tokens} out"
    read = f", reply {answer.parse}" if answer.parse else ""
    return f"{calls}, {tokens}{read}"


def _milliseconds(timings: Mapping[str, float]) -> str:
    return f"{sum(timings.values()):.1f} ms"
