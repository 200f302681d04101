"""The graph itself: building, saving, looking up, and walking."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._arrays import threads_argument
from hyperhop._core import (
    FoldedNames,
    GraphIndex,
    NameIndex,
    graph_ball,
    graph_balls,
    graph_degree,
    graph_equal,
    graph_leaving,
    graph_neighbours,
)
from hyperhop.graph import change, convert, store, walks
from hyperhop.graph.arguments import at_least, integer
from hyperhop.graph.errors import DamagedStore, UnknownEntity, UnknownRelation
from hyperhop.graph.export import export
from hyperhop.graph.facts import Facts, find_triples
from hyperhop.graph.names import closest_names, fold, id_or_none, symbol_names, symbol_ranks
from hyperhop.graph.path_set import PathSet
from hyperhop.graph.read import BuildReport, Progress, Triples, objects, read_triples
from hyperhop.graph.read.report import Intake
from hyperhop.graph.schema import (
    SCHEMA_DTYPES,
    RelationSchema,
    holds_schema,
    schema_arrays,
    schema_misfit,
)
from hyperhop.graph.sequences import Sequences
from hyperhop.graph.stats import GraphStatistics, graph_statistics
from hyperhop.graph.subgraph import MAX_EDGES, Subgraph, ball_arguments, find_degrees, sides
from hyperhop.paths import Paths

_KIND = "graph"
_HOLD_GRAPHS = (_KIND, "rsf")  # kinds of directory that a graph can be opened from
_DTYPES = {
    "entity_names": np.uint8,
    "entity_name_offsets": np.int64,
    "entity_order": np.int32,
    "relation_names": np.uint8,
    "relation_name_offsets": np.int64,
    "relation_order": np.int32,
    "out_offsets": np.int64,
    "out_relations": np.int32,
    "out_tails": np.int32,
    "in_offsets": np.int64,
    "in_relations": np.int32,
    "in_heads": np.int32,
}
_RANKS = np.zeros(0, np.int32)  # order of a table whose ids are the ranks of its names
_FEW_ENTITIES = 100_000  # so few names are folded just to explain an unknown one


class KnowledgeGraph:
    """An immutable directed multigraph of named facts (head, relation, tail).

    Exact duplicates are merged, parallel relations are kept apart, self loops are legal. Entity and
    relation ids are the ranks of their names in UTF-8 byte order, so the graph is a pure function
    of its set of facts. Symbol r walks relation r forward, R + r walks it backward.

    `merge` and `without` make changed graphs whose names keep their ids: there new names have the
    last ids, and the id of a name without facts is retired, not given away. So size what is indexed
    by id with `num_entity_ids` and `num_relation_ids` (R); in a graph built at once they equal
    `num_entities` and `num_relations`. Walks and `triples` go through a graph in order of ids, and
    so does what `cap` or the sample at a hub leaves out of a walk.

    Graphs are equal if they hold the same names and facts, whatever their ids: O(triples).
    Make one with `from_triples` or `open`. Pickles (protocol 5 shares its buffers).
    """

    def __init__(
        self,
        arrays: Mapping[str, npt.NDArray[Any]],
        settings: Mapping[str, Any] | None = None,
        build_report: BuildReport | None = None,
    ) -> None:
        self._arrays = {"entity_order": _RANKS, "relation_order": _RANKS, **arrays}
        self._settings = None if settings is None else dict(settings)
        self._build_report = build_report
        self._entities, self._relations = (
            NameIndex(
                arrays[f"{kind}_names"],
                arrays[f"{kind}_name_offsets"],
                self._arrays[f"{kind}_order"],
            )
            for kind in ("entity", "relation")
        )
        self._index = GraphIndex(
            arrays["out_offsets"],
            arrays["out_relations"],
            arrays["out_tails"],
            arrays["in_offsets"],
            arrays["in_relations"],
            arrays["in_heads"],
            self._relations.num_ids,
        )

    # Building and storing

    @classmethod
    def from_triples(
        cls,
        source: str | os.PathLike[str] | Triples | Any,
        *,
        delimiter: str | None = None,
        header: bool = False,
        columns: Sequence[str] | None = None,
        literals: str = "keep",
        blank_nodes: str = "keep",
        skip_bad: bool = False,
        progress: Progress | None = None,
    ) -> "KnowledgeGraph":
        """Build from a file, a table, or any iterable of (head, relation, tail) of str.

        The suffix of a file tells its format; `.gz` or `.zst` may follow it, save on Parquet and
        Arrow, which compress inside.

        - `.tsv`, `.txt`: UTF-8 (a byte order mark is dropped), one triple a line, blank lines
          ignored, split at tabs, taken verbatim. `.csv`: at commas, quoted as the csv module does.
        - `.jsonl`, `.ndjson`: an object or an array of three on each line; whole numbers become
          decimal text.
        - `.parquet`, `.pq`; `.arrow`, `.feather`, `.ipc` (IPC file or stream): text columns, plain
          or dictionary-encoded; whole numbers become decimal text. Extra `arrow`.
        - `.nt`: N-Triples. An IRI is its own name, without brackets. A blank node is `_:label`;
          labels belong to one file, so merging graphs of two files unifies equal labels. A literal
          is its N-Triples form: quotes, escapes, language tag (in lower case) and datatype
          included. IRIs `urn:hyperhop:...`, which `export` writes, are decoded. Extra `rdf`.

        A table in memory is anything that hands out an Arrow stream: pandas (2.2 or later) and
        polars frames, pyarrow tables and readers, duckdb results. It is read batch by batch.

        Args:
            source: path, table or iterable.
            delimiter: one character that replaces the tab or comma; needed for other suffixes,
                which are taken verbatim.
            header: the first line that is not blank names the columns, and is no triple.
            columns: names of the columns (JSON keys) of head, relation and tail; a file of lines
                then has a header. Default: usual names (head, relation, tail; subject, predicate,
                object; source, relation, target; h, r, t ...), else three columns in their order.
            literals: of N-Triples: "keep"; "value" for the text alone, which merges literals that
                differ only in tag or datatype, and one that spells an IRI with it; or "skip"
                statements with a literal.
            blank_nodes: of N-Triples: "keep", or "skip" statements with a blank node.
            skip_bad: leave out malformed lines (rows, items; a null or empty name too) and count
                them in `build_report`.
            progress: called with (done, in all) every megabyte or so: bytes of the file, but rows
                of a Parquet file. Not called for tables and iterables.

        Raises MalformedLine at a line that does not hold three non-empty names of valid UTF-8,
        UnreadableFile where a file is not what its suffix says, FileNotFoundError, TypeError for
        items that are not three str, columns that are not text and options that do not belong to
        the source, ValueError where columns cannot be told and beyond 2**31 - 1 entities,
        ImportError that names a missing extra.
        O(n log n) for the names, O(n) for the triples; memory for the graph and one batch.
        """
        arrays, report = read_triples(
            source,
            delimiter=delimiter,
            header=header,
            columns=columns,
            literals=literals,
            blank_nodes=blank_nodes,
            skip_bad=skip_bad,
            progress=progress,
        )
        return cls(arrays, None, report)

    @classmethod
    def from_networkx(cls, graph: Any, relation: str = "relation") -> "KnowledgeGraph":
        """Build from a networkx `MultiDiGraph` or `DiGraph`.

        The relation of an edge is its attribute `relation`, else its key in a multigraph if that is
        str. Nodes without edges stay, as entities without facts. Names are str; ints become decimal
        text. Other attributes are not kept.

        Raises ValueError for an undirected graph (its facts would have no direction), an edge
        without a relation, an empty name and two nodes that would get one name (1 and "1");
        TypeError for names that are neither str nor int.
        """
        return cls._of(objects.read_networkx(graph, relation))

    @classmethod
    def from_pyg(
        cls,
        data: Any,
        entity_names: Sequence[str | int] | Mapping[str, Sequence[str | int]] | None = None,
        relation_names: Sequence[str | int] | None = None,
    ) -> "KnowledgeGraph":
        """Build from a PyTorch Geometric `Data` or `HeteroData`; features are not kept.

        `Data` has `edge_index` (2, E) and `edge_type` (E,), or all its edges are of the one
        relation in `relation_names`. Names default to its attributes `entity_names` and
        `relation_names`, which `to_pyg` sets, else to the ids in decimal.

        In `HeteroData` node i of type "paper" is named "paper:i" unless `entity_names` maps
        the type to names, and the edge type ("author", "writes", "paper") is the relation
        "author.writes.paper".

        Nodes without edges stay, as entities without facts. Raises ValueError for ids out of
        range, a missing edge_type, empty names and names that occur twice; TypeError for ids that
        are not integers.
        """
        return cls._of(objects.read_pyg(data, entity_names, relation_names))

    @classmethod
    def from_scipy(
        cls, matrices: Mapping[str, Any], entities: Sequence[str | int] | None = None
    ) -> "KnowledgeGraph":
        """Build from one sparse adjacency matrix (n, n) per relation.

        A stored entry (i, j) that is not 0 is the fact entity i -relation-> entity j; its value is
        not kept. `entities` are the n names, by default 0, 1, ... in decimal; one without facts
        stays. Raises ValueError for shapes that differ, empty names and names that occur twice;
        TypeError for matrices that are not scipy sparse.
        """
        return cls._of(objects.read_scipy(matrices, entities))

    @classmethod
    def _of(cls, intake: Intake) -> "KnowledgeGraph":
        arrays, report = intake.finish()
        return cls(arrays, None, report)

    def save(
        self, directory: str | os.PathLike[str], settings: Mapping[str, Any] | None = None
    ) -> None:
        """Save to a directory of .npy files and meta.json, atomically.

        `settings` is any JSON mapping, kept as `settings` of the opened graph. `schema` is saved
        too once it was computed or opened. The same facts, with the schema or without, give the
        same bytes in a new directory (of a changed graph, after `renumbered`). Waits while
        another process saves there; of several that change what they opened, the last one wins.
        """
        counts = {
            "entities": self.num_entities,
            "relations": self.num_relations,
            "triples": self.num_triples,
        }
        store.save(directory, _KIND, self._arrays, counts, settings, optional=SCHEMA_DTYPES)

    @classmethod
    def open(cls, directory: str | os.PathLike[str], verify: bool = False) -> "KnowledgeGraph":
        """Open a saved graph by memory map: no array and no name is read before it is used.

        The directory may also be that of a trained model, which holds its graph.
        With `verify` all files are read and compared with their checksums. Raises DamagedStore
        where the directory is incomplete, changed, foreign or of another version, and
        FileNotFoundError where there is none.
        """
        return cls._of_stored(directory, store.load(directory, _HOLD_GRAPHS, verify))

    @classmethod
    def _of_stored(
        cls, directory: str | os.PathLike[str], stored: store.Stored
    ) -> "KnowledgeGraph":
        """The graph in an opened directory. Raises DamagedStore."""
        _check_stored(directory, stored)
        ours = {n: stored.arrays[n] for n in (*_DTYPES, *SCHEMA_DTYPES) if n in stored.arrays}
        kg = cls(ours, stored.settings, None)
        counted = {"entities": kg.num_entities, "relations": kg.num_relations}
        if any(stored.counts.get(kind) != number for kind, number in counted.items()):
            raise DamagedStore(
                f"{os.fspath(directory)} is damaged: the order does not fit the counts"
            )
        return kg

    def __getstate__(self) -> dict[str, Any]:
        return {
            "arrays": self._arrays,
            "settings": self._settings,
            "build_report": self._build_report,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]  # rebuilds the views on the arrays

    # Changing

    def merge(self, other: "KnowledgeGraph | str | os.PathLike[str] | Triples") -> "KnowledgeGraph":
        """A graph that also holds the names and facts of `other`; this one stays as it is.

        `other` is a graph, or what `from_triples` takes with no other argument. The result equals a
        graph built from all the facts, but every name keeps its id: new names get the ids after all
        others, in byte order, and a retired name gets its old id back. Saved to the directory this
        graph was opened from, it is that directory's next generation.

        `settings` are kept; `build_report` counts what was read of `other` and how many of that
        were facts already. Raises what `from_triples` raises, and DamagedStore.
        O(triples + entities), a copy of both orders; O(m log m) more for m added facts.
        """
        given = other if isinstance(other, KnowledgeGraph) else self.from_triples(other)
        arrays, added = change.merge(self._core_arrays(), self._views, given._views)
        built = None if given is other else given.build_report
        report = built or BuildReport(given.num_triples, 0, 0, ())
        return KnowledgeGraph(
            arrays, self._settings, replace(report, num_duplicates=report.num_read - added)
        )

    def without(
        self,
        triples: "KnowledgeGraph | Iterable[Iterable[int | str]]",
        missing_ok: bool = False,
    ) -> "KnowledgeGraph":
        """A graph that does not hold these facts; this one stays as it is.

        Equal to a graph built from the facts that are left, but every name keeps its id. A name
        whose last fact is taken away is retired: it is not found any more and not counted, its id
        still answers `entity_name` or `relation_name` and is given to no other name. Names that had
        no fact before stay.

        Args:
            triples: (head, relation, tail), each by name or id, or a graph whose facts are meant.
            missing_ok: ignore triples that are not facts.

        `settings` are kept, `build_report` is None. Raises UnknownTriple at the first triple that
        is no fact, TypeError for items that are not three str or int, DamagedStore.
        O(triples + entities), a copy of both orders; O(m log m) more for m facts.
        """
        facts = triples.triples() if isinstance(triples, KnowledgeGraph) else triples
        arrays = change.without(self._core_arrays(), self._views, facts, missing_ok)
        return KnowledgeGraph(arrays, self._settings)

    def renumbered(self) -> "KnowledgeGraph":
        """The same facts with the ids of a graph built at once: no id retired, all ranks of names.

        Itself where its ids are that already. O(n log n) for n triples.
        """
        if self.ids_are_ranks:
            return self
        empty = KnowledgeGraph.from_triples([])
        return KnowledgeGraph(empty.merge(self)._arrays, self._settings, self._build_report)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KnowledgeGraph):
            return NotImplemented
        return self is other or graph_equal(*self._views, *other._views)

    def __hash__(self) -> int:
        return hash((self.num_entities, self.num_relations, self.num_triples))

    def __repr__(self) -> str:
        return (
            f"KnowledgeGraph({self.num_entities} entities, {self.num_relations} relations, "
            f"{self.num_triples} triples)"
        )

    @property
    def settings(self) -> dict[str, Any] | None:
        """The settings the graph, or the one it was changed from, was opened with, or None."""
        return None if self._settings is None else dict(self._settings)

    @property
    def build_report(self) -> BuildReport | None:
        """What building met; None for an opened graph."""
        return self._build_report

    # Names

    @property
    def num_entities(self) -> int:
        """Number of entities, retired ids not counted."""
        return len(self._entities)

    @property
    def num_relations(self) -> int:
        """Number of relations, retired ids not counted."""
        return len(self._relations)

    @property
    def num_triples(self) -> int:
        """Number of distinct facts."""
        return len(self._arrays["out_tails"])

    @property
    def num_entity_ids(self) -> int:
        """Entity ids are below this; more than `num_entities` where some are retired."""
        return self._entities.num_ids

    @property
    def num_relation_ids(self) -> int:
        """R: relation ids are below this; more than `num_relations` where some are retired."""
        return self._relations.num_ids

    @property
    def entity_ids(self) -> npt.NDArray[np.int32]:
        """Ids of all entities in byte order of their names: int32 (num_entities,)."""
        return self._ids("entity_order", self.num_entities, self.num_entity_ids)

    @property
    def relation_ids(self) -> npt.NDArray[np.int32]:
        """Ids of all relations in byte order of their names: int32 (num_relations,)."""
        return self._ids("relation_order", self.num_relations, self.num_relation_ids)

    @property
    def ids_are_ranks(self) -> bool:
        """Are ids the ranks of names? So in a graph built at once, where order by id is by name."""
        return len(self._arrays["entity_order"]) == len(self._arrays["relation_order"]) == 0

    def entity_name(self, entity: int) -> str:
        """Name of an entity id. Raises IndexError for an id the graph does not have."""
        return self._entities.name(entity)

    def entity_names(self, entities: Iterable[int]) -> list[str]:
        """Names of entity ids. Raises IndexError for an id the graph does not have.

        An int32 array (n,) is read as it is, several times faster than a list.
        """
        if isinstance(entities, np.ndarray) and entities.dtype == np.int32:
            return self._entities.names(np.ascontiguousarray(entities))
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

        R is `num_relation_ids`: a retired relation has symbols too, which nothing walks. A relation
        that starts with "^" or "\" is written with a leading "\".
        """
        return symbol_names(self._relations.names(range(self.num_relation_ids)))

    @cached_property
    def folded_names(self) -> FoldedNames:
        """Entity ids by folded name, for `EntityLinker`; built when first asked for, then kept."""
        return FoldedNames(self._entities, fold)

    # Facts

    def has_triple(self, head: int | str, relation: int | str, tail: int | str) -> bool:
        """Is this a fact of the graph? Takes names or ids; an unknown one makes it False.

        O(log degree).
        """
        head_id = id_or_none("has_triple", head, self._entities)
        relation_id = id_or_none("has_triple", relation, self._relations)
        tail_id = id_or_none("has_triple", tail, self._entities)
        if head_id is None or relation_id is None or tail_id is None:
            return False
        return self._index.has_triple(head_id, relation_id, tail_id)

    def has_triples(
        self, heads: npt.ArrayLike, relations: npt.ArrayLike, tails: npt.ArrayLike
    ) -> npt.NDArray[np.bool_]:
        """Which of these are facts: bool, in the common shape of three integer arrays of ids.

        An unknown id makes it False. TypeError for what are no integers, ValueError for shapes that
        do not broadcast. O(log degree) each.
        """
        return find_triples(self._index, heads, relations, tails)

    def triples(self) -> Iterator[tuple[str, str, str]]:
        """All facts as names, ordered by (head, relation, tail) ids."""
        facts = Facts(self._arrays)
        for part in facts.parts():
            yield from facts.names(part)

    def triple_ids(
        self,
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Heads, relations and tails of all facts, ordered by them: three int32 (num_triples,)."""
        return Facts(self._arrays).ids(0, self.num_triples)

    def export(self, path: str | os.PathLike[str], progress: Progress | None = None) -> None:
        """Write all facts to a file that `from_triples` reads back as the same facts.

        The suffix tells the format: `.tsv` (refuses names with tabs or line ends), `.csv` (no
        header; refuses names of more than 131,072 characters), `.jsonl` (objects with head,
        relation, tail), `.nt`, `.parquet`, `.arrow` (an IPC file); `.gz` or `.zst` may follow
        the first four. Entities without facts are in no file.

        In N-Triples an absolute IRI, a blank node `_:label` and, as a tail, a literal in its
        N-Triples form are written as they are; any other name becomes the IRI `urn:hyperhop:` +
        its percent-encoded UTF-8, which `from_triples` decodes.

        Args:
            path: the file; replaced, at the end and at once, if it exists.
            progress: called with (facts written, facts in all).

        Raises ValueError for an unknown suffix and a name the format cannot hold, ImportError that
        names a missing extra. O(n), a bounded number of facts in memory.
        """
        export(Facts(self._arrays), path, progress)

    def to_networkx(self) -> Any:
        """A networkx `MultiDiGraph` of all entities by name; an edge's key is its relation.

        The attribute `relation` says the same. Raises ImportError without the extra `networkx`.
        """
        return convert.to_networkx(Facts(self._arrays), self.entity_ids)

    def to_pyg(self) -> Any:
        """A PyTorch Geometric `Data`: edge_index (2, E) and edge_type (E,), both int64 ids.

        num_nodes, and the lists entity_names and relation_names by id (retired ones too, which
        `from_pyg` would revive: take `renumbered()` first), go with it.
        Raises ImportError without the extra `pyg`.
        """
        return convert.to_pyg(Facts(self._arrays))

    def to_scipy(self) -> dict[str, Any]:
        """Relation name -> scipy `coo_array` (V, V) of bool: entry (i, j) is i -relation-> j.

        Coordinates, because a row index per relation would take R V numbers; `.tocsr()` what you
        multiply. Rows and columns are the V = `num_entity_ids` entity ids. Raises ImportError
        without scipy.
        """
        return convert.to_scipy(Facts(self._arrays), self.relation_ids)

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
        """`degree` of every entity: int64 (num_entity_ids,). O(V)."""
        return find_degrees(self._arrays, direction)

    def subgraph(
        self,
        topics: int | str | Iterable[int | str],
        hops: int,
        direction: str = "both",
        induced: bool = True,
        *,
        max_degree: int | None = None,
        hubs: walks.Hubs = "sample",
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
                else only followed edges are kept. `hubs` names the hubs met.
            mediators: ids, or a boolean mask by id (which costs nothing to pass), of entities that
                only tie others together, such as the blank nodes of n-ary facts. Walking through
                one costs a single hop: entering it does, leaving it is free, except to another
                mediator. A topic counts as none.
            max_edges: the search stops after following so many edges and keeps what it found; of
                the edges the first so many are kept. `truncated` tells of both, and of a limit of
                a billion edges looked at. Memory is at most about 200 bytes an edge.

        The same arguments give the same bits, in the order that `Subgraph` tells. Time and memory
        are proportional to the edges of the entities in the ball, whatever the size of the graph.

        Raises UnknownEntity, IndexError for an id the graph does not have, TypeError or ValueError
        for an argument outside its range.
        """
        options = ball_arguments(
            "subgraph",
            self.num_entity_ids,
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
        hubs: walks.Hubs = "sample",
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
            self.num_entity_ids,
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

    def leaving(self, topic: int | str) -> npt.NDArray[np.int32]:
        """Distinct symbols that some edge leaves an entity as, ascending, in both directions.

        `topic` is a name or an id. Raises UnknownEntity, and IndexError for an id the graph does
        not have. O(symbols log degree).
        """
        return graph_leaving(self._index, self._topic("leaving", topic))

    @cached_property
    def schema(self) -> RelationSchema:
        """Which symbol can follow which, with counts (PathHD section 2.4).

        An opened graph that was saved with its schema maps it; otherwise it is computed when first
        asked for, then kept, and saved by `save`. Raises SchemaTooLarge beyond 2**27 pairs.
        """
        if not holds_schema(self._arrays):
            self._arrays |= schema_arrays(self._index)
        offsets, symbols, counts = (self._arrays[name] for name in SCHEMA_DTYPES)
        return RelationSchema(offsets, symbols, counts, self.symbols)

    def statistics(self, hubs: int = 10, relations: int = 10) -> GraphStatistics:
        """Quantiles of degrees, the `hubs` largest entities, the `relations` most used relations.

        Raises ValueError for a negative number. O(entities + facts) in constant memory.
        """
        return graph_statistics(
            self._arrays,
            self.entity_names,
            self._relations.names,
            self.num_entities,
            self.num_relation_ids,
            hubs=at_least("statistics", "hubs", hubs, 0),
            relations=at_least("statistics", "relations", relations, 0),
        )

    # Walks

    def sequences(
        self,
        topic: int | str,
        max_hops: int,
        beam: int | None = None,
        cap: int = 100_000,
        inverse: bool = False,
        return_to_topic: bool = True,
        *,
        max_degree: int | None = None,
        hubs: walks.Hubs = "sample",
        mediators: npt.ArrayLike | None = None,
    ) -> Sequences:
        """All symbol sequences of 1 to `max_hops` hops that some walk from `topic` follows.

        Works on sets of nodes; entity paths are never listed.

        Args:
            topic: entity name or id.
            max_hops: length of the longest walk.
            beam: keep at each depth (number of symbols) only that many sequences: those whose walks
                end on the fewest distinct entities, mediators included (the most specific), ties by
                symbol names. Only they are returned and extended. What a beam drops does not count
                as truncated.
            cap: length of the result. It is then the first part of the full one, so shallow depths
                are complete before deeper ones begin.
            inverse: also walk edges backward (symbols R + r).
            return_to_topic: False forbids stepping onto the topic again.
            max_degree: an entity with more edges than this in the direction a walk would leave it
                is a hub; None: there are none.
            hubs: "sample" follows of each relation at a hub, in that direction, the same number of
                edges, evenly spaced: `max_degree` / number of its relations, at least one. "skip"
                does not leave a hub in that direction; a topic is sampled all the same. Which edges
                are followed depends on the graph and `max_degree` alone, and no relation is lost by
                sampling. `.hubs` of the result names the hubs met.
            mediators: entities that stand for a fact of several parts (Freebase's CVT nodes, blank
                nodes): a 1-D array of their ids, or of one bool an entity id. The step into one and
                the step out of it are one hop, so a walk of h hops has h to 2 h symbols. No walk
                ends on a mediator or goes from one to another; the topic is never one. A mask of
                bool is used as it is, ids cost O(num_entity_ids) a call.

        Returns Sequences: Paths of symbol ids ordered by (length, symbols). `.truncated` tells that
        `cap` cut it, or that the call looked at a billion edges or would have held 125 million ids;
        the sequences found until then are returned.

        Raises UnknownEntity, IndexError for an id the graph does not have, and ValueError for
        max_hops < 0, cap < 1, beam < 1, max_degree < 1 or mediators that are no ids of this graph.
        """
        rules = walks.Rules(
            "sequences", self, max_hops, return_to_topic, max_degree, hubs, mediators
        )
        return walks.find_sequences(rules, [topic], beam, cap, inverse, 1)[0]

    def sequences_batch(
        self,
        topics: Iterable[int | str],
        max_hops: int,
        beam: int | None = None,
        cap: int = 100_000,
        inverse: bool = False,
        return_to_topic: bool = True,
        *,
        max_degree: int | None = None,
        hubs: walks.Hubs = "sample",
        mediators: npt.ArrayLike | None = None,
        threads: int | None = None,
    ) -> list[Sequences]:
        """`sequences` of each topic, in one call over threads: the same bits.

        `cap` and the limits hold for each topic alone. Raises as `sequences` does.
        """
        rules = walks.Rules(
            "sequences_batch", self, max_hops, return_to_topic, max_degree, hubs, mediators
        )
        return walks.find_sequences(rules, topics, beam, cap, inverse, threads)

    def paths(
        self,
        topic: int | str,
        max_hops: int,
        sequences: Paths | npt.ArrayLike | None = None,
        cap: int = 10_000,
        simple: bool = False,
        inverse: bool = False,
        return_to_topic: bool = True,
        *,
        max_degree: int | None = None,
        hubs: walks.Hubs = "sample",
        mediators: npt.ArrayLike | None = None,
    ) -> PathSet:
        """Entity paths from `topic`, sequence by sequence, each in ascending entity order.

        Args:
            topic: entity name or id.
            max_hops: length of the longest walk.
            sequences: symbol sequences to expand, in this order; one that no walk follows has no
                path. By default all that `self.sequences` finds. Symbols say their own direction.
            cap: number of paths in all. Every sequence with a path keeps its first one (the first
                `cap` sequences, if there are more); the rest goes to the sequences in order.
            simple: no entity twice on a path. Such a search can meet dead ends, so there are 50
                million steps for all sequences. The ends of a sequence, and then its paths, may
                take a quarter of what is left, and always 4,096.
            inverse: for the default sequences, also walk edges backward.
            return_to_topic: False forbids stepping onto the topic again.
            max_degree, hubs, mediators: as for `sequences`. The same values follow the edges that
                `sequences` followed, no others; `.hubs` names the hubs met.

        The end entities of each sequence are complete whatever `cap` is; `.truncated` and
        `.ends_truncated` tell what `cap` or a limit (one billion edges looked at, 125 million ids
        held, the steps above) cut.

        Raises UnknownEntity, IndexError for an id the graph does not have, and ValueError for
        max_hops < 0, cap < 1, max_degree < 1, a sequence longer than max_hops (twice that with
        mediators), a symbol or a mediator the graph does not have.
        """
        rules = walks.Rules("paths", self, max_hops, return_to_topic, max_degree, hubs, mediators)
        if sequences is None:
            sequences = walks.all_sequences(rules, [topic], inverse, 1)[0]
        return walks.expand_paths(rules, [topic], [sequences], cap, simple, 1)[0]

    def paths_batch(
        self,
        topics: Iterable[int | str],
        max_hops: int,
        sequences: Iterable[Paths | npt.ArrayLike] | None = None,
        cap: int = 10_000,
        simple: bool = False,
        inverse: bool = False,
        return_to_topic: bool = True,
        *,
        max_degree: int | None = None,
        hubs: walks.Hubs = "sample",
        mediators: npt.ArrayLike | None = None,
        threads: int | None = None,
    ) -> list[PathSet]:
        """`paths` of each topic, in one call over threads: the same bits.

        `sequences` holds one list a topic. `cap` and the limits hold for each topic alone. Raises
        as `paths` does, and ValueError where there are not as many lists as topics.
        """
        rules = walks.Rules(
            "paths_batch", self, max_hops, return_to_topic, max_degree, hubs, mediators
        )
        chosen = walks.several(rules.function, topics)
        lists = (
            walks.all_sequences(rules, chosen, inverse, threads)
            if sequences is None
            else list(sequences)
        )
        return walks.expand_paths(rules, chosen, lists, cap, simple, threads)

    @cached_property
    def _symbol_ranks(self) -> npt.NDArray[np.int32]:
        """Place of each symbol in the byte order of symbol names; what ties are broken by."""
        return symbol_ranks(self.symbols)

    def _topic(self, function: str, topic: int | str, argument: str = "topic") -> int:
        if isinstance(topic, str):
            return self.entity_id(topic)
        entity = integer(function, argument, topic)
        if not 0 <= entity < self.num_entity_ids:
            raise IndexError(
                f"{function}: {argument} must be an id below {self.num_entity_ids}, got {entity}"
            )
        return entity

    def _topics(self, function: str, topics: int | str | Iterable[int | str]) -> list[int]:
        if isinstance(topics, int | str) or not isinstance(topics, Iterable):
            return [self._topic(function, topics)]
        return [self._topic(function, topic) for topic in topics]

    def _relation(self, function: str, relation: int | str) -> int:
        if isinstance(relation, str):
            return self.relation_id(relation)
        number = integer(function, "relation", relation)
        if not 0 <= number < self.num_relation_ids:
            raise IndexError(
                f"{function}: relation must be an id below {self.num_relation_ids}, got {number}"
            )
        return number

    @property
    def _views(self) -> change.Views:
        return self._index, self._entities, self._relations

    def _core_arrays(self) -> change.Arrays:
        """The arrays that make the graph; any others were derived from them."""
        return {name: self._arrays[name] for name in _DTYPES}

    def _ids(self, order: str, used: int, bound: int) -> npt.NDArray[np.int32]:
        ids = self._arrays[order][:used]
        if len(self._arrays[order]) == 0:
            return np.arange(used, dtype=np.int32)
        if used and not 0 <= ids.min() <= ids.max() < bound:
            raise DamagedStore(f"the graph is damaged: {order} holds an unknown id")
        return ids


def _check_stored(directory: str | os.PathLike[str], stored: store.Stored) -> None:
    """The arrays' lengths must fit together, because the compiled code relies on that."""
    sizes = {name: len(array) for name, array in stored.arrays.items()}
    entities, relations = sizes.get("entity_name_offsets", 0), sizes.get("relation_name_offsets", 0)
    triples = stored.counts.get("triples", -1)
    lengths = {
        "entity_name_offsets": max(entities, 1),
        "entity_order": entities - 1 if sizes.get("entity_order") else 0,
        "relation_name_offsets": max(relations, 1),
        "relation_order": relations - 1 if sizes.get("relation_order") else 0,
        "out_offsets": entities,
        "in_offsets": entities,
        "out_relations": triples,
        "out_tails": triples,
        "in_relations": triples,
        "in_heads": triples,
    }
    for name, dtype in _DTYPES.items():
        array = stored.arrays.get(name)
        if array is None or array.dtype != dtype or len(array) != lengths.get(name, len(array)):
            raise DamagedStore(f"{os.fspath(directory)} is damaged: {name} does not fit the counts")
    misfit = schema_misfit(stored.arrays, 2 * (len(stored.arrays["relation_name_offsets"]) - 1))
    if misfit:
        raise DamagedStore(f"{os.fspath(directory)} is damaged: {misfit} does not fit the counts")


def _check_str(function: str, name: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(f"{function}: name must be str, got {type(name).__name__}")
