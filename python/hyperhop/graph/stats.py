"""What a graph and its directory hold, in numbers: degrees, hubs, relations, bytes."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._topk import topk
from hyperhop.graph import store
from hyperhop.graph.errors import DamagedStore

Names = Callable[[list[int]], list[str]]  # names of ids

QUANTILES = (0.5, 0.9, 0.99, 1.0)

_CHUNK = 1 << 20  # entities or facts looked at together
_RARE_DEGREE = 1 << 16  # larger ones are too few to be worth a counter for each size


@dataclass(frozen=True)
class StoreStatistics:
    """What a saved directory says about itself.

    Attributes:
        kind: of index: "graph", or "rsf" for a trained model with its graph.
        version: of the format.
        generation: how many times the directory was saved.
        saved: when it was saved last, by the file system.
        disk_bytes: size of the files by kind: names, edges, schema, and others there may be.
        schema_pairs: pairs of symbols in the stored schema; None where none is stored.
        parameters: numbers that the model learned; None where there is no model.
    """

    kind: str
    version: int
    generation: int
    saved: datetime
    disk_bytes: dict[str, int]
    schema_pairs: int | None
    parameters: int | None


@dataclass(frozen=True)
class Hub:
    """An entity with many facts.

    Attributes:
        name: of the entity.
        out_degree: facts it is the head of.
        in_degree: facts it is the tail of.
    """

    name: str
    out_degree: int
    in_degree: int


@dataclass(frozen=True)
class RelationFacts:
    """A relation and the number of facts that hold it."""

    name: str
    facts: int


@dataclass(frozen=True)
class GraphStatistics:
    """Degrees, hubs and relations of a graph.

    Attributes:
        out_degrees: for each share of `QUANTILES` the smallest out-degree that at least so many
            of the entities, those without facts included, do not exceed.
        in_degrees: the same of in-degrees.
        hubs: entities with the most facts in both directions, ties by id.
        relations: relations with the most facts, ties by id.
    """

    out_degrees: tuple[int, ...]
    in_degrees: tuple[int, ...]
    hubs: tuple[Hub, ...]
    relations: tuple[RelationFacts, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists and dictionaries."""
        return asdict(self)


def graph_statistics(
    arrays: Mapping[str, npt.NDArray[Any]],
    entity_names: Names,
    relation_names: Names,
    num_entities: int,
    num_relations: int,
    *,
    hubs: int,
    relations: int,
) -> GraphStatistics:
    """Count the degrees and relations of a graph's arrays. Raises DamagedStore.

    O(entities + facts), in pieces: memory does not grow with the graph.
    """
    num_facts = len(arrays["out_relations"])
    out_sizes, in_sizes = _Sizes(), _Sizes()
    best = np.zeros((3, 0), np.int64)  # id, out-degree and in-degree of the hubs so far
    for begin, end in _pieces(len(arrays["out_offsets"]) - 1):
        out_degree = _degrees(arrays["out_offsets"], begin, end, num_facts)
        in_degree = _degrees(arrays["in_offsets"], begin, end, num_facts)
        out_sizes.add(out_degree)
        in_sizes.add(in_degree)
        top = _largest(out_degree + in_degree, hubs)
        piece = np.stack([top + begin, out_degree[top], in_degree[top]])
        best = np.concatenate([best, piece], axis=1)
        best = best[:, _largest(best[1] + best[2], hubs)]
    for sizes in (out_sizes, in_sizes):
        sizes.take_away_unused(len(arrays["out_offsets"]) - 1 - num_entities)
    ids, out_degrees, in_degrees = best.tolist()
    facts = _relation_facts(arrays["out_relations"], num_relations)
    most_used = _largest(facts, relations).tolist()
    return GraphStatistics(
        out_sizes.quantiles(),
        in_sizes.quantiles(),
        tuple(map(Hub, entity_names(ids), out_degrees, in_degrees)),
        tuple(map(RelationFacts, relation_names(most_used), facts[most_used].tolist())),
    )


