"""JSON that ends in the middle: closed again after its last complete value."""

import re
from typing import NamedTuple

_TOKEN = re.compile(r"[\[\]{},:\"']|[^\[\]{},:\"'\s]+")
_DOUBLE = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SINGLE = re.compile(r"'(?:[^'\\]|\\.|'(?!\s*(?:[,:\]}]|\Z)))*'(?=\s*(?:[,:\]}]|\Z))", re.DOTALL)
_STRAY = re.compile(r"\s*[\]},:]")
_CLOSERS = {"{": "}", "[": "]"}
DEEPEST = 100  # levels of JSON that a reply may have; no form that is asked for has five


class Closed(NamedTuple):
    """The JSON at the start of a text, and where it was cut: None if it was not.

    `cut` is the key of the outermost object whose value is incomplete, "" if that has no key.
    """

    text: str
    cut: str | None


def close_cut(text: str) -> Closed | None:
    """The JSON that a text begins with, its brackets closed where the text ends in the middle.

    The value it broke off in is dropped: a name or number that may go on is no value ("Par" is not
    "Paris"), and neither is a key. What follows the last bracket is left out; a text whose brackets
    do not match comes back whole. None where a quote is left over. RecursionError where more than
    `DEEPEST` brackets are open at once. O(length).
    """
    brackets: list[str] = []  # those open
    ends: list[int] = []  # where the last complete value inside each of them ends
    key = before = ""
    at = 0
    while found := _TOKEN.search(text, at):
        token, start, at = found[0], found.start(), found.end()
        if token == '"' or (token == "'" and before in "{[,:"):
            string = (_DOUBLE if token == '"' else _SINGLE).match(text, start)
            if string is None:
                if _STRAY.match(text, at):
                    return None  # a quote too many, or a string that begins oddly: who knows
                break
            at = string.end()
            if brackets and (brackets[-1] == "[" or before == ":"):
                ends[-1] = at
                key = "" if len(brackets) == 1 else key
            elif len(brackets) == 1:
                key = string[0][1:-1]
        elif token in _CLOSERS:
            if len(brackets) == DEEPEST:
                raise RecursionError(f"more than {DEEPEST} open brackets")
            brackets.append(token)
            ends.append(at)
        elif token in ("]", "}"):
            if not brackets or _CLOSERS[brackets.pop()] != token:
                return Closed(text, None)
            ends.pop()
            if not brackets:
                return Closed(text[:at], None)
            ends[-1] = at
            key = "" if len(brackets) == 1 else key
        elif token == "," and brackets:
            ends[-1] = start
            key = "" if len(brackets) == 1 else key
        before = token[-1]
    if not brackets:
        return Closed(text, None)
    closers = "".join(_CLOSERS[bracket] for bracket in reversed(brackets))
    return Closed(text[: ends[-1]] + closers, key)
