"""From a file of tab-separated names to a graph on disk, both orders of the edges included.

The file is `synthetic_graph`'s, shaped like Freebase. No library does the same job, so there are
two kinds of baseline: those that only read and number the names, which is a part of the work, and
one that also orders the edges both ways and saves the same arrays, as a NumPy user would.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np

from harness import Baseline, Case, installed
from hyperhop import KnowledgeGraph
from synthetic_graph import chunks, entity_names, make_shape, relation_names

PART = 0.04  # of the file for strawmen


def cases(quick: bool, threads: int) -> list[Case]:
    triples = 50_000 if quick else 500_000
    work = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, work, ignore_errors=True)
    file = work / "facts.tsv"
    _write(file, triples)
    return [_case(file, triples, work, threads)]


def _write(file, triples):
    """Line by line, so that no library need be installed for it."""
    shape = make_shape(triples)
    relations = np.array(relation_names(shape))
    with open(file, "w", encoding="utf-8") as out:
        for columns in chunks(shape):
            heads, tails = (
                entity_names(ends).view("S9").ravel().astype(str).tolist() for ends in columns[::2]
            )
            rows = zip(heads, relations[columns[1]].tolist(), tails, strict=True)
            out.writelines("\t".join(row) + "\n" for row in rows)


def _case(file, triples, work, threads):
    def ours():
        kg = KnowledgeGraph.from_triples(file)
        kg.save(work / "graph")
        return kg.num_entities, kg.num_relations, kg.num_triples

    part = work / "part.tsv"
    part.write_text("".join(_lines(file)[: int(PART * triples)]), encoding="utf-8")
    others = [
        Baseline("pyarrow, numpy CSR both ways, saved", _pyarrow_saved(file, work, threads)),
        Baseline("pyarrow read, dictionary", _pyarrow_read(file, threads)),
        Baseline("duckdb read, numbered", _duckdb(file, threads)),
        Baseline("polars read, categorical", _polars(file)),
        Baseline("pandas read, factorize", _pandas(file)),
        Baseline("igraph TupleList", _igraph(part), share=PART, strawman=True),
        Baseline("networkx add_edges_from", _networkx(part), share=PART, strawman=True),
    ]

    def check():
        facts, few = set(_rows(file)), set(_rows(part))
        entities, few_entities = (
            len({name for fact in some for name in (fact[0], fact[2])}) for some in (facts, few)
        )
        assert ours() == (entities, len({fact[1] for fact in facts}), len(facts))
        for other in others:
            if other.run:
                assert other.run() == (few_entities if other.strawman else entities)

    return Case(
        "ingest",
        f"{triples:,} triples, {os.path.getsize(file) / 1e6:.0f} MB",
        ours,
        others,
        check,
        bytes=float(os.path.getsize(file)),
    )


def _pyarrow_table(file, threads):
    import pyarrow as pa
    from pyarrow import csv

    pa.set_cpu_count(threads)
    return csv.read_csv(
        file,
        read_options=csv.ReadOptions(column_names=["h", "r", "t"], use_threads=threads > 1),
        parse_options=csv.ParseOptions(delimiter="\t", quote_char=False),
        convert_options=csv.ConvertOptions(
            column_types=dict.fromkeys("hrt", pa.string()), strings_can_be_null=False
        ),
    )


def _pyarrow_ids(file, threads):
    """Names and ids: of entities (heads, then tails) and of relations."""
    import pyarrow as pa

    table = _pyarrow_table(file, threads)
    ends = pa.chunked_array(table["h"].chunks + table["t"].chunks).combine_chunks()
    entities = ends.dictionary_encode()
    relations = table["r"].combine_chunks().dictionary_encode()
    return entities, relations


def _pyarrow_read(file, threads):
    if not installed("pyarrow"):
        return None
    return lambda: len(_pyarrow_ids(file, threads)[0].dictionary)


def _pyarrow_saved(file, work, threads):
    if not installed("pyarrow"):
        return None

    def ranked(encoded):
        """Ids by the order of the names, and the names in that order."""
        import pyarrow.compute as pc

        order = pc.array_sort_indices(encoded.dictionary).to_numpy()
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        names = encoded.dictionary.take(order)
        return rank[encoded.indices.to_numpy()], names

    def run():
        entities, relations = _pyarrow_ids(file, threads)
        ends, names = ranked(entities)
        relation, relation_names = ranked(relations)
        head, tail = np.split(ends, 2)
        arrays = {}
        for way, row, other in (("out", head, tail), ("in", tail, head)):
            order = np.lexsort((other, relation, row))
            row, kind, other = row[order], relation[order], other[order]
            new = np.ones(len(row), bool)
            new[1:] = (np.diff(row) != 0) | (np.diff(kind) != 0) | (np.diff(other) != 0)
            row, kind, other = row[new], kind[new], other[new]
            offsets = np.zeros(len(names) + 1, np.int64)
            np.cumsum(np.bincount(row, minlength=len(names)), out=offsets[1:])
            arrays |= {f"{way}_offsets": offsets, f"{way}_relations": kind, f"{way}_others": other}
        for name, texts in (("entities", names), ("relations", relation_names)):
            _, offsets, blob = texts.buffers()
            arrays[f"{name}_offsets"] = np.frombuffer(offsets, np.int32)
            arrays[name] = np.frombuffer(blob, np.uint8)
        for name, array in arrays.items():
            with open(work / f"{name}.npy", "wb") as out:
                np.save(out, array)
                out.flush()
                os.fsync(out.fileno())
        return len(names)

    return run


def _duckdb(file, threads):
    if not installed("duckdb"):
        return None
    import duckdb

    def run():
        connection = duckdb.connect()
        connection.execute(f"set threads to {threads}")
        connection.execute(
            f"create table facts as select * from read_csv('{file}', delim='\t', header=false, "
            "quote='', escape='', columns={'h': 'varchar', 'r': 'varchar', 't': 'varchar'})"
        )
        connection.execute(
            "create table names as select name, row_number() over () as id "
            "from (select h as name from facts union select t from facts)"
        )
        connection.execute(
            "create table edges as select a.id as h, r, b.id as t "
            "from facts join names a on h = a.name join names b on t = b.name"
        )
        return connection.execute("select count(*) from names").fetchone()[0]

    return run


def _polars(file):
    if not installed("polars"):
        return None
    import polars

    def run():
        table = polars.read_csv(
            file,
            separator="\t",
            has_header=False,
            new_columns=["h", "r", "t"],
            quote_char=None,
            schema_overrides=[polars.String] * 3,
        )
        ends = polars.concat([table["h"], table["t"]]).cast(polars.Categorical)
        table["r"].cast(polars.Categorical).to_physical()
        ends.to_physical()
        return ends.n_unique()

    return run


def _pandas(file):
    if not installed("pandas"):
        return None
    import pandas

    def run():
        table = pandas.read_csv(
            file,
            sep="\t",
            header=None,
            names=["h", "r", "t"],
            dtype=str,
            quoting=3,
            na_filter=False,
        )
        _, names = pandas.factorize(np.concatenate([table["h"], table["t"]]))
        pandas.factorize(table["r"])
        return len(names)

    return run


def _lines(file):
    with open(file, encoding="utf-8") as lines:
        return lines.readlines()


def _rows(file):
    return [tuple(line.rstrip("\n").split("\t")) for line in _lines(file)]


def _igraph(file):
    if not installed("igraph"):
        return None
    import igraph

    def run():
        rows = [(head, tail, relation) for head, relation, tail in _rows(file)]
        return igraph.Graph.TupleList(rows, directed=True, edge_attrs=["relation"]).vcount()

    return run


def _networkx(file):
    if not installed("networkx"):
        return None
    import networkx

    def run():
        library = networkx.MultiDiGraph()
        library.add_edges_from((head, tail, relation) for head, relation, tail in _rows(file))
        return library.number_of_nodes()

    return run
