"""A model's reply, read: entities, triples or both, or ParseFailure with the reason."""

from typing import Any

from hyperhop.help.triples import Found, add_entities, add_triples, is_triple_mapping, losses
from hyperhop.llm import ParseFailure
from hyperhop.llm.replies import Read, read_json, without_thinking

_ENTITIES = ("entities", "named_entities", "names")
_TRIPLES = ("triples", "triplets", "facts")


def read_entities(text: str) -> Found:
    """The entities of a reply.

    Raises ParseFailure where the reply holds no list of them, or only such as had to be dropped.
    """
    read, found = _read(text)
    add_entities(found, _items(read, _ENTITIES, found, text))
    if not found.entities and found.dropped:
        raise _nothing_left(found, text)
    return found


def read_triples(text: str) -> Found:
    """The triples of a reply; else as `read_entities`."""
    return _triples(*_read(text), text)


def read_both(text: str) -> Found:
    """Entities and triples of one reply; one without a list of entities counts as mended."""
    read, found = _read(text)
    _triples(read, found, text)
    entities = _named(read.value, _ENTITIES)
    if isinstance(entities, list):
        add_entities(found, entities)
    else:
        found.mended["no list of entities"] += 1
    return found


def _triples(read: Read, found: Found, text: str) -> Found:
    add_triples(found, _items(read, _TRIPLES, found, text))
    if not found.triples and found.dropped:
        raise _nothing_left(found, text)
    return found


def _nothing_left(found: Found, text: str) -> ParseFailure:
    return ParseFailure(f"nothing in it could be used: {losses(found)}", text)


def _read(text: str) -> tuple[Read, Found]:
    read = read_json(text)
    found = Found()
    if read.cut is not None:
        found.mended["a reply that breaks off"] += 1
    elif read.repaired:
        found.mended["a reply that is no JSON"] += 1
    return read, found


def _named(value: Any, names: tuple[str, ...]) -> Any:
    """What a JSON object holds under one of `names`; None without."""
    keys = {key.strip().lower(): key for key in value} if isinstance(value, dict) else {}
    return next((value[keys[name]] for name in names if name in keys), None)


def _items(read: Read, names: tuple[str, ...], found: Found, text: str) -> list[Any]:
    """The list that a reply holds; forms of it that were not asked for count as mended."""
    value = read.value
    items = _bare(value, names[0], found, text) if isinstance(value, list) else None
    if isinstance(value, dict):
        items = _held(value, names, found)
    if items is None:
        breaks = "" if read.cut is None else "breaks off and "
        raise ParseFailure(f"it {breaks}holds no list of {names[0]}", text)
    if read.cut is None:
        return items
    broken = isinstance(value, list) or value.get(read.cut) is items
    if broken and items and isinstance(items[-1], list):
        found.dropped["a list that breaks off"] += 1  # its next part may have been on the way
        return items[:-1]
    return items


def _bare(value: list[Any], what: str, found: Found, text: str) -> list[Any]:
    """A list without its object; an empty one in the midst of prose may mean anything."""
    if not value and without_thinking(text).strip("`json \t\r\n") not in ("[]", "[ ]"):
        raise ParseFailure(f"it holds no list of {what}", text)
    found.mended["a bare list"] += 1
    return value


def _held(value: dict[str, Any], names: tuple[str, ...], found: Found) -> list[Any] | None:
    held = _named(value, names)
    if isinstance(held, list):
        if names[0] not in value:
            found.mended["other key names"] += 1
        return held
    single = held if isinstance(held, dict) else value
    if names is _TRIPLES and is_triple_mapping(single):
        found.mended["one triple instead of a list"] += 1
        return [single]
    # Under a name of the model's own, only a list of what was asked for: an empty one may mean
    # anything, and names are no triples.
    others = [items for items in value.values() if isinstance(items, list) and items]
    if names is _TRIPLES:
        others = [items for items in others if not all(isinstance(item, str) for item in items)]
    if held is None and len(others) == 1:
        found.mended["other key names"] += 1
        return others[0]
    return None
