"""Symbols and relation names: which way they point, and the words in them."""

import re
from typing import NamedTuple

from hyperhop.text.words import split_identifier

INVERSE_MARK = "^"
_SEGMENT = re.compile(r"__+|\.+")
_SLASHED = re.compile(r"[/.]+")


class RelationWords(NamedTuple):
    """Words of a relation name: `core` says what it is, `context` which kind of thing has it."""

    core: tuple[str, ...]
    context: tuple[str, ...]


def split_symbol(symbol: str) -> tuple[str, bool]:
    r"""Relation name and direction of a graph symbol: "^name" is `name` walked backwards.

    A relation that itself begins with "^" or "\" carries one leading "\", removed here.
    """
    inverse = symbol.startswith(INVERSE_MARK)
    name = symbol[1:] if inverse else symbol
    return name.removeprefix("\\"), inverse


def relation_words(name: str) -> RelationWords:
    """Words of one relation name (not a symbol), lower case, without repeats.

    snake_case, camelCase, the last part of a URI, and `domain.type.property`,
    `/domain/type/property` (Freebase) or `__domain__type__property` (PQL), whose last part is the
    core. A context word that repeats the core or an earlier context word is left out.
    """
    parts = [name]
    if not any(c.isspace() for c in name):
        last = re.split(r"[/#]", name.rstrip("/#"))[-1] if "://" in name else name
        parts = (_SLASHED if last.startswith("/") else _SEGMENT).split(last)
    split = [split_identifier(part) for part in parts]
    split = [part for part in split if part]
    if not split:
        return RelationWords((name,), ())  # "->" and the like: no word, but still a name
    # a lone letter beside other words is a plural mark ("spouse_s") or noise
    core = tuple(dict.fromkeys(w for w in split[-1] if len(w) > 1 or not w.isascii())) or tuple(
        split[-1]
    )
    context = dict.fromkeys(w for part in split[:-1] for w in part if w not in core)
    return RelationWords(core, tuple(context))
