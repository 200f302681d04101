"""Reading what a language model wrote: tolerant of its habits, never silent about a loss."""

import json
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hyperhop._extras import optional
from hyperhop.llm.cut import DEEPEST, close_cut

_THINKING = r"(?:think|thinking|thought|reasoning)"
_OPENED = re.compile(rf"\s*<{_THINKING}>", re.IGNORECASE)
_CLOSED = re.compile(rf"</{_THINKING}>", re.IGNORECASE)
_FENCE = re.compile(r"```[\w-]*\s*")
# An opening bracket that begins JSON; "[1]" in a sentence is a citation
_BEGIN = re.compile(r"""[\[{](?=\s*["'“\[{\]}])|\{(?=\s*\w+\s*:)""")
# What may stand between the values of one list, apart from commas: "1. [...]\n2. [...]"
_BULLET = re.compile(r"(?:[-*•]|\d+[.)])?")
_EMPTY = re.compile(r"\[\s*\]|\{\s*\}")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\[nrtbf]")
_QUOTE = re.compile(r"""(?<!\\)(?:\\\\)*(["'])""")
_SINGLE_QUOTED = re.compile(r"[\[{,:]\s*'")
_MOST_DIGITS = 1000
# json_repair can need seconds for so many characters, and four times that for twice as many
_MOST_TO_REPAIR = 16_000
_STRUCTURE = re.compile(r"""[\s"'“”‘’\\,\[\]{}]""")


