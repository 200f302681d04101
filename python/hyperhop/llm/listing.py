"""The numbered evidence of a prompt."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from hyperhop.evidence import Evidence, EvidencePassage
from hyperhop.llm.quoting import quote
from hyperhop.text.verbalize import Verbalizer


@dataclass(frozen=True)
class Listing:
    """What is shown of an evidence, numbered from 1.

    `lines` are the items without their numbers; `indexes` where each stands in the evidence's paths
    and on into its passages. `ends` are the distinct end entities of its paths, worded like the
    lines; `unread` counts the paths left out. `noun` is what an item is.
    """

    lines: list[str]
    indexes: list[int]
    ends: list[str]
    unread: int
    noun: Literal["path", "passage", "item"]

    def __len__(self) -> int:
        return len(self.lines)

    def first(self, count: int) -> "Listing":
        """The first items, and all `ends`; those left out are `unread` too."""
        unread = self.unread + len(self) - count
        return replace(self, lines=self.lines[:count], indexes=self.indexes[:count], unread=unread)


def list_evidence(
    evidence: Evidence, words: Verbalizer, max_paths: int, *, quoted: bool = True
) -> Listing:
    """At most `max_paths` paths, and all passages, in the evidence's order.

    `quoted` lines quote every name and end in a score; others are the words alone, as a fine-tuned
    reader's template shows them. Of too many paths every relation sequence keeps its first ones, as
    evenly as there are, so that a long first sequence does not hide the others. O(length of the
    evidence).
    """
    worded: Callable[[str], str] = quote if quoted else str
    chosen = _fair_share([tuple(path.relations) for path in evidence.paths], max_paths)
    lines: list[str] = []
    ends: dict[str, None] = {}
    for index in chosen:
        path = evidence.paths[index]
        line = words.path(path.entities, path.relations, worded)
        end = worded(words.entity(path.entities[-1]))
        lines.append(f"{line}; end: {end}; score: {path.score:.3f}" if quoted else line)
        ends[end] = None
    lines += [
        f"{_worded(one, worded)}; score: {one.score:.3f}" if quoted else _worded(one, worded)
        for one in evidence.passages
    ]
    first = len(evidence.paths)
    indexes = chosen + list(range(first, first + len(evidence.passages)))
    noun: Literal["path", "passage", "item"] = "item" if chosen else "passage"
    if not evidence.passages:
        noun = "path"
    return Listing(lines, indexes, list(ends), len(evidence.paths) - len(chosen), noun)


def _worded(passage: EvidencePassage, worded: Callable[[str], str]) -> str:
    """A passage after its title, where it has one."""
    text = worded(passage.text)
    return text if passage.title is None else f"{worded(passage.title)}: {text}"


def _fair_share(groups: list[tuple[str, ...]], limit: int) -> list[int]:
    """Indexes of at most `limit` members, in order: the groups take turns."""
    turns: dict[tuple[str, ...], int] = {}
    ranked = []
    for index, group in enumerate(groups):
        turns[group] = turns.get(group, 0) + 1
        ranked.append((turns[group], index))
    return sorted(index for _, index in sorted(ranked)[:limit])
