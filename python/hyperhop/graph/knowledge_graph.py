"""The graph itself: building, saving, looking up, and walking."""

import operator
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._core import (
    FoldedNames,
    GraphIndex,
    GraphLimits,
    NameIndex,
    graph_paths,
    graph_sequences,
)
from hyperhop.graph import convert, store
from hyperhop.graph.errors import DamagedStore, UnknownEntity, UnknownRelation
from hyperhop.graph.export import export
from hyperhop.graph.facts import Facts
from hyperhop.graph.names import closest_names, fold, symbol_names
from hyperhop.graph.path_set import PathSet
from hyperhop.graph.read import BuildReport, Progress, Triples, objects, read_triples
from hyperhop.graph.read.report import Intake
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
                differ only in tag or datatype; or "skip" statements with a literal.
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
        """All facts as names, ordered by (head, relation, tail) ids."""
        facts = Facts(self._arrays)
        for part in facts.parts():
            yield from facts.names(part)

    def export(self, path: str | os.PathLike[str], progress: Progress | None = None) -> None:
        """Write all facts to a file that `from_triples` reads back as the same facts.

        The suffix tells the format: `.tsv` (refuses names with tabs or line ends), `.csv` (no
        header), `.jsonl` (objects with head, relation, tail), `.nt`, `.parquet`, `.arrow` (an IPC
        file); `.gz` or `.zst` may follow the first four. Entities without facts are in no file.

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
        return convert.to_networkx(Facts(self._arrays))

    def to_pyg(self) -> Any:
        """A PyTorch Geometric `Data`: edge_index (2, E) and edge_type (E,), both int64 ids.

        num_nodes, and the lists entity_names and relation_names, go with it. Raises ImportError
        without the extra `pyg`.
        """
        return convert.to_pyg(Facts(self._arrays))

    def to_scipy(self) -> dict[str, Any]:
        """Relation name -> scipy `coo_array` (V, V) of bool: entry (i, j) is i -relation-> j.

        COO, because a row index per relation would take R V numbers; `.tocsr()` what you multiply.
        Rows are entity ids: `entity_names(range(num_entities))`. Raises ImportError without scipy.
        """
        return convert.to_scipy(Facts(self._arrays))

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

    def _topic(self, function: str, topic: int | str) -> int:
        if isinstance(topic, str):
            return self.entity_id(topic)
        entity = _integer(function, "topic", topic)
        if not 0 <= entity < self.num_entities:
            raise IndexError(
                f"{function}: topic must be an id below {self.num_entities}, got {entity}"
            )
        return entity


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
