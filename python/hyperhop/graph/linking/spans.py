"""Spans of a text that may be a mention: they start and end at the edges of words."""

import unicodedata
from collections.abc import Callable, Iterator

Span = tuple[int, int]

_APOSTROPHES = "'\u2019"
_SUFFIXES = frozenset(("s", "t", "d", "m", "ll", "re", "ve"))  # 's, n't, 'd: no names


def words(text: str) -> list[Span]:
    """Spans of runs of letters, digits, marks and "_", and of every other character by itself."""
    spans: list[Span] = []
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


def is_suffix(text: str, span: Span) -> bool:
    """Is it what an apostrophe joins to a word, as in "Peru's"?"""
    start, end = span
    return (
        start > 1
        and text[start - 1] in _APOSTROPHES
        and text[start - 2].isalnum()
        and text[start:end].casefold() in _SUFFIXES
    )


def free_spans(
    text: str, taken: bytearray, max_words: int, is_stop_word: Callable[[str], bool]
) -> Iterator[Span]:
    """Spans of at most `max_words` words in what is not taken.

    They start and end with a word that has a letter or digit and is neither a suffix such as 's nor
    a stop word.
    """
    spans = words(text)
    edges = [
        any(character.isalnum() for character in text[start:end])
        and not is_suffix(text, (start, end))
        and not is_stop_word(text[start:end])
        for start, end in spans
    ]
    for first, (start, _) in enumerate(spans):
        if not edges[first]:
            continue
        for last in range(first, min(first + max_words, len(spans))):
            end = spans[last][1]
            if any(taken[spans[last][0] : end]):
                break
            if edges[last]:
                yield start, end


def _is_in_word(character: str) -> bool:
    if "\u3040" <= character <= "\u30ff" or "\u3400" <= character <= "\u9fff":
        return False  # kana and ideographs are written without spaces
    category = unicodedata.category(character)
    return character == "_" or category[0] in "LMN"
