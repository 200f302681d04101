"""Holding a reply against the evidence that was shown: which answers it supports, by which name."""

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from hyperhop.evidence import Evidence
from hyperhop.graph.names import fold
from hyperhop.llm.answers import ReaderReply
from hyperhop.llm.listing import Listing
from hyperhop.text.verbalize import Verbalizer

# Thai to Lao, Myanmar, Khmer, kana and Chinese, and Korean, where endings follow without a space
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u31f0-\u31ff\u3400-\u9fff"
    "\u1100-\u11ff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_CITED = re.compile(r"(\d{1,9})(?:[-–](\d{1,9}))?")


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

    def numbers(self, names: Iterable[str]) -> list[str]:
        """Numbers of the paths listed that end in one of these, as a reply would cite them."""
        wanted = {end for name in names for end in self._ends.get(fold(name), [])}
        paths = self._evidence.paths
        return [
            str(number)
            for number, i in enumerate(self._listing.indexes, start=1)
            if i < len(paths) and paths[i].entities[-1] in wanted
        ]

    def ground(self, reply: ReaderReply) -> Grounded:
        """The reply held against the evidence. O(listing)."""
        citations, dropped = self._cite(reply.citations)
        paths = self._evidence.paths
        ends = self._by_name(paths[i].entities[-1] for i in citations if i < len(paths))
        passages = [
            fold(self._evidence.passages[i - len(paths)].full_text)
            for i in citations
            if i >= len(paths)
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
            found = _CITED.fullmatch(one)
            first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
            if 1 <= first <= last <= len(self._listing):
                citations.update(dict.fromkeys(self._listing.indexes[first - 1 : last]))
            else:
                dropped[one] = None
        return list(citations), list(dropped)


def _occurs(key: str, passage: str) -> bool:
    """Whether a passage holds a name as whole words: "3" is not in "1993", "ana" not in "mañana".

    Scripts that put no spaces between words have no such bounds: there it may stand anywhere.
    """
    at = passage.find(key)
    while at >= 0:
        end = at + len(key)
        if not _joined(passage[at - 1 : at], key[0]) and not _joined(
            key[-1], passage[end : end + 1]
        ):
            return True
        at = passage.find(key, at + 1)
    return False


def _joined(left: str, right: str) -> bool:
    """Whether two neighbours belong to one word; "" is the end of the text."""
    if right and unicodedata.category(right).startswith("M"):  # an accent on the letter before it
        return True
    return _in_word(left) and _in_word(right)


def _in_word(letter: str) -> bool:
    """Whether a letter or digit is of a script that puts spaces between words."""
    marked = letter != "" and unicodedata.category(letter).startswith("M")
    return (marked or letter.isalnum()) and _UNSPACED.match(letter) is None
