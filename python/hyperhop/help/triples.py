"""Triples as models write them, made into (head, relation, tail), every loss counted."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

Triple = tuple[str, str, str]
Item = TypeVar("Item", str, Triple)

HEAD = ("head", "subject", "source")
RELATION = ("relation", "predicate", "relationship")
TAIL = ("tail", "object", "target")
NAME = ("name", "entity", "text")
MOST_PARTS = 6  # a longer list is rarely one triple


@dataclass
class Found:
    """What one reply, or one document of a file, gave.

    `mended` and `dropped` count items by what was wrong with them, `merged` the duplicates.
    """

    entities: list[str] = field(default_factory=list)
    triples: list[Triple] = field(default_factory=list)
    mended: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    merged: int = 0


def add_triples(found: Found, items: Iterable[Any]) -> None:
    """Clean `items` and add their triples, in order, the first of equal ones only.

    A triple is a list of parts, or a mapping with the keys head, relation, tail (subject,
    predicate, object and source, relationship, target are counted as mended). White space is
    trimmed at the ends of a part, nothing else in it changes. Lists of 4, 5 or 6 parts are mended:
    the first part is the head, the last the tail, those between, joined by a space, the relation.
    A list of triples in the place of a triple is opened; numbers become text. All else is dropped:
    fewer than 3 or more than 6 parts, an empty part, a part that is no text, invalid Unicode.
    """
    found.triples = _cleaned(found, found.triples, _opened(items, found.mended), _triple)


def add_entities(found: Found, items: Iterable[Any]) -> None:
    """Clean `items` and add the names, in order, the first of equal ones only.

    A mapping with the key name, entity or text counts as mended; what is no text is dropped.
    """
    found.entities = _cleaned(found, found.entities, items, _entity)


def losses(found: Found) -> str:
    """What was dropped, in words; "" if nothing."""
    return ", ".join(f"{why} ({count})" for why, count in found.dropped.most_common())


def is_triple_mapping(value: Mapping[str, Any]) -> bool:
    """Has it a key for each of the three parts?"""
    keys = {key.strip().lower() for key in value}
    return all(keys.intersection(names) for names in (HEAD, RELATION, TAIL))


def _cleaned(
    found: Found,
    before: list[Item],
    items: Iterable[Any],
    clean: Callable[[Any, list[str]], Item],
) -> list[Item]:
    kept = dict.fromkeys(before)
    for item in items:
        mended: list[str] = []
        try:
            value = clean(item, mended)
        except ValueError as reason:
            found.dropped[str(reason)] += 1
            continue
        found.mended.update(mended)
        found.merged += value in kept
        kept[value] = None
    return list(kept)


def _opened(items: Iterable[Any], mended: Counter[str]) -> Iterable[Any]:
    for item in items:
        if isinstance(item, list) and item and all(isinstance(part, list | dict) for part in item):
            mended["a list of triples as one triple"] += 1
            yield from item
        else:
            yield item


def _triple(item: Any, mended: list[str]) -> Triple:
    """Raises ValueError with the reason to drop it."""
    if isinstance(item, Mapping):
        parts = [_by_key(item, names, mended) for names in (HEAD, RELATION, TAIL)]
    elif isinstance(item, list | tuple):
        parts = list(item)
    else:
        raise ValueError("not a list of parts")
    if not 3 <= len(parts) <= MOST_PARTS:
        raise ValueError(f"{len(parts)} {'part' if len(parts) == 1 else 'parts'}")
    head, *relation, tail = [_text(part, mended) for part in parts]
    if len(relation) > 1:
        mended.append(f"{len(parts)} parts")
    return head, " ".join(relation), tail


def _entity(item: Any, mended: list[str]) -> str:
    """Raises ValueError with the reason to drop it."""
    try:
        if isinstance(item, Mapping):
            mended.append("an entity as an object")
            item = _by_key(item, NAME, [])
        return _text(item, mended)
    except ValueError as reason:
        raise ValueError(f"entity: {reason}") from None


def _by_key(item: Mapping[Any, Any], names: tuple[str, ...], mended: list[str]) -> Any:
    keys = {str(key).strip().lower(): value for key, value in item.items()}
    for name in names:
        if name in keys:
            if name != names[0] and "other key names" not in mended:
                mended.append("other key names")
            return keys[name]
    raise ValueError(f"an object without the key {names[0]}")


def _text(part: Any, mended: list[str]) -> str:
    if isinstance(part, int | float) and not isinstance(part, bool):
        mended.append("a number as text")
        part = str(part)
    if not isinstance(part, str):
        raise ValueError("a part that is no text")
    text = part.strip()
    if not text:
        raise ValueError("an empty part")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("a part that is not valid Unicode") from None
    return text
