"""The graph itself: building, saving, looking up, and walking."""

import operator
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._arrays import threads_argument
from hyperhop._core import (
    FoldedNames,
    GraphIndex,
    GraphLimits,
    NameIndex,
    graph_ball,
    graph_balls,
    graph_degree,
    graph_neighbours,
    graph_paths,
    graph_sequences,
)
from hyperhop.graph import store
from hyperhop.graph.errors import DamagedStore, UnknownEntity, UnknownRelation
from hyperhop.graph.names import closest_names, fold, symbol_names
from hyperhop.graph.path_set import PathSet
from hyperhop.graph.read import BuildReport, Progress, Triples, read_triples
from hyperhop.graph.subgraph import MAX_EDGES, Subgraph, ball_arguments, find_degrees, sides
from hyperhop.paths import Paths, as_paths

_KIND = "graph"
_DTYPES = {
    "entity_names": np.uint8,
    "entity_name_offsets": np.int64,
    "relation_names": np.uint8,
    "relation_name_offsets": np.int64,
    "out_offsets": np.int64,
    "out_relations": np.int32,
    "out_tails": np.int32,
    "in_offsets": np.int64,
    "in_relations": np.int32,
    "in_heads": np.int32,
}
# Bounds on one call of sequences() or paths(): about two seconds and half a gigabyte.
_LIMITS = GraphLimits(edge_visits=10**9, entries=125_000_000, simple_steps=50_000_000)
_FEW_ENTITIES = 100_000  # so few names are folded just to explain an unknown one
_CHUNK_TRIPLES = 65_536
_LARGEST = 2**62


