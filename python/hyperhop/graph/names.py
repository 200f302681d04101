"""Names: folding for comparison, names of symbols, and names close to a wrong one."""

import unicodedata
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hyperhop._core import FoldedNames, NameIndex
from hyperhop.graph.arguments import integer

_SMALL = 2_000  # that many names are simply all compared
_NEIGHBOURS = 20
_LONGEST_TYPO = 64


def fold(name: str) -> str:
    """The form names are compared in: NFKC, case folded, "_" and runs of white space as one space.

    A name that would fold to nothing is returned unchanged.
    """
    folded = unicodedata.normalize("NFKC", name).casefold().replace("_", " ")
    return " ".join(folded.split()) or name


def symbol_names(relations: list[str]) -> list[str]:
    r"""Names of the 2 R symbols: each relation forward, then each as its inverse, "^" + name.

    A relation that itself starts with "^" or "\" is written with a leading "\", so that no two
    symbols share a name.
    """
    forward = ["\\" + name if name.startswith(("^", "\\")) else name for name in relations]
    return forward + ["^" + name for name in forward]


def symbol_ranks(names: Sequence[str]) -> npt.NDArray[np.int32]:
    """Place of each symbol in the order of symbol names; what ties are broken by. int32 (2 R,)."""
    ranks = np.empty(len(names), np.int32)
    ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names), dtype=np.int32)
    return ranks


def closest_names(name: str, names: NameIndex, folded: FoldedNames | None) -> tuple[str, ...]:
    """Up to three names like `name`, from a bounded number of candidates.

    All names of a small table are compared. Of a large one: the neighbours in byte order, the names
    that fold alike, and those that differ by one exchanged or superfluous letter.
    """
    import difflib  # only an error needs it

    folded_name = fold(name)
    ids: set[int] = set()
    if len(names) <= _SMALL:
        ids.update(names.ids(0, len(names)))
    else:
        typos = [name, folded_name, name.title(), name.replace(" ", "_"), name.replace("_", " ")]
        for typo in (name, folded_name):
            if len(typo) <= _LONGEST_TYPO:
                typos += [typo[:i] + typo[i + 1 :] for i in range(len(typo))]
                typos += [
                    typo[:i] + typo[i + 1] + typo[i] + typo[i + 2 :] for i in range(len(typo) - 1)
                ]
        ids.update(i for i in map(names.find, typos) if i >= 0)
        middle = names.lower_bound(name)
        ids.update(names.ids(middle - _NEIGHBOURS, middle + _NEIGHBOURS))
        if folded is not None:
            ids.update(folded.near(folded_name, _NEIGHBOURS))
            ids.update(i for typo in typos for i in folded.find(typo))
    by_fold: dict[str, list[str]] = {}
    for candidate in sorted(names.names(list(ids))):
        by_fold.setdefault(fold(candidate), []).append(candidate)
    close = difflib.get_close_matches(folded_name, sorted(by_fold), n=3, cutoff=0.6)
    return tuple([candidate for key in close for candidate in by_fold[key]][:3])


def id_or_none(function: str, value: int | str, names: NameIndex) -> int | None:
    """The id of a name, or an id itself; None if there is no such name or id."""
    if isinstance(value, str):
        found = names.find(value)
        return found if found >= 0 else None
    number = integer(function, "an id", value)
    return number if 0 <= number < names.num_ids else None
