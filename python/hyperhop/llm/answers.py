"""Reading the reader's replies: JSON, or three lines of text, whichever came."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hyperhop.llm.replies import ParseFailure, Read, read_json, without_thinking

_STRING = r'"(?:[^"\\\n]|\\.)*"'
_EXACT = re.compile(
    rf"Answer: (?:none|{_STRING}(?:, {_STRING})*)\n"
    r"Supporting \w+\(s\): (?:none|\d+(?:, \d+)*)\n"
    r"Rationale: [^\n]+"
)
_LABEL = re.compile(
    r"^[ \t>*#_-]*(?:(?P<answers>(?:final )?answers?)"
    r"|(?P<citations>supporting[^:\n]{0,30}|citations?)"
    r"|(?P<rationale>rationale[^:\n]{0,30}|explanation|reason(?:ing)?)"
    r"|(?P<question>question))[*_ \t]*:[*_ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_KEYS = {
    "answer": "answers", "answers": "answers", "finalanswer": "answers",
    "citation": "citations", "citations": "citations",
    "rationale": "rationale", "explanation": "rationale", "reason": "rationale",
}  # fmt: skip
_BULLET = re.compile(r"\s*(?:[-*•]|\d+[.)])\s+")
_COMMA = re.compile(r"[,;]")
_COMMA_AND = re.compile(r"[,;](?:\s*and\s)?|\s(?:and|&)\s")
_BETWEEN = re.compile(r"\s*(?:[,;\n]\s*(?:[-*•]|\d+[.)]|and\b)?|and\b|&)\s*")
_RANGE = re.compile(r"(?<=\d)[ \t]*([-–])[ \t]*(?=\d)")
_APART = re.compile(r"[\s,;()\[\]{}*&`]+")  # what stands between citations
_CITED = re.compile(r"\d+(?:[-–]\d+)?")
# from the list: no citations in there; a quote that nothing closes is none
_COPIED = re.compile(r'"(?:[^"\\\n]|\\.)*("?)|score:? *[\d.]+')

Known = Callable[[str], bool]


@dataclass(frozen=True)
class ReaderReply:
    """What a model answered: names and citations as it wrote them, "3-5" for a range.

    `repaired` says that the reply had not the form that was asked for.
    """

    answers: list[str]
    citations: list[str]
    rationale: str
    repaired: bool


def parse_reply(text: str, form: str, known: Known, *, cut: bool = False) -> ReaderReply:
    """A reply that was asked for in `form` ("json" or "text"), in that form or the other.

    Names without quotes are split at commas only into names that `known` accepts. There is no
    answer only where the reply says so (none, []): one that is missing, empty or broken off, or
    given twice, is a ParseFailure. `cut` says that the model was stopped.
    """
    body = without_thinking(text).strip()
    labels = [] if body.startswith(("{", "[")) else list(_LABEL.finditer(body))
    start = next((i for i, label in enumerate(labels) if label["answers"]), None)
    if start is not None and not body[labels[start].end() :].lstrip().startswith(("{", "```")):
        if cut and not any(label["rationale"] for label in labels[start:]):
            raise ParseFailure("the reply ends before its answers and citations do", text)
        return _from_lines(body, labels[start:], text, form, known)
    if body and "{" not in body and "[" not in body:
        raise ParseFailure("the reply has neither JSON nor a line that begins with Answer:", text)
    return _from_json(read_json(text), text, form)


def _from_json(read: Read, text: str, form: str) -> ReaderReply:
    value = read.value
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        value = value[0]
    if isinstance(value, list):
        raise ParseFailure("expected a JSON object, got an array", text)
    fields: dict[str, Any] = {}
    for key, content in value.items():
        name = _field(key)
        if name in fields:
            raise ParseFailure(f"the JSON gives its {name} twice", text)
        if name:
            fields[name] = content
    if "answers" not in fields:
        raise ParseFailure(f"the JSON has no answers, only {', '.join(value) or 'no key'}", text)
    if read.cut is not None and (
        "citations" not in fields or _field(read.cut) in ("answers", "citations")
    ):
        raise ParseFailure("the reply ends before its answers and citations do", text)
    asked = (
        form == "json"
        and not read.repaired
        and list(value) == ["answers", "citations", "rationale"]
        and isinstance(fields["answers"], list)
        and isinstance(fields["citations"], list)
        and all(type(one) is int for one in fields["citations"])
    )
    return ReaderReply(
        [_name(one, text) for one in _as_list(fields["answers"])],
        [cited for one in _as_list(fields.get("citations")) for cited in _citation(one)],
        str(fields.get("rationale") or "").strip(),
        not asked,
    )


def _field(key: str) -> str:
    """Which field a key stands for; "" for none."""
    folded = re.sub(r"\W|_", "", key).casefold()
    return "citations" if folded.startswith("supporting") else _KEYS.get(folded, "")


def _as_list(value: Any) -> list[Any]:
    if value is None or (isinstance(value, str) and _is_none(value)):
        return []
    return value if isinstance(value, list) else [value]


def _is_none(text: str) -> bool:
    return text.strip().casefold().removesuffix(".") in ("none", "[]")


def _name(value: Any, text: str) -> str:
    """One answer; a number is one too."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ParseFailure(f"expected the name of an answer, got {json.dumps(value)}", text)
    if not str(value).strip():
        raise ParseFailure("the answer is empty", text)
    return str(value)