class KnowledgeGraph:
    """An immutable directed multigraph of named facts (head, relation, tail).

    Exact duplicates are merged, parallel relations are kept apart, self loops are legal. Entity and
    relation ids are the ranks of their names in UTF-8 byte order, so the graph is a pure function
    of its set of facts. Symbol r walks relation r forward, R + r walks it backward.

    Make one with `from_triples` or `open`. Pickles (protocol 5 shares its buffers).
    """

    def __init__(
        self,
        arrays: Mapping[str, npt.NDArray[Any]],
        settings: Mapping[str, Any] | None = None,
        build_report: BuildReport | None = None,
    ) -> None:
        self._arrays = dict(arrays)
        self._settings = None if settings is None else dict(settings)
        self._build_report = build_report
        self._entities = NameIndex(arrays["entity_names"], arrays["entity_name_offsets"])
        self._relations = NameIndex(arrays["relation_names"], arrays["relation_name_offsets"])
        self._index = GraphIndex(
            arrays["out_offsets"],
            arrays["out_relations"],
            arrays["out_tails"],
            arrays["in_offsets"],
            arrays["in_relations"],
            arrays["in_heads"],
            len(self._relations),
        )

    # Building and storing

    @classmethod
    def from_triples(
        cls,
        source: str | os.PathLike[str] | Triples,
        *,
        delimiter: str | None = None,
        header: bool = False,
        skip_bad: bool = False,
        progress: Progress | None = None,
    ) -> "KnowledgeGraph":
        """Build from a file, or from any iterable of (head, relation, tail) of str.

        A file is UTF-8 (a byte order mark is dropped), one triple a line, blank lines ignored;
        `.tsv` and `.txt` are split at tabs and taken verbatim, `.csv` at commas with the quoting of
        the csv module; `.gz` after any of them is decompressed.

        Args:
            source: path or iterable.
            delimiter: one character that replaces the tab or comma; needed for other suffixes,
                which are taken verbatim.
            header: leave out the first line that is not blank.
            skip_bad: leave out malformed lines and count them in `build_report`.
            progress: called with (bytes read, bytes in all) of a file every megabyte or so.

        Raises MalformedLine at a line that does not hold three non-empty fields of valid UTF-8,
        UnreadableFile where decompression fails, FileNotFoundError, TypeError for items that are
        not three str, ValueError beyond 2**31 - 1 entities.
        O(n log n) for the names, O(n) for the triples.
        """
        arrays, report = read_triples(
            source, delimiter=delimiter, header=header, skip_bad=skip_bad, progress=progress
        )
        return cls(arrays, None, report)

    def save(
        self, directory: str | os.PathLike[str], settings: Mapping[str, Any] | None = None
    ) -> None:
        """Save to a directory of .npy files and meta.json, atomically.

        `settings` is any JSON mapping, kept as `settings` of the opened graph. The same facts give
        the same bytes in a new directory. Waits while another process saves there.
        """
        counts = {
            "entities": self.num_entities,
            "relations": self.num_relations,
            "triples": self.num_triples,
        }
        store.save(directory, _KIND, self._arrays, counts, settings)

    @classmethod
    def open(cls, directory: str | os.PathLike[str], verify: bool = False) -> "KnowledgeGraph":
        """Open a saved graph by memory map: no array and no name is read before it is used.

        With `verify` all files are read and compared with their checksums. Raises DamagedStore
        where the directory is incomplete, changed, foreign or of a newer version, and
        FileNotFoundError where there is none.
        """
        stored = store.load(directory, _KIND, verify)
        _check_stored(directory, stored)
        return cls(stored.arrays, stored.settings, None)

    def __getstate__(self) -> dict[str, Any]:
        return {
            "arrays": self._arrays,
            "settings": self._settings,
            "build_report": self._build_report,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]  # rebuilds the views on the arrays

    def __repr__(self) -> str:
        return (
            f"KnowledgeGraph({self.num_entities} entities, {self.num_relations} relations, "
            f"{self.num_triples} triples)"
        )

    @property
    def settings(self) -> dict[str, Any] | None:
        """The settings the graph was saved with; None if none were, or it was not opened."""
        return None if self._settings is None else dict(self._settings)

    @property
    def build_report(self) -> BuildReport | None:
        """What building met; None for an opened graph."""
        return self._build_report

    # Names

    @property
    def num_entities(self) -> int:
        """Number of entities."""
        return len(self._entities)

    @property
    def num_relations(self) -> int:
        """Number of relations R."""
        return len(self._relations)

    @property
    def num_triples(self) -> int:
        """Number of distinct facts."""
        return len(self._arrays["out_tails"])

    def entity_name(self, entity: int) -> str:
        """Name of an entity id. Raises IndexError for an id the graph does not have."""
        return self._entities.name(entity)

    def entity_names(self, entities: Iterable[int]) -> list[str]:
        """Names of entity ids. Raises IndexError for an id the graph does not have."""
        return self._entities.names(list(entities))

    def relation_name(self, relation: int) -> str:
        """Name of a relation id. Raises IndexError for an id the graph does not have."""
        return self._relations.name(relation)

    def entity_id(self, name: str) -> int:
        """Id of an entity by its exact name, O(log V). Raises UnknownEntity."""
        _check_str("entity_id", name)
        found = self._entities.find(name)
        if found < 0:
            explain = self.num_entities <= _FEW_ENTITIES or "folded_names" in self.__dict__
            folded = self.folded_names if explain else None
            raise UnknownEntity(name, closest_names(name, self._entities, folded))
        return found

    def relation_id(self, name: str) -> int:
        """Id of a relation by its exact name, O(log R). Raises UnknownRelation."""
        _check_str("relation_id", name)
        found = self._relations.find(name)
        if found < 0:
            raise UnknownRelation(name, closest_names(name, self._relations, None))
        return found

    @cached_property
    def symbols(self) -> list[str]:
        r"""Names of the 2 R symbols: relation r at r, its inverse "^" + name at R + r.

        A relation that starts with "^" or "\" is written with a leading "\".
        """
        return symbol_names(self._relations.names(range(self.num_relations)))

    @cached_property
    def folded_names(self) -> FoldedNames:
        """Entity ids by folded name, for `EntityLinker`; built when first asked for, then kept."""
        return FoldedNames(self._entities, fold)

    # Facts

    def has_triple(self, head: int | str, relation: int | str, tail: int | str) -> bool:
        """Is this a fact of the graph? Takes names or ids; an unknown one makes it False.

        O(log degree).
        """
        head_id = _id_or_none(head, self._entities)
        relation_id = _id_or_none(relation, self._relations)
        tail_id = _id_or_none(tail, self._entities)
        if head_id is None or relation_id is None or tail_id is None:
            return False
        return self._index.has_triple(head_id, relation_id, tail_id)

    def triples(self) -> Iterator[tuple[str, str, str]]:
        """All facts as names, ordered by (head, relation, tail)."""
        for begin in range(0, self.num_triples, _CHUNK_TRIPLES):
            edges = np.arange(begin, min(begin + _CHUNK_TRIPLES, self.num_triples))
            heads = np.searchsorted(self._arrays["out_offsets"], edges, side="right") - 1
            relations = self._arrays["out_relations"][edges]
            tails = self._arrays["out_tails"][edges]
            try:
                yield from zip(
                    self._entities.names(heads.tolist()),
                    self._relations.names(relations.tolist()),
                    self._entities.names(tails.tolist()),
                    strict=True,
                )
            except IndexError:
                raise DamagedStore("the graph is damaged: a triple holds an unknown id") from None

    # Neighbourhoods

    def neighbors(
        self, entity: int | str, direction: str = "out", relation: int | str | None = None
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Edges of one entity, as (relations, entities at the other end), both int32 (degree,).

        Ordered by (relation, entity), copies of the graph's arrays. O(degree); with `relation`
        O(log degree + result).

        Args:
            entity: name or id.
            direction: "out" for facts with this head, "in" for those with this tail.
            relation: only edges of this relation, by name or id.

        Raises UnknownEntity, UnknownRelation, IndexError for an id the graph does not have, and
        ValueError for another direction.
        """
        if direction not in ("out", "in"):
            raise ValueError(f"neighbors: direction must be 'out' or 'in', got {direction!r}")
        wanted = -1 if relation is None else self._relation("neighbors", relation)
        at = self._topic("neighbors", entity, "entity")
        return graph_neighbours(self._index, at, direction == "out", wanted)

    def degree(self, entity: int | str, direction: str = "both") -> int:
        """Number of facts with this entity as head ("out"), as tail ("in"), or their sum ("both").

        A self loop counts in both directions. O(1). Raises UnknownEntity, IndexError for an id the
        graph does not have, and ValueError for another direction.
        """
        outward, inward = sides("degree", direction)
        return graph_degree(self._index, self._topic("degree", entity, "entity"), outward, inward)

    def degrees(self, direction: str = "both") -> npt.NDArray[np.int64]:
        """`degree` of every entity: int64, by id. O(V)."""
        return find_degrees(self._arrays, direction)

    def subgraph(
        self,
        topics: int | str | Iterable[int | str],
        hops: int,
        direction: str = "both",
        induced: bool = True,
        *,
        max_degree: int | None = None,
        hubs: str = "sample",
        mediators: npt.ArrayLike | None = None,
        max_edges: int = MAX_EDGES,
    ) -> Subgraph:
        """The ball of all entities within `hops` of a topic, and its edges.

        Args:
            topics: entity name or id, or several of them: the ball around all at once.
            hops: radius; 0 gives the topics alone.
            direction: the ball grows along edges from head to tail ("out"), from tail to head
                ("in"), or "both" ways.
            induced: True gives every edge between two entities of the ball, False only the edges
                within `hops`: those that the search walked, which leaves out edges between two
                entities at the rim.
            max_degree: an entity with more edges in one direction is a hub. None: there are none.
            hubs: "sample" follows at a hub, of each relation, the same number of edges, evenly
                spaced: `max_degree` / number of its relations, at least one. "skip" does not leave
                it, except a topic, which is sampled. With `induced` an edge from a hub is kept if
                its head or its tail follows it, so only edges between two hubs can be missing;
                else only followed edges are kept. `hub_ids` names the hubs met.
            mediators: ids, or a boolean mask by id (which costs nothing to pass), of entities that
                only tie others together, such as the blank nodes of n-ary facts. Walking through
                one costs a single hop: entering it does, leaving it is free, except to another
                mediator. A topic counts as none.
            max_edges: the search stops after following so many edges and keeps what it found; of
                the edges the first so many are kept. `truncated` tells of both, and of a limit of
                a billion edges looked at. Memory is at most about 100 bytes an edge.

        The same arguments give the same bits. Time and memory are proportional to the edges of the
        entities in the ball, whatever the size of the graph.

        Raises UnknownEntity, IndexError for an id the graph does not have, TypeError or ValueError
        for an argument outside its range.
        """
        options = ball_arguments(
            "subgraph",
            self._num_ids,
            hops,
            direction,
            induced,
            max_degree,
            hubs,
            mediators,
            max_edges,
        )
        return Subgraph(*graph_ball(self._index, self._topics("subgraph", topics), *options))

    def subgraph_batch(
        self,
        topics: Iterable[int | str | Iterable[int | str]],
        hops: int,
        direction: str = "both",
        induced: bool = True,
        *,
        max_degree: int | None = None,
        hubs: str = "sample",
        mediators: npt.ArrayLike | None = None,
        max_edges: int = MAX_EDGES,
        threads: int | None = None,
    ) -> list[Subgraph]:
        """One ball for each item of `topics`, over threads; the same bits as `subgraph` gives.

        Args:
            topics: of each ball what `subgraph` takes. The other arguments are `subgraph`'s, and
                `max_edges` bounds each ball.
            threads: None for the default (HYPERHOP_NUM_THREADS, else the processors at hand).
        """
        if isinstance(topics, str):
            raise TypeError("subgraph_batch: topics must be an iterable of topics, got str")
        lists = [self._topics("subgraph_batch", each) for each in topics]
        options = ball_arguments(
            "subgraph_batch",
            self._num_ids,
            hops,
            direction,
            induced,
            max_degree,
            hubs,
            mediators,
            max_edges,
        )
        count = threads_argument(threads, "subgraph_batch")
        return [Subgraph(*ball) for ball in graph_balls(self._index, lists, *options, count)]

    # Walks

    def sequences(
        self,
        topic: int | str,
        max_hops: int,
        beam: int | None = None,
        cap: int = 100_000,
        inverse: bool = False,
        return_to_topic: bool = True,
    ) -> Paths:
        """All symbol sequences of 1 to `max_hops` hops that some walk from `topic` follows.

        Works on sets of nodes; entity paths are never listed.

        Args:
            topic: entity name or id.
            max_hops: length of the longest sequence.
            beam: keep at each depth only that many sequences, those with the fewest distinct end
                entities (the most specific), ties by symbol names. Only they are returned and
                extended. What a beam drops does not count as truncated.
            cap: length of the result. It is then the first part of the full one, so shallow depths
                are complete before deeper ones begin.
            inverse: also walk edges backward (symbols R + r).
            return_to_topic: False forbids stepping onto the topic again.

        Returns Paths of symbol ids ordered by (length, symbols). `.truncated` tells that `cap` cut
        it, or that the call looked at a billion edges or would have held 125 million ids; the
        sequences found until then are returned.

        Raises UnknownEntity, and ValueError for max_hops < 0, cap < 1 or beam < 1.
        """
        start = self._topic("sequences", topic)
        hops = _at_least("sequences", "max_hops", max_hops, 0)
        most = _at_least("sequences", "cap", cap, 1)
        width = 0 if beam is None else _at_least("sequences", "beam", beam, 1)
        ranks = self._symbol_ranks if width else np.zeros(0, np.int32)
        symbols, offsets, truncated = graph_sequences(
            self._index, start, hops, most, width, inverse, return_to_topic, ranks, _LIMITS
        )
        return Paths(symbols, offsets, truncated)

    def paths(
        self,
        topic: int | str,
        max_hops: int,
        sequences: Paths | npt.ArrayLike | None = None,
        cap: int = 10_000,
        simple: bool = False,
        inverse: bool = False,
        return_to_topic: bool = True,
    ) -> PathSet:
        """Entity paths from `topic`, sequence by sequence, each in ascending entity order.

        Args:
            topic: entity name or id.
            max_hops: length of the longest sequence.
            sequences: symbol sequences to expand, in this order; one that no walk follows has no
                path. By default all that `self.sequences` finds. Symbols say their own direction.
            cap: number of paths in all. Every sequence with a path keeps its first one (the first
                `cap` sequences, if there are more); the rest goes to the sequences in order.
            simple: no entity twice on a path. Such a search can meet dead ends, so there are 50
                million steps for all sequences. The ends of a sequence, and then its paths, may
                take a quarter of what is left, and always 4,096.
            inverse: for the default sequences, also walk edges backward.
            return_to_topic: False forbids stepping onto the topic again.

        The end entities of each sequence are complete whatever `cap` is; `.truncated` and
        `.ends_truncated` tell what `cap` or a limit (one billion edges looked at, 125 million ids
        held, the steps above) cut.

        Raises UnknownEntity, and ValueError for max_hops < 0, cap < 1, a sequence longer than
        max_hops or a symbol the graph does not have.
        """
        start = self._topic("paths", topic)
        hops = _at_least("paths", "max_hops", max_hops, 0)
        most = _at_least("paths", "cap", cap, 1)
        if sequences is None:
            chosen = self.sequences(start, hops, inverse=inverse, return_to_topic=return_to_topic)
        else:
            chosen = as_paths(sequences, "paths")
            longest = int(chosen.lengths.max(initial=0))
            if longest > hops:
                raise ValueError(
                    f"paths: sequences must have at most max_hops = {hops} symbols, got {longest}"
                )
        entities, offsets, ends, end_offsets, truncated, ends_truncated = graph_paths(
            self._index,
            start,
            chosen.symbols,
            chosen.offsets,
            most,
            simple,
            return_to_topic,
            _LIMITS,
        )
        return PathSet(
            chosen,
            entities,
            offsets,
            truncated or chosen.truncated,
            ends,
            end_offsets,
            ends_truncated,
        )

    @cached_property
    def _symbol_ranks(self) -> npt.NDArray[np.int32]:
        """Place of each symbol in the byte order of symbol names; what ties are broken by."""
        order = sorted(range(len(self.symbols)), key=self.symbols.__getitem__)
        ranks = np.empty(len(order), np.int32)
        ranks[order] = np.arange(len(order), dtype=np.int32)
        return ranks

    @property
    def _num_ids(self) -> int:
        return len(self._arrays["out_offsets"]) - 1

    def _topic(self, function: str, topic: int | str, argument: str = "topic") -> int:
        if isinstance(topic, str):
            return self.entity_id(topic)
        entity = _integer(function, argument, topic)
        if not 0 <= entity < self.num_entities:
            raise IndexError(
                f"{function}: {argument} must be an id below {self.num_entities}, got {entity}"
            )
        return entity

    def _topics(self, function: str, topics: int | str | Iterable[int | str]) -> list[int]:
        if isinstance(topics, Iterable) and not isinstance(topics, str):
            return [self._topic(function, topic) for topic in topics]
        return [self._topic(function, topics)]

    def _relation(self, function: str, relation: int | str) -> int:
        if isinstance(relation, str):
            return self.relation_id(relation)
        number = _integer(function, "relation", relation)
        if not 0 <= number < self.num_relations:
            raise IndexError(
                f"{function}: relation must be an id below {self.num_relations}, got {number}"
            )
        return number


def _check_stored(directory: str | os.PathLike[str], stored: store.Stored) -> None:
    """The arrays' lengths must fit together, because the compiled code relies on that."""
    entities, relations, triples = (
        stored.counts.get(key, -1) for key in ("entities", "relations", "triples")
    )
    lengths = {
        "entity_name_offsets": entities + 1,
        "relation_name_offsets": relations + 1,
        "out_offsets": entities + 1,
        "in_offsets": entities + 1,
        "out_relations": triples,
        "out_tails": triples,
        "in_relations": triples,
        "in_heads": triples,
    }
    for name, dtype in _DTYPES.items():
        array = stored.arrays.get(name)
        if array is None or array.dtype != dtype or len(array) != lengths.get(name, len(array)):
            raise DamagedStore(f"{os.fspath(directory)} is damaged: {name} does not fit the counts")


def _integer(function: str, argument: str, value: Any) -> int:
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"{function}: {argument} must be an integer, got {type(value).__name__}"
        ) from None


def _at_least(function: str, argument: str, value: Any, least: int) -> int:
    number = _integer(function, argument, value)
    if number < least:
        raise ValueError(f"{function}: {argument} must be at least {least}, got {number}")
    return min(number, _LARGEST)


def _check_str(function: str, name: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(f"{function}: name must be str, got {type(name).__name__}")


def _id_or_none(value: int | str, names: NameIndex) -> int | None:
    if isinstance(value, str):
        found = names.find(value)
        return found if found >= 0 else None
    number = _integer("has_triple", "an id", value)
    return number if 0 <= number < len(names) else None
