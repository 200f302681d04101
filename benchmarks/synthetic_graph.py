"""A graph shaped like Freebase: power-law degrees, hubs, mediators, typed relations, any size.

    python benchmarks/synthetic_graph.py FILE [--triples 1000000] [--seed 0]

Writes FILE (.tsv, or .parquet with dictionary columns) in chunks of bounded memory. The shape:

- 0.7 entities a triple (the papers' Freebase subset: 88 M entities, 126 M triples), named like its
  machine ids in no particular order; up to 20,000 relations.
- Entities have types, of power-law sizes. A relation belongs to one type and leads to one type, so
  that only some relations can follow each other.
- Every entity is the head of one fact at least; further heads and all tails are drawn by a power
  law inside their type, so that each type has its hubs.
- One type in eight is of mediators (CVT nodes): each is led to by a few facts and leads to a few,
  without hubs.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

ENTITIES_PER_TRIPLE = 88 / 126
MOST_RELATIONS = 20_000
RELATIONS_PER_TYPE = 10
MEDIATOR_TYPES = 8  # one type in so many
CHUNK = 1 << 20
_DIGITS = np.frombuffer(b"0123456789bcdfghjklmnpqrstvwxyz_", np.uint8)  # those of machine ids
_ID_BITS = 30
_SCRAMBLE = 0x2545F491  # odd: multiplying by it permutes the ids of _ID_BITS bits

Indexes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Shape:
    """How many of everything, and where each type's entities begin."""

    triples: int
    entities: int
    type_starts: Indexes  # (types + 1,)
    range_types: Indexes  # (relations,): the type a relation leads to
    seed: int

    @property
    def relations(self) -> int:
        return len(self.range_types)

    def type_of(self, entities: Indexes) -> Indexes:
        return np.searchsorted(self.type_starts, entities, side="right") - 1


def make_shape(triples: int, seed: int = 0) -> Shape:
    """The shape of a graph of that many triples (duplicates among them included)."""
    entities = max(1, round(triples * ENTITIES_PER_TRIPLE))
    types = int(np.clip(triples // 500, 1, MOST_RELATIONS // RELATIONS_PER_TYPE))
    weights = np.arange(1, types + 1) ** -0.8
    starts = np.zeros(types + 1, np.int64)
    starts[1:] = np.round(np.cumsum(weights) / weights.sum() * entities)
    # Types that many entities have are led to by many relations.
    random = np.random.default_rng([seed, triples])
    places = random.integers(0, entities, types * RELATIONS_PER_TYPE)
    ranges = np.searchsorted(starts, places, side="right") - 1
    return Shape(triples, entities, starts, ranges, seed)


def is_mediator(shape: Shape, entities: Indexes) -> npt.NDArray[np.bool_]:
    """Is each of these entities of a mediator type?"""
    return _of_mediators(shape.type_of(entities))


def _of_mediators(types: Indexes) -> npt.NDArray[np.bool_]:
    return types % MEDIATOR_TYPES == MEDIATOR_TYPES - 1


def _some_mediators(shape: Shape, random: np.random.Generator, entities: Indexes) -> Indexes:
    """A mediator of a type near that of each entity, or the entity where there is none."""
    types = shape.type_of(entities)
    types = (
        np.minimum(types - types % MEDIATOR_TYPES + MEDIATOR_TYPES, len(shape.type_starts) - 1) - 1
    )
    sizes = shape.type_starts[types + 1] - shape.type_starts[types]
    found = shape.type_starts[types] + (sizes * random.random(len(entities))).astype(np.int64)
    return np.where(sizes > 0, found, entities)


def chunks(shape: Shape) -> Iterator[tuple[Indexes, Indexes, Indexes]]:
    """Heads, relations and tails as indexes, CHUNK triples at a time."""
    for begin in range(0, shape.triples, CHUNK):
        numbers = np.arange(begin, min(begin + CHUNK, shape.triples))
        random = np.random.default_rng([shape.seed, begin])
        popular = (shape.entities * random.random(len(numbers)) ** 2).astype(np.int64)
        again = np.where(
            random.random(len(numbers)) < 1 / 3, _some_mediators(shape, random, popular), popular
        )
        heads = np.where(numbers < shape.entities, numbers, again)
        # A type's first relations are its common ones.
        which = (RELATIONS_PER_TYPE * random.random(len(numbers)) ** 2).astype(np.int64)
        relations = shape.type_of(heads) * RELATIONS_PER_TYPE + which
        to = shape.range_types[relations]
        sizes = np.maximum(1, shape.type_starts[to + 1] - shape.type_starts[to])
        skew = np.where(_of_mediators(to), 1, 4)
        ranks = (sizes * random.random(len(numbers)) ** skew).astype(np.int64)
        tails = np.minimum(shape.type_starts[to] + ranks, shape.entities - 1)
        yield heads, relations, tails


def entity_names(entities: Indexes) -> npt.NDArray[np.uint8]:
    """(n, 9) bytes: "m.0" and six digits, as machine ids look."""
    ids = (entities * _SCRAMBLE) & ((1 << _ID_BITS) - 1)
    names = np.empty((len(entities), 9), np.uint8)
    names[:, :3] = np.frombuffer(b"m.0", np.uint8)
    for place in range(6):
        names[:, 8 - place] = _DIGITS[(ids >> (5 * place)) & 31]
    return names


def relation_names(shape: Shape) -> list[str]:
    """Names like those of Freebase: domain.type.property."""
    return [
        f"domain{r // 400}.type{r // RELATIONS_PER_TYPE}.property{r}_to_type{to}"
        for r, to in enumerate(shape.range_types)
    ]


def write(path: Path, shape: Shape) -> None:
    """Write the graph as .tsv or .parquet."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    names = pa.array(relation_names(shape))

    def strings(entities: Indexes) -> pa.Array:
        blob = entity_names(entities)
        offsets = np.arange(0, blob.size + 1, blob.shape[1], np.int32)
        return pa.Array.from_buffers(
            pa.string(), len(entities), [None, pa.py_buffer(offsets), pa.py_buffer(blob)]
        )

    schema = pa.schema([(name, pa.string()) for name in ("head", "relation", "tail")])
    if path.suffix == ".parquet":
        writer = pa.parquet.ParquetWriter(path, schema)
    else:
        options = pa.csv.WriteOptions(
            include_header=False, delimiter="\t", quoting_style="none", batch_size=1 << 16
        )
        writer = pa.csv.CSVWriter(path, schema, write_options=options)
    with writer:
        for heads, relations, tails in chunks(shape):
            columns = [strings(heads), names.take(pa.array(relations)), strings(tails)]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, metavar="FILE", help=".tsv or .parquet")
    parser.add_argument("--triples", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.file.suffix not in (".tsv", ".parquet"):
        parser.error(f"FILE must end in .tsv or .parquet, got {options.file}")
    if options.triples < 1:
        parser.error(f"--triples must be at least 1, got {options.triples}")
    shape = make_shape(options.triples, options.seed)
    write(options.file, shape)
    print(
        f"{options.file}: {shape.triples:,} triples, {shape.entities:,} entities, "
        f"{shape.relations:,} relations, {options.file.stat().st_size / 1e9:.2f} GB"
    )


if __name__ == "__main__":
    main()
