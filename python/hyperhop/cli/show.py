"""How answers, paths and timings look on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hyperhop.evidence import Answer, Evidence
from hyperhop.graph import EntityMatch
from hyperhop.text.verbalize import verbalize_path, verbalize_relation

PATHS_SHOWN = 5
ENDS_SHOWN = 5


def shortened(names: Sequence[str], limit: int) -> str:
    """Join names with commas; beyond the limit say how many there are in all."""
    if len(names) <= limit:
        return ", ".join(names)
    return f"{', '.join(names[:limit])} ... ({len(names)} in all)"


def answer_lines(answer: Answer, evidence: Evidence) -> list[str]:
    """Return the answer, the paths it cites and how long it took."""
    lines = [answer.text, ""]
    cited = [evidence.paths[index] for index in answer.citations]
    lines += [
        f"  {verbalize_path(path.entities, path.relations)}  ({path.score:.3f})"
        for path in cited[:PATHS_SHOWN]
    ]
    if len(cited) > PATHS_SHOWN:
        lines.append(f"  ... {len(cited)} paths in all (--json lists them)")
    if evidence.truncated:
        lines.append("  The search reached its cap: there may be more.")
    if evidence.hubs:
        hubs = shortened(evidence.hubs, ENDS_SHOWN)
        lines.append(f"  Only some edges were followed of {hubs}: there may be more.")
    return [*lines, "", f"  {_milliseconds({**evidence.timings, **answer.timings})}"]


def explain_lines(evidence: Evidence, mentions: Sequence[EntityMatch]) -> list[str]:
    """Return how the topic was found, the best relation sequences with their scores, and times."""
    found = ", ".join(f"{match.name!r} ({match.score:.1f})" for match in mentions)
    lines = ["", f"Topic: {evidence.topic}", f"Entities in the question: {found or 'none'}", ""]
    lines.append("  score   plan  relation sequence -> where it leads")
    for sequence in evidence.sequences:
        steps = ", then ".join(verbalize_relation(symbol) for symbol in sequence.relations)
        lines.append(
            f"  {sequence.score:5.3f}  {sequence.plan:5.3f}  {steps} -> "
            f"{shortened(sequence.ends, ENDS_SHOWN)}"
        )
    lines += ["", "Milliseconds by stage:"]
    return lines + [f"  {stage:<12} {time:8.2f}" for stage, time in evidence.timings.items()]


def _milliseconds(timings: Mapping[str, float]) -> str:
    return f"{sum(timings.values()):.1f} ms"