def store_statistics(directory: str | os.PathLike[str]) -> StoreStatistics:
    """Describe a saved directory. Raises DamagedStore, FileNotFoundError. O(files)."""
    path = Path(directory)
    meta = store.read_meta(path)
    sizes = _no_bytes()
    for name, entry in meta["arrays"].items():
        kind = _kind(name)
        sizes[kind] = sizes.get(kind, 0) + (path / entry["file"]).stat().st_size
    pairs = meta["arrays"].get("schema_symbols", {}).get("length")
    saved = datetime.fromtimestamp(store.saved_at(path)).astimezone()
    return StoreStatistics(
        meta["kind"],
        meta["version"],
        meta["generation"],
        saved,
        sizes,
        pairs,
        meta["counts"].get("parameters"),
    )


def resident_bytes(directory: str | os.PathLike[str]) -> dict[str, int] | None:
    """Bytes of the directory's files that this process has in memory now, by kind.

    None where the system does not tell (it does on Linux).
    """
    prefix = os.path.realpath(directory) + os.sep
    sizes = _no_bytes()
    kind = None
    try:
        lines = Path("/proc/self/smaps").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return None
    for line in lines:
        first, _, rest = line.partition(" ")
        if not first.endswith(
            ":"
        ):  # a mapping begins: address, rights, offset, device, inode, path
            file = rest.split(maxsplit=4)[4:]
            inside = bool(file) and file[0].startswith(prefix)
            kind = _kind(os.path.basename(file[0]).split(".")[0]) if inside else None
        elif first == "Rss:" and kind is not None:
            sizes[kind] = sizes.get(kind, 0) + 1024 * int(rest.split()[0])
    return sizes


def _no_bytes() -> dict[str, int]:
    return {"names": 0, "edges": 0, "schema": 0}


def _kind(array: str) -> str:
    first, last = array.split("_")[0], array.split("_")[-1]
    if last == "embeddings":
        return "vectors"
    return {"entity": "names", "relation": "names", "out": "edges", "in": "edges"}.get(first, first)


class _Sizes:
    """How many entities have each degree."""

    def __init__(self) -> None:
        self._usual = np.zeros(_RARE_DEGREE, np.int64)
        self._rare: list[npt.NDArray[np.int64]] = []

    def add(self, degrees: npt.NDArray[np.int64]) -> None:
        rare = degrees >= _RARE_DEGREE
        self._rare.append(degrees[rare])
        self._usual += np.bincount(degrees[~rare], minlength=_RARE_DEGREE)

    def take_away_unused(self, count: int) -> None:
        """Forget ids that belong to no entity any more: they have no edge."""
        if self._usual[0] < count:
            raise DamagedStore("the graph is damaged: an id that is out of use has facts")
        self._usual[0] -= count

    def quantiles(self) -> tuple[int, ...]:
        rare = np.sort(np.concatenate([np.zeros(0, np.int64), *self._rare]))
        below = np.cumsum(self._usual)
        count = int(below[-1]) + rare.size
        return tuple(
            0 if count == 0 else self._at(int(np.ceil(share * count)), below, rare)
            for share in QUANTILES
        )

    @staticmethod
    def _at(rank: int, below: npt.NDArray[np.int64], rare: npt.NDArray[np.int64]) -> int:
        """The degree of the entity with this place, from 1, in ascending order."""
        usual = int(below[-1])
        return int(np.searchsorted(below, rank)) if rank <= usual else int(rare[rank - usual - 1])


def _pieces(count: int) -> Iterator[tuple[int, int]]:
    return ((begin, min(begin + _CHUNK, count)) for begin in range(0, count, _CHUNK))


def _degrees(
    offsets: npt.NDArray[np.int64], begin: int, end: int, most: int
) -> npt.NDArray[np.int64]:
    piece = offsets[begin : end + 1]
    degrees = np.diff(piece)
    if piece[0] < 0 or piece[-1] > most or degrees.min() < 0:
        raise DamagedStore(f"the graph is damaged: offsets of entities {begin} to {end} are wrong")
    return degrees


def _relation_facts(relations: npt.NDArray[np.int32], count: int) -> npt.NDArray[np.int64]:
    facts = np.zeros(count, np.int64)
    for begin, end in _pieces(len(relations)):
        piece = relations[begin:end]
        if piece.min() < 0 or piece.max() >= count:
            raise DamagedStore("the graph is damaged: out_relations holds an unknown id")
        facts += np.bincount(piece, minlength=count)
    return facts


def _largest(values: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """Positions of the largest positive values, descending, ties by position."""
    places: npt.NDArray[np.int64] = topk(values.astype(np.float64), count)[0]
    return places[values[places] > 0]
