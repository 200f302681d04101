"""Finding the graph's entities in running text."""

import unicodedata
from dataclasses import dataclass

from hyperhop.graph.knowledge_graph import KnowledgeGraph
from hyperhop.graph.names import fold

_EXACT = 1.0
_FOLDED = 0.9
_APOSTROPHES = "'\u2019"
_SUFFIXES = frozenset(("s", "t", "d", "m", "ll", "re", "ve"))  # 's, n't, 'd: no names


@dataclass(frozen=True)
class EntityMatch:
    """An entity that a text mentions.

    Attributes:
        entity: its id.
        name: its name.
        span: (start, end) of the mention in the text, in characters.
        score: 1.0 where the text spells the name exactly, 0.9 where both only fold alike.
    """

    entity: int
    name: str
    span: tuple[int, int]
    score: float


class EntityLinker:
    """Finds mentions by exact or folded name (NFKC, case folded, "_" and white space as a space).

    The folded names are indexed when first needed and kept with the graph.
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        if not isinstance(kg, KnowledgeGraph):
            raise TypeError(f"EntityLinker: kg must be a KnowledgeGraph, got {type(kg).__name__}")
        self._kg = kg

    def link(self, text: str) -> list[EntityMatch]:
        """Mentions that do not overlap, longest first, then leftmost.

        A mention starts and ends at the edge of a word or punctuation mark, so quotes, a question
        mark or a possessive 's around a name do not hide it. A shorter mention that overlaps a
        longer one is dropped. Several entities whose names fold alike are all returned, the one
        spelled as in the text first, then by name. O(words * words of the longest name * log V).
        """
        if not isinstance(text, str):
            raise TypeError(f"link: text must be str, got {type(text).__name__}")
        mentions = self._mentions(text)
        mentions.sort(key=lambda mention: (mention[0] - mention[1], mention[0]))
        taken = bytearray(len(text))
        matches: list[EntityMatch] = []
        for start, end, entities in mentions:
            if any(taken[start:end]):
                continue
            taken[start:end] = b"\1" * (end - start)
            found = [
                EntityMatch(i, name, (start, end), _EXACT if name == text[start:end] else _FOLDED)
                for i, name in zip(entities, self._kg.entity_names(entities), strict=True)
            ]
            matches += sorted(found, key=lambda match: (-match.score, match.name))
        return matches

    def _mentions(self, text: str) -> list[tuple[int, int, list[int]]]:
        folded_names = self._kg.folded_names
        words = _words(text)
        mentions = []
        for first, (start, end) in enumerate(words):
            if _is_suffix(text, start, end):
                continue
            for _, end in words[first:]:
                folded = fold(text[start:end])
                # Underscores alone fold to themselves, before a word they fold to nothing.
                if folded.strip("_") and not folded_names.has_prefix(folded):
                    break
                if entities := folded_names.find(folded):
                    mentions.append((start, end, entities))
        return mentions


def _words(text: str) -> list[tuple[int, int]]:
    """Spans of runs of letters, digits, marks and "_", and of every other character by itself."""
    spans: list[tuple[int, int]] = []
    joins = False
    for i, character in enumerate(text):
        if character.isspace():
            joins = False
            continue
        in_word = _is_in_word(character)
        if joins and in_word:
            spans[-1] = (spans[-1][0], i + 1)
        else:
            spans.append((i, i + 1))
        joins = in_word
    return spans


def _is_in_word(character: str) -> bool:
    if "\u3040" <= character <= "\u30ff" or "\u3400" <= character <= "\u9fff":
        return False  # kana and ideographs are written without spaces
    category = unicodedata.category(character)
    return character == "_" or category[0] in "LMN"


def _is_suffix(text: str, start: int, end: int) -> bool:
    return (
        start > 1
        and text[start - 1] in _APOSTROPHES
        and text[start - 2].isalnum()
        and text[start:end].casefold() in _SUFFIXES
    )