def _citation(value: Any) -> list[str]:
    if isinstance(value, str):
        return _cited(value)
    return [str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)]


def _cited(section: str) -> list[str]:
    """Numbers and ranges of a text, and what else in it has a digit, such as "1.5" or "-3".

    All of it if nothing has one, unless it says that there is none.
    """
    plain = _COPIED.sub(lambda found: found[0] if found[1] == "" else " ", section)
    words = [_plain(word) for word in _APART.split(_RANGE.sub(r"\1", plain))]
    numbers = [word for word in words if re.search(r"\d", word)]
    if numbers or not section.strip() or _is_none(section):
        return numbers
    return [section.strip()]


def _plain(word: str) -> str:
    """A number without the signs around it; every other word as it is."""
    number = word.lstrip("#\"'“").rstrip(".:\"'”")
    return number if _CITED.fullmatch(number) else word


def _from_lines(
    body: str, labels: list[re.Match[str]], text: str, form: str, known: Known
) -> ReaderReply:
    """The sections behind the labels, the first of which is the answer."""
    sections: dict[str, str] = {}
    for label, after in zip(labels, [*labels[1:], None], strict=True):
        kind = str(label.lastgroup)
        content = body[label.end() : after.start() if after else len(body)].strip()
        if kind == "question" or (kind in sections and "rationale" in sections):
            break  # the model went on to a question of its own
        if sections.get(kind, content) != content:
            raise ParseFailure(f"the reply gives its {kind} twice", text)
        sections[kind] = content
    section = sections["answers"]
    quoted = [] if _is_none(section) else _quoted(section)
    names = _unquoted(section, text, known) if quoted is None else quoted
    return ReaderReply(
        [_name(name, text) for name in names],
        _cited(sections.get("citations", "")),
        sections.get("rationale", ""),
        form != "text" or quoted is None or _EXACT.fullmatch(body) is None,
    )


def _quoted(section: str) -> list[str] | None:
    """Names in JSON quotes, listed in any way; None for anything else."""
    section = section.removeprefix("[").removesuffix("]").strip()
    bullet = _BULLET.match(section)
    at = bullet.end() if bullet else 0
    names: list[str] = []
    while section[at : at + 1] == '"':
        try:
            name, at = json.JSONDecoder().raw_decode(section, at)
        except json.JSONDecodeError:
            return None
        names.append(name)
        between = _BETWEEN.match(section, at)
        if between is None:
            return names if not section[at:].strip(" .") else None
        at = between.end()
    return None


def _unquoted(section: str, text: str, known: Known) -> list[str]:
    if section.startswith('"') and section.count('"') == 1:
        raise ParseFailure("the reply ends inside the name of an answer", text)
    names: list[str] = []
    for line in section.splitlines():
        bullet = _BULLET.match(line)
        plain = line[bullet.end() if bullet else 0 :].strip(" \t*_")
        short = plain.removesuffix(".")
        split = [pattern.split(short) for pattern in (_COMMA, _COMMA_AND)]
        readings = [[plain], [short], *([part.strip() for part in parts] for parts in split)]
        names += next((one for one in readings if all(map(known, one))), [plain] if plain else [])
    if not names:
        raise ParseFailure("the answer is empty", text)
    return names
