"""k-hop balls and the edges of single entities; the work behind `KnowledgeGraph`'s methods."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop.graph.arguments import at_least, check_hubs, mask_or_ids
from hyperhop.graph.errors import DamagedStore

MAX_EDGES = 10_000_000
_NO_LIMIT = 2**63 - 1
_EDGE_VISITS = 10**9  # looked at for one ball, about two seconds


@dataclass(frozen=True, eq=False, slots=True)
class Subgraph:
    """The ball around topics; what `KnowledgeGraph.subgraph` returns.

    Edges name entities by their place in `entities`, so the arrays are those of a graph of their
    own (for `hyperhop.flow`, PyG, networkx) with n nodes and m edges.

    Attributes:
        entities: int32 (n,), entity ids of the graph in the order of discovery: the topics as
            given, each once, then hop by hop as the search first steps onto them. It goes through
            the entities of a hop in this same order, and from each along the edges out, then along
            those in, by (relation, neighbour); mediators of a hop go first, to what costs nothing.
        hops: int32 (n,), cost of the cheapest walk from a topic; ascending.
        heads: int32 (m,), place of each edge's head in `entities`.
        relations: int32 (m,), relation ids of the graph.
        tails: int32 (m,), place of each edge's tail in `entities`. Each fact is there once:
            induced, by (place of the head, relation, id of the tail); else in the order in which
            the search first walked them.
        topics: int32, place of each topic in `entities`, in the order given.
        hubs: int32, ascending ids of hubs: entities of which not every edge was followed,
            because they have more than `max_degree` in one direction.
        truncated: something is missing because of a bound (not because of `max_degree`).
    """

    entities: npt.NDArray[np.int32]
    hops: npt.NDArray[np.int32]
    heads: npt.NDArray[np.int32]
    relations: npt.NDArray[np.int32]
    tails: npt.NDArray[np.int32]
    topics: npt.NDArray[np.int32]
    hubs: npt.NDArray[np.int32]
    truncated: bool

    @property
    def num_entities(self) -> int:
        """Number of entities n."""
        return len(self.entities)

    @property
    def num_edges(self) -> int:
        """Number of edges m."""
        return len(self.heads)

    def __repr__(self) -> str:
        cut = ", truncated" if self.truncated else ""
        return f"Subgraph({self.num_entities} entities, {self.num_edges} edges{cut})"


def ball_arguments(
    function: str,
    num_ids: int,
    hops: int,
    direction: str,
    induced: bool,
    max_degree: int | None,
    hubs: str,
    mediators: npt.ArrayLike | None,
    max_edges: int,
) -> tuple[int, bool, bool, bool, int, bool, npt.NDArray[Any] | None, int, int]:
    """What `KnowledgeGraph.subgraph` was given, checked, as the compiled code takes it."""
    check_hubs(function, hubs)
    return (
        at_least(function, "hops", hops, 0),
        *sides(function, direction),
        bool(induced),
        _NO_LIMIT if max_degree is None else at_least(function, "max_degree", max_degree, 1),
        hubs == "skip",
        None if mediators is None else mask_or_ids(function, mediators, num_ids),
        at_least(function, "max_edges", max_edges, 1),
        _EDGE_VISITS,
    )


def sides(function: str, direction: str) -> tuple[bool, bool]:
    """Does the direction hold edges out of an entity, and into it?"""
    if direction not in ("out", "in", "both"):
        raise ValueError(f"{function}: direction must be 'out', 'in' or 'both', got {direction!r}")
    return direction != "in", direction != "out"


def find_degrees(arrays: Mapping[str, npt.NDArray[Any]], direction: str) -> npt.NDArray[np.int64]:
    """Number of edges by id; see `KnowledgeGraph.degrees`."""
    outward, inward = sides("degrees", direction)
    degrees = np.zeros(len(arrays["out_offsets"]) - 1, np.int64)
    for wanted, name in ((outward, "out_offsets"), (inward, "in_offsets")):
        if not wanted:
            continue
        rows = np.diff(arrays[name])
        if rows.min(initial=0) < 0:
            raise DamagedStore(
                f"the graph is damaged: {name} must ascend; open it with verify=True"
            )
        degrees += rows
    return degrees
