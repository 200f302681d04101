"""Holding a reply against the evidence that was shown: which answers it supports, by which name."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from hyperhop.evidence import Evidence
from hyperhop.graph.names import fold
from hyperhop.llm.answers import ReaderReply
from hyperhop.llm.listing import Listing
from hyperhop.text.verbalize import Verbalizer


class Grounded(NamedTuple):
    """A reply's answers as the evidence spells them; see `Answer` for the others."""

    names: list[str]
    entities: list[str]
    citations: list[int]
    unsupported: list[str]
    dropped: list[str]


class Grounding:
    """What one listing supports. Names are compared folded: width, case, "_" and space aside."""

    def __init__(self, evidence: Evidence, listing: Listing, words: Verbalizer) -> None:
        self._evidence, self._listing, self._words = evidence, listing, words
        paths = [evidence.paths[i] for i in listing.indexes if i < len(evidence.paths)]
        self._ends = self._by_name(path.entities[-1] for path in paths)
        self._all = self._by_name(entity for path in paths for entity in path.entities)

    def knows(self, name: str) -> bool:
        """Whether some path that is listed ends there."""
        return fold(name) in self._ends

    def ground(self, reply: ReaderReply) -> Grounded:
        """The reply held against the evidence. O(listing)."""
        citations, dropped = self._cite(reply.citations)
        paths = self._evidence.paths
        ends = self._by_name(paths[i].entities[-1] for i in citations if i < len(paths))
        passages = [
            fold(self._evidence.passages[i - len(paths)].text) for i in citations if i >= len(paths)
        ]
        names: dict[str, None] = {}
        entities: dict[str, None] = {}
        unsupported: dict[str, None] = {}
        for answer in reply.answers:
            key = fold(answer)
            found = ends.get(key) or self._all.get(key, [])
            supported = key in ends or any(_occurs(key, passage) for passage in passages)
            spelled = [self._words.entity(name) for name in found] or [answer]
            names.update(dict.fromkeys(spelled))
            entities.update(dict.fromkeys(found or ([answer] if supported else [])))
            if not supported:
                unsupported.update(dict.fromkeys(spelled))
        return Grounded(list(names), list(entities), citations, list(unsupported), dropped)

    def _by_name(self, entities: Iterable[str]) -> dict[str, list[str]]:
        """Entities by what they may be called: their name and their label."""
        found: dict[str, list[str]] = {}
        for entity in dict.fromkeys(entities):
            for key in {fold(entity), fold(self._words.entity(entity))}:
                found.setdefault(key, []).append(entity)
        return found

    def _cite(self, written: list[str]) -> tuple[list[int], list[str]]:
        """Indexes into the evidence, and what is not on the list."""
        citations: dict[int, None] = {}
        dropped: dict[str, None] = {}
        for one in written:
            first, _, last = one.replace("–", "-").partition("-")
            number, until = self._number(first), self._number(last or first)
            if number and until and number <= until:
                chosen = self._listing.indexes[number - 1 : until]
                citations.update(dict.fromkeys(chosen))
            else:
                dropped[one] = None
        return list(citations), list(dropped)

    def _number(self, digits: str) -> int:
        """A number of the list, or 0."""
        if not digits.isdecimal() or len(digits) > 9:
            return 0
        number = int(digits)
        return number if number <= len(self._listing) else 0


def _occurs(key: str, passage: str) -> bool:
    """Whether a passage holds a name as a whole: "3" is not in "1993"."""
    before = r"(?<![0-9a-z])" if re.match(r"[0-9a-z]", key) else ""
    after = r"(?![0-9a-z])" if re.search(r"[0-9a-z]\Z", key) else ""
    return re.search(before + re.escape(key) + after, passage) is not None
