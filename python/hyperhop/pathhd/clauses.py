"""A question about two topics, as two questions about one each."""

import re
from typing import NamedTuple

from hyperhop.pathhd.planners.protocol import Span
from hyperhop.pathhd.planners.question import parse_question
from hyperhop.text.words import FUNCTION_WORDS, REQUEST_WORDS, words

_TOKEN = re.compile(r"[^\W_]+")
_AND = frozenset(words("and but"))  # joins two topics ...
_RELATIVE = frozenset(words("that which who whom whose where"))  # ... or begins what is said of one
_OR = frozenset(words("or nor"))
_VERBS = frozenset(words("is are was were has have had does do did"))
_PRONOUNS = frozenset(words("who whom whose where when how"))


class Clause(NamedTuple):
    """What a question says of one topic, and where that is named in it."""

    text: str
    mention: Span | None


class Clauses(NamedTuple):
    """What is said of two topics; `shared` says that it is the same."""

    first: Clause
    second: Clause
    shared: bool


def masked_others(question: str, mention: Span | None, others: list[Span | None]) -> Clause:
    """The question without the names of other topics: blanks of the same length."""
    text = question
    for span in others:
        if span is not None and span != mention:
            text = text[: span[0]] + " " * (span[1] - span[0]) + text[span[1] :]
    return Clause(text, mention)


def split_clauses(question: str, first: Span, second: Span) -> Clauses | None:
    """What is said of the first topic, and of the second, which is named after it.

    "which film did Ann direct that stars Bob" is "which film did Ann direct" and "which film that
    stars Bob"; what two topics share is said of both: "the child of Ann and Bob". None where
    nothing is said of one of them, where nothing but "of" or the like stands between them ("the
    mayor of Lima"), where they are alternatives ("Ann or Bob"), and where one stands in the
    question twice, as words do rather than names. O(length).
    """
    before, after = question[: first[0]], question[second[1] :]
    between = question[first[1] : second[0]]
    tokens = [(found[0].casefold(), found.span()) for found in _TOKEN.finditer(between)]
    if any(token in _OR for token, _ in tokens):
        return None
    left, right, linked = "", between, False
    for token, (start, end) in tokens:
        if token in _AND or token in _RELATIVE:
            left, right = between[:start], between[start if token in _RELATIVE else end :]
            linked = True
            break
    names = question[slice(*first)], question[slice(*second)]
    if any(_occurs_again(name, question) for name in names):
        return None
    shared = not (_has_content(right) or _VERBS.intersection(words(right)))
    if shared and not linked:
        return None
    if shared:
        tail = left if _has_content(left) else f"{left} {after}"
        clauses = _clause(before, names[0], tail), _clause(before, names[1], f"{left} {after}")
    else:
        clauses = (
            _clause(before, names[0], left),
            _clause(f"{_asked(before)} {right} ", names[1], after),
        )
    said = all(parse_question(clause.text, clause.mention) for clause in clauses)
    return Clauses(*clauses, shared) if said else None


def _clause(before: str, name: str, after: str) -> Clause:
    return Clause(before + name + after, (len(before), len(before) + len(name)))


def _occurs_again(name: str, question: str) -> bool:
    whole = rf"(?<!\w){re.escape(name)}(?!\w)"
    return len(re.findall(whole, question, re.IGNORECASE)) > 1


def _has_content(text: str) -> bool:
    return any(_is_content(word) for word in words(text))


def _is_content(word: str) -> bool:
    return word not in FUNCTION_WORDS and word not in REQUEST_WORDS


def _asked(before: str) -> str:
    """What is asked for: "who" of "who directed", "which film" of "which film did"."""
    end = 0
    for found in _TOKEN.finditer(before):
        end = found.end()
        token = found[0].casefold()
        if _is_content(token) or token in _PRONOUNS:
            break
    return before[:end]