class ParseFailure(ValueError):
    """A reply that could not be read: why (`reason`), and the whole reply (`text`)."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.text = text

    def __reduce__(self) -> tuple[type["ParseFailure"], tuple[str, str]]:
        return type(self), (self.reason, self.text)


@dataclass
class ParseReport:
    """How replies were read: as they came, after a repair, or not at all. For any thread.

    `repairs` has one entry for each reply that was read: whether it was repaired.
    """

    repairs: list[bool] = field(default_factory=list)
    failures: list[ParseFailure] = field(default_factory=list)

    @property
    def parsed(self) -> int:
        """How many replies were read as they came."""
        return self.repairs.count(False)

    @property
    def repaired(self) -> int:
        """How many replies were read after a repair."""
        return self.repairs.count(True)

    @property
    def failed(self) -> int:
        """How many replies could not be read; `failures` has their text."""
        return len(self.failures)

    def count(self, repaired: bool) -> None:
        """One more reply was read."""
        self.repairs.append(repaired)  # atomic, unlike adding to a number

    def to_dict(self) -> dict[str, Any]:
        """Counts, and reason and text of each failure, ready for JSON."""
        return {
            "parsed": self.parsed,
            "repaired": self.repaired,
            "failed": self.failed,
            "failures": [{"reason": one.reason, "text": one.text} for one in self.failures],
        }


class Read(NamedTuple):
    """JSON out of a reply.

    `repaired` says that it was not JSON as it stood. `cut` is None where the reply is complete;
    where it ends in the middle, the key of the outermost object it ends in ("" in an array): what
    stands there is incomplete, and the name or number it broke off in is left out.
    """

    value: dict[str, Any] | list[Any]
    repaired: bool
    cut: str | None


class _Refused(Exception):
    """JSON that a Python value would not hold in full."""


def without_thinking(text: str) -> str:
    """The reply after a leading `<think>...</think>`; ParseFailure where it never ends."""
    at = 0
    while opened := _OPENED.match(text, at):
        closed = _CLOSED.search(text, opened.end())
        if closed is None:
            raise ParseFailure("the reply ends before its thinking does", text)
        at = closed.end()
    # some chat templates open the thinking themselves, so that only its end is in the reply
    if at == 0 and not text.lstrip().startswith(("{", "[", "```")):
        closed = _CLOSED.search(text)
        at = closed.end() if closed else 0
    return text[at:]


def read_json(text: str) -> Read:
    """The one JSON object or array of a reply, with thinking, fences and prose around it.

    Values that follow one another with nothing between them (JSON Lines, a numbered list) are one
    array. Trailing commas, single quotes, missing brackets and a reply that was cut are repaired,
    but only if the result says the same, letter by letter.

    ParseFailure where there is no JSON, where several values stand apart (which one is meant?),
    where a key stands twice, where a repair would lose something or leave an empty list, where it
    would be of more than 16,000 characters, and where the JSON is nested more than 100 deep.
    ImportError where a repair needs the extra "llm". O(length), but O(length^2) in the worst case
    for these 16,000.
    """
    if not text.strip():
        raise ParseFailure("the reply is empty", text)
    try:
        found = _read(without_thinking(text).strip(), text)
        _check_depth(found.value)
        return found
    except RecursionError:
        raise ParseFailure("the JSON is nested too deeply", text) from None
    except _Refused as error:
        raise ParseFailure(str(error), text) from None


def _read(body: str, reply: str) -> Read:
    if not body:
        raise ParseFailure("the reply holds nothing but its thinking", reply)
    whole = _whole(body)
    if isinstance(whole, str):  # JSON inside a JSON string
        return _read(without_thinking(whole).strip(), reply)._replace(repaired=True)
    if isinstance(whole, dict | list):
        return Read(whole, False, None)
    body = _unfenced(body)
    first = _BEGIN.search(body)
    if first is None:
        raise ParseFailure("the reply holds no JSON object or array", reply)
    found = _values(body, first.start())
    if found is None:
        return _repair(body[first.start() :], reply)
    values, apart = found
    if apart:
        raise ParseFailure(f"the reply holds {len(values)} JSON values, with text between", reply)
    return Read(values[0], False, None) if len(values) == 1 else Read(values, True, None)


def _whole(body: str) -> Any:
    """The body as strict JSON, or None; line breaks inside strings are let through."""
    try:
        return _DECODER.decode(body)
    except json.JSONDecodeError:
        return None


def _unfenced(body: str) -> str:
    """The content of the only fenced block that begins like JSON, else the body itself."""
    if body.startswith(("{", "[")):
        return body
    block = None
    at = 0
    while fence := _FENCE.search(body, at):
        start = fence.end()
        at = _block_end(body, start)
        if body.startswith(("{", "["), start):
            if block is not None:
                return body
            block = body[start:at].strip()
        at += 3
    return body if block is None else block


def _block_end(body: str, start: int) -> int:
    """Where the fenced block that begins at `start` ends: a fence inside JSON is none."""
    if body.startswith(("{", "["), start):
        with suppress(json.JSONDecodeError):
            start = _DECODER.raw_decode(body, start)[1]
    end = body.find("```", start)
    return len(body) if end < 0 else end


def _values(body: str, start: int) -> tuple[list[Any], bool] | None:
    """All JSON values, and whether text stands between them; None if one of them is broken."""
    values: list[Any] = []
    empty: Any = None  # "[]" beside other values is no value
    apart = False
    end = start
    while True:
        try:
            value, after = _DECODER.raw_decode(body, start)
        except json.JSONDecodeError:
            return None
        if value:
            apart = apart or (bool(values) and not _in_a_row(body[end:start]))
            values.append(value)
            end = after
        else:
            empty = value
        following = _BEGIN.search(body, after)
        if following is None:
            return (values, apart) if values else ([empty], False)
        start = following.start()


def _in_a_row(between: str) -> bool:
    """Whether what stands between two values leaves them one list."""
    return _BULLET.fullmatch(between.replace(",", " ").replace(";", " ").strip()) is not None


def _repair(body: str, reply: str) -> Read:
    """JSON out of broken JSON, checked against its source."""
    found = close_cut(body)
    if found is None or not _quotes_pair(found.text):  # which of them is part of a name?
        raise ParseFailure("the JSON is broken: its quotes do not pair up", reply)
    if found.cut is None and _BEGIN.search(body, len(found.text)):
        raise ParseFailure("the reply ends in the middle of a second JSON value", reply)
    value = _whole(found.text)
    if not isinstance(value, dict | list):
        if len(found.text) > _MOST_TO_REPAIR:
            size = f"more than {_MOST_TO_REPAIR} characters"
            raise ParseFailure(f"the JSON is broken, and too long to repair: {size}", reply)
        value = _repaired(found.text)
    kind = dict if body[0] == "{" else list
    if not value or not isinstance(value, kind):
        raise ParseFailure("the JSON is broken beyond repair", reply)
    if not _says_the_same(found.text, json.dumps(value, ensure_ascii=False)):
        raise ParseFailure("the JSON is broken: a repair would change what it says", reply)
    if _empties(value) > len(_EMPTY.findall(body)):
        raise ParseFailure("the JSON is broken: a repair would leave a list empty", reply)
    return Read(value, True, found.cut)


def _repaired(text: str) -> Any:
    """What json_repair makes of broken JSON; None where it fails, in whichever way."""
    json_repair = optional("json_repair", "repairing a reply that is no JSON", "llm")
    try:
        value = json_repair.loads(text, skip_json_loads=True)
        return json.loads(json.dumps(value))  # joins the halves of escaped letters
    except Exception:  # a reply can be broken in ways that its authors did not foresee either
        return None


def _quotes_pair(text: str) -> bool:
    quotes = _QUOTE.findall(text)
    single = quotes.count("'") if _SINGLE_QUOTED.search(text) else 0
    return quotes.count('"') % 2 == 0 and single % 2 == 0


def _says_the_same(broken: str, repaired: str) -> bool:
    """Whether a repair only moved quotes and commas, and added brackets that close."""
    letters, opened, closed = _content(broken)
    letters_after, opened_after, closed_after = _content(repaired)
    return letters == letters_after and opened == opened_after and closed <= closed_after


def _content(text: str) -> tuple[str, int, int]:
    """What JSON text says, and how many brackets open and close."""
    plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else " ", text)
    # halves of an escaped letter are joined; Python's constants are those of JSON
    plain = plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    plain = plain.casefold().replace("none", "null")
    opened, closed = (sum(map(plain.count, kind)) for kind in ("[{", "]}"))
    return _STRUCTURE.sub("", plain), opened, closed


def _check_depth(value: Any) -> None:
    """RecursionError where a value is nested so deeply that its users could not walk it."""
    level = [value]
    for _ in range(DEEPEST):
        inside = [list(one.values()) if isinstance(one, dict) else one for one in level]
        level = [one for part in inside for one in part if isinstance(one, dict | list)]
        if not level:
            return
    raise RecursionError(f"more than {DEEPEST} levels")


def _empties(value: Any) -> int:
    """How many empty lists and objects a value holds."""
    if not isinstance(value, dict | list):
        return 0
    inside = value.values() if isinstance(value, dict) else value
    return (not value) + sum(_empties(one) for one in inside)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise _Refused(f"the JSON has the key {twice!r} twice")
    return found


def _integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise _Refused(f"the JSON has a number of {len(digits)} digits")
    return int(digits)


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_once, parse_int=_integer)
