"""Which columns of a table hold head, relation and tail."""

from collections.abc import Sequence

Columns = tuple[str, str, str]

# Names that a head, a relation and a tail go by together.
_FAMILIES = (
    ("head", "relation", "tail"),
    ("subject", "predicate", "object"),
    ("subject", "relation", "object"),
    ("subj", "pred", "obj"),
    ("source", "relation", "target"),
    ("source", "edge", "target"),
    ("src", "rel", "dst"),
    ("from", "relation", "to"),
    ("h", "r", "t"),
    ("s", "p", "o"),
)
_HEADS = {family[0] for family in _FAMILIES}
_TAILS = {family[2] for family in _FAMILIES}


def check_columns(columns: Sequence[str] | None) -> Columns | None:
    """`columns` as three distinct str. Raises TypeError or ValueError."""
    if columns is None:
        return None
    if isinstance(columns, str) or not all(isinstance(name, str) for name in columns):
        raise TypeError(f"from_triples: columns must be three str, got {columns!r}")
    if len(columns) != 3 or len(set(columns)) != 3:
        raise ValueError(
            f"from_triples: columns must name head, relation and tail, got {tuple(columns)!r}"
        )
    head, relation, tail = columns
    return head, relation, tail


def find_columns(names: Sequence[str], wanted: Columns | None, source: str) -> Columns | None:
    """The names of the three columns; None where they cannot be told by name and are not three.

    Raises ValueError where a wanted column is missing or occurs twice, and where the names make
    two answers possible.
    """
    where = f"{source}: " if source else ""
    if wanted is not None:
        for name in wanted:
            if list(names).count(name) != 1:
                found = "are two columns" if name in names else "is no column"
                raise ValueError(f"{where}there {found} {name!r} in {_listed(names)}")
        return wanted
    plain = [name.strip().casefold() for name in names]
    known = [family for family in _FAMILIES if all(plain.count(part) == 1 for part in family)]
    if len(known) == 1:
        head, relation, tail = (names[plain.index(part)] for part in known[0])
        return head, relation, tail
    turned = len(names) == 3 and (plain[0] in _TAILS or plain[2] in _HEADS)
    if known or turned:
        raise ValueError(
            f"{where}cannot tell head, relation and tail among {_listed(names)}: name them "
            "with columns"
        )
    if len(names) == 3 and len(set(names)) == 3:
        return names[0], names[1], names[2]
    return None


def need_columns(names: Sequence[str], wanted: Columns | None, source: str) -> Columns:
    """Like `find_columns`, but raises ValueError instead of answering None."""
    found = find_columns(names, wanted, source)
    if found is None:
        where = f"{source}: " if source else ""
        raise ValueError(
            f"{where}cannot tell head, relation and tail among {_listed(names)}: name them "
            "with columns"
        )
    return found


def _listed(names: Sequence[str]) -> str:
    return "the columns " + ", ".join(map(repr, names)) if names else "no columns"
