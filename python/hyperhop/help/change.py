"""Changing an index: the result equals one built from the passages it then holds."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop.help.assemble import assemble
from hyperhop.help.build import Triples, triples_of
from hyperhop.help.index import PassageIndex
from hyperhop.help.passages import Passage, as_passages
from hyperhop.help.statements import Statements
from hyperhop.help.texts import PassageTable
from hyperhop.text import TextEncoder, encoder_for
from hyperhop.text.batches import Progress

Passages = Iterable[Passage | str | Mapping[str, Any]]


def add(
    index: PassageIndex,
    passages: Passages,
    triples: Triples | None = None,
    encoder: str | TextEncoder | None = None,
    *,
    progress: Progress | None = None,
) -> PassageIndex:
    """The index with these passages behind the others; see `build_index` for the arguments.

    A passage that is given without an id gets its position in the whole. Every array equals, bit
    for bit, that of an index built from all passages in this order, provided that the encoder gives
    a text the same row whatever texts are beside it (those that ours run on the CPU promise 1e-5
    only, save `hashing`; rows of a `CachedEncoder` are the same). Only texts that are new are
    encoded.

    Args:
        encoder: None for the index's own; another one is refused.

    Raises ValueError for an id that is in the index, and what `build_index` raises. O(passages +
    triples log triples) beside the encoding.
    """
    start = len(index.passages)
    listed = as_passages(passages, start)
    taken = [one.id for one in listed if one.id in index.passages.positions]
    if taken:
        raise ValueError(f"add: the index has a passage {taken[0]!r} already; use update")
    order = np.arange(start + len(listed))
    return _changed("add", index, listed, triples, order, encoder, progress)


def remove(
    index: PassageIndex,
    ids: Iterable[str],
    encoder: str | TextEncoder | None = None,
    *,
    progress: Progress | None = None,
) -> PassageIndex:
    """The index without the passages of these ids, else as `add`.

    Names that are written in another form in most of the other passages are shown so, which may
    change the text of triples: then these are encoded. ValueError for an id that is not there, or
    comes twice, TypeError for one string.
    """
    if isinstance(ids, str):
        raise TypeError("remove: expected an iterable of passage ids, got one str")
    gone = _positions("remove", index, ids)
    kept = np.setdiff1d(np.arange(len(index.passages)), gone)
    return _changed("remove", index, [], None, kept, encoder, progress)


def update(
    index: PassageIndex,
    passages: Passages,
    triples: Triples | None = None,
    encoder: str | TextEncoder | None = None,
    *,
    progress: Progress | None = None,
) -> PassageIndex:
    """The index with other texts, titles and triples for passages it holds, by id; else as `add`.

    Each stays at its position. A passage given without triples has none then. ValueError for an id
    that is not there.
    """
    listed = as_passages(passages)
    order = np.arange(len(index.passages))
    order[_positions("update", index, [one.id for one in listed])] = len(order) + np.arange(
        len(listed)
    )
    return _changed("update", index, listed, triples, order, encoder, progress)


def _positions(function: str, index: PassageIndex, ids: Iterable[str]) -> list[int]:
    found: dict[int, None] = {}
    for name in ids:
        position = index.passages.positions.get(name)
        if position is None:
            raise ValueError(f"{function}: the index has no passage {name!r}")
        if position in found:
            raise ValueError(f"{function}: the passage {name!r} is given twice")
        found[position] = None
    return list(found)


def _changed(
    function: str,
    index: PassageIndex,
    new: list[Passage],
    triples: Triples | None,
    order: npt.NDArray[np.int64],
    encoder: str | TextEncoder | None,
    progress: Progress | None,
) -> PassageIndex:
    """The index of the passages at `order` among the old ones followed by the new ones."""
    statements = index.statements.then(Statements.of(triples_of(function, new, triples)))
    passages = index.passages.then(PassageTable.of(new))
    return assemble(
        passages.take(order),
        statements.take(order),
        encoder_for(index.encoder, encoder),
        index.storage,
        index.synonyms,
        progress,
        (index, np.where(order < len(index.passages), order, -1)),
    )
