"""What of an older index serves a new one: the rows of texts that both hold, and links."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hyperhop.help.embed import Known
from hyperhop.help.index import PassageIndex
from hyperhop.help.resolve import Resolved
from hyperhop.help.synonyms import Pairs
from hyperhop.help.texts import TextTable

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Former:
    """Where passages that were kept, and entities and triples shown alike, stood in an older index.

    `entities` are known if that index has rows of them.
    """

    passages: Known
    triples: Known
    entities: Known | None
    links: Pairs


def former(index: PassageIndex, passages: Ids, graph: Resolved) -> Former:
    """Look everything of the new graph up in the older index. O(names + triples log triples).

    `passages` are the places of the new passages there, or -1.
    """
    entities = _places(graph.entities, index.entities)
    relations = _places(graph.relations, index.relations)
    heads, labels, tails = graph.triples.T
    wanted = np.stack([entities[heads], relations[labels], entities[tails]], axis=1)
    rows = index.entity_embeddings
    return Former(
        Known(passages, index.passage_embeddings),
        Known(_row_places(wanted, index.triples), index.triple_embeddings),
        None if rows is None else Known(entities, rows),
        (index.links, index.similarities),
    )


def kept_links(was: Former, entities: Known) -> Pairs:
    """The older links between entities that are still there, by their new ids."""
    pairs, similarities = was.links
    new = np.full(len(entities.rows), -1, np.int64)
    there = np.flatnonzero(entities.places >= 0)
    new[entities.places[there]] = there  # ascending: both are ranks of the same names
    moved = new[pairs]
    kept = (moved >= 0).all(axis=1)
    return moved[kept], similarities[kept]


def _places(names: TextTable, among: TextTable) -> Ids:
    places = {name: place for place, name in enumerate(among)}
    return np.array([places.get(name, -1) for name in names], np.int64)


def _row_places(wanted: Ids, rows: Ids) -> Ids:
    """Where each wanted row is among `rows`, or -1; the rows of either are distinct.

    Wanted rows that hold a -1 may be equal to each other, never to one of `rows`.
    """
    both = np.concatenate([rows, wanted])
    order = np.lexsort((both[:, 2], both[:, 1], both[:, 0]))  # stable: `rows` before `wanted`
    left, right = order[:-1], order[1:]
    equal = (both[left] == both[right]).all(axis=1) & (left < len(rows)) & (right >= len(rows))
    places = np.full(len(wanted), -1, np.int64)
    places[right[equal] - len(rows)] = left[equal]
    return places
