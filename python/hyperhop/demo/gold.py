"""What the records themselves say: the right answers, worked out without any graph."""

from __future__ import annotations

from collections.abc import Sequence

from hyperhop.demo.records import Record, country_records, currency_name, language_name


def gold_answers(steps: Sequence[str]) -> frozenset[str]:
    """Follow a question's steps through the records and return the plain names they end at.

    The first step, "field=name", selects the countries whose field holds that name. Then "borders"
    moves to the neighbours, "same FIELD" to every country that shares a value of that field, and
    the last step names the field to be read.
    """
    select, *moves, last = steps
    field, _, name = select.partition("=")
    chosen = [record for record in country_records() if name in _values(record, field)]
    for move in moves:
        if move == "borders":
            codes = {code for record in chosen for code in record.get("borders") or []}
            chosen = [record for record in country_records() if record["ISO"]["alpha3"] in codes]
        else:
            shared_field = move.removeprefix("same ")
            shared = {value for record in chosen for value in _values(record, shared_field)}
            chosen = [r for r in country_records() if shared & set(_values(r, shared_field))]
    return frozenset(value for record in chosen for value in _values(record, last))


def _values(record: Record, field: str) -> list[str]:
    value = record.get(field) or []
    values = value if isinstance(value, list) else [value]
    if field == "languages":
        return [name for code in values if (name := language_name(code))]
    if field == "currencies":
        return [name for code in values if (name := currency_name(code))]
    if field == "callingCodes":
        return [f"+{code}" for code in values]
    return [text.strip() for text in values]
