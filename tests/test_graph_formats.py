"""Every door a graph comes in through: files, tables, graphs of other libraries, real data."""

import csv
import gzip
import itertools
import json
import os
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from hyperhop import KnowledgeGraph
from hyperhop.graph import MalformedLine, UnreadableFile

FACTS = [
    ("Lima", "capital_of", "Peru"),
    ("Peru", "borders", "Chile"),
    ("Peru", "borders", "Peru"),
    ("7", "in, or near", 'Zoë "日本" 🙂'),
]
TSV = "".join("\t".join(fact) + "\n" for fact in FACTS).encode()
COLUMNS = ("head", "relation", "tail")
PYG_WARNS = "ignore::DeprecationWarning"  # torch_geometric uses what torch deprecates


def facts(kg):
    return sorted(kg.triples())


def table(rows=FACTS, names=COLUMNS):
    pa = pytest.importorskip("pyarrow")
    columns = list(zip(*rows, strict=True)) or [[], [], []]
    return pa.table({n: pa.array(c, pa.string()) for n, c in zip(names, columns, strict=True)})


def write_zst(path, data):
    pa = pytest.importorskip("pyarrow")
    with pa.output_stream(path, compression="zstd") as stream:
        stream.write(data)
    return path


def write_ipc(path, data, kind="file"):
    pa = pytest.importorskip("pyarrow")
    writer = {"file": pa.ipc.new_file, "stream": pa.ipc.new_stream}[kind]
    with writer(path, data.schema) as out:
        out.write_table(data, max_chunksize=2)
    return path


def write_parquet(path, data, **options):
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(data, path, **options)
    return path


# Columns


@pytest.mark.parametrize(
    "names",
    [
        ["head", "relation", "tail"],
        ["Subject", "Predicate", " object "],
        ["source", "relation", "target"],
        ["h", "r", "t"],
        ["S", "P", "O"],
        ["one", "two", "three"],
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl"])
def test_usual_names_are_recognised(tmp_path, names, suffix):
    path = tmp_path / f"kb{suffix}"
    if suffix == ".jsonl":
        lines = [json.dumps(dict(zip(names, fact, strict=True))) for fact in FACTS]
        path.write_text("\n".join(lines), "utf-8")
        assert facts(KnowledgeGraph.from_triples(path)) == sorted(FACTS)
        return
    separator = "," if suffix == ".csv" else "\t"
    with open(path, "w", encoding="utf-8", newline="") as file:
        if suffix == ".csv":
            csv.writer(file).writerows([names, *FACTS])
        else:
            file.write("\n".join(separator.join(row) for row in [names, *FACTS]))
    assert facts(KnowledgeGraph.from_triples(path, header=True)) == sorted(FACTS)


@pytest.mark.parametrize("options", [{"header": True}, {"columns": COLUMNS}])
@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_columns_of_lines_are_found_by_name(tmp_path, suffix, options):
    separator = "," if suffix == ".csv" else "\t"
    path = tmp_path / f"kb{suffix}"
    rows = [["tail", "score", "relation", "head"], ["b", "1", "r", "a"], ["c", "2", "s", "b"]]
    lines = ["", *(separator.join(row) for row in rows), "  ", separator.join("xy")]
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    with pytest.raises(MalformedLine, match=r"line 6: .* found 2 fields where the header has 4"):
        KnowledgeGraph.from_triples(path, **options)
    kg = KnowledgeGraph.from_triples(path, skip_bad=True, **options)
    assert facts(kg) == [("a", "r", "b"), ("b", "s", "c")]
    assert kg.build_report.skipped == ((6, "2 fields where the header has 4"),)
    path.write_bytes(
        separator.join(["tail", "relation", "head"]).encode()
        + b"\nb\xff"
        + separator.join(["", "r", "a"]).encode()
    )
    with pytest.raises(MalformedLine, match=r"line 2: .* found invalid UTF-8 in field 3"):
        KnowledgeGraph.from_triples(path, **options)


def test_columns_that_cannot_be_told_are_listed(tmp_path):
    path = tmp_path / "kb.csv"
    path.write_text("a,b,c,d\n1,2,3,4\n", "utf-8")
    with pytest.raises(ValueError, match=r"kb\.csv: there is no column 'x' in the columns 'a', 'b"):
        KnowledgeGraph.from_triples(path, columns=("a", "b", "x"))
    assert facts(KnowledgeGraph.from_triples(path, columns=("d", "b", "a"))) == [("4", "2", "1")]
    for header in ("tail,label,head", "head,relation,tail,source,target", "x,y,head"):
        path.write_text(f"{header}\n", "utf-8")
        with pytest.raises(ValueError, match="cannot tell head, relation and tail among the col"):
            KnowledgeGraph.from_triples(path, header=True)
    path.write_text("a,a,b\n1,2,3\n", "utf-8")
    with pytest.raises(ValueError, match="there are two columns 'a' in the columns"):
        KnowledgeGraph.from_triples(path, columns=("a", "b", "c"))


@pytest.mark.parametrize(
    ("source", "options", "error", "message"),
    [
        ("kb.tsv", {"columns": "hrt"}, TypeError, "columns must be three str, got 'hrt'"),
        ("kb.tsv", {"columns": ("h", "r")}, ValueError, "columns must name head, relation and"),
        ("kb.tsv", {"columns": ("h", "r", "h")}, ValueError, "columns must name head, relation"),
        ("kb.nt", {"columns": COLUMNS}, TypeError, "columns belong to a table, not to .nt"),
        ("kb.nt", {"header": True}, TypeError, "header belong to lines of fields, not to .nt"),
        ("kb.pq", {"delimiter": "|"}, TypeError, "header belong to lines of fields, not to .pq"),
        ("kb.tsv", {"literals": "skip"}, TypeError, "belong to N-Triples, not to .tsv"),
        ("kb.nt", {"literals": "drop"}, ValueError, "literals must be one of 'keep', 'value', 's"),
        ("kb.nt", {"blank_nodes": "value"}, ValueError, "blank_nodes must be one of 'keep', 'sk"),
        ("kb.pq.gz", {}, ValueError, "kb.pq.gz cannot be read: a .pq file compresses its own"),
        ("kb.xml", {}, ValueError, "cannot tell the format of kb.xml: expected one of .tsv, .txt"),
        ("kb.xml", {"header": True}, ValueError, "cannot tell the format of kb.xml"),
        (FACTS, {"columns": COLUMNS}, TypeError, "columns belong to a table, not an iterable"),
        (FACTS, {"literals": "skip"}, TypeError, "literals and blank_nodes belong to a file"),
    ],
)
def test_options_that_do_not_fit(source, options, error, message):
    with pytest.raises(error, match=message):
        KnowledgeGraph.from_triples(source, **options)


# Compression


@pytest.mark.needs("arrow")
@pytest.mark.parametrize("name", ["kb.tsv.zst", "kb.txt.ZST"])
def test_zst(tmp_path, name):
    path = write_zst(tmp_path / name, TSV * 1_000)
    calls = []
    kg = KnowledgeGraph.from_triples(path, progress=lambda done, of: calls.append((done, of)))
    assert facts(kg) == sorted(FACTS)
    assert kg.build_report.num_duplicates == 999 * len(FACTS)
    assert calls[-1] == (path.stat().st_size,) * 2
    whole = path.read_bytes()
    path.write_bytes(whole + whole)  # two frames
    assert KnowledgeGraph.from_triples(path).build_report.num_read == 2_000 * len(FACTS)


@pytest.mark.needs("arrow")
def test_unusable_zst(tmp_path):
    path = write_zst(tmp_path / "kb.tsv.zst", os.urandom(5_000).hex().encode())
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    with pytest.raises(UnreadableFile, match=r"is named \.zst but cannot be read as zstd"):
        KnowledgeGraph.from_triples(path, skip_bad=True)
    path.write_bytes(whole[:5] + b"\xff" * 20 + whole[25:])
    with pytest.raises(UnreadableFile, match=r"is named \.zst but cannot be read as zstd"):
        KnowledgeGraph.from_triples(path, skip_bad=True)
    path.write_bytes(TSV)
    with pytest.raises(UnreadableFile, match=r"is named \.zst but does not begin like zstd"):
        KnowledgeGraph.from_triples(path)
    hidden = tmp_path / "kb.tsv"
    hidden.write_bytes(whole)
    with pytest.raises(UnreadableFile, match=r"by zstd, but its name does not end in \.zst"):
        KnowledgeGraph.from_triples(hidden)


# JSON Lines


def test_json_lines(tmp_path):
    path = tmp_path / "kb.jsonl.gz"
    lines = [
        '{"tail": "Peru", "head": "Lima", "relation": "capital_of", "score": 0.5}',
        "",
        '["Peru", "population", 34000000]',
        '{"head": 7, "relation": "next", "tail": "Zo\\u00eb \\ud83d\\ude42"}\r',
    ]
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + "\n".join(lines).encode()))
    kg = KnowledgeGraph.from_triples(path)
    assert facts(kg) == [
        ("7", "next", "Zoë 🙂"),
        ("Lima", "capital_of", "Peru"),
        ("Peru", "population", "34000000"),
    ]
    assert kg.build_report.format == "JSON Lines"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b'{"head": "a"', "no JSON \\(.* at character 14\\) in '{"),
        (b'{"head": "a", "relation": "r"}', "no 'tail' in"),
        (b'{"head": "a", "relation": null, "tail": "b"}', "relation is null in"),
        (b'{"head": "a", "relation": "r", "tail": 1.5}', "tail is a number in"),
        (b'{"head": "a", "relation": "r", "tail": true}', "tail is true or false in"),
        (b'{"head": "a", "relation": "r", "tail": ["b"]}', "tail is an array in"),
        (b'{"head": "", "relation": "r", "tail": "b"}', "head is empty in"),
        (b'["a", "r"]', "2 values in"),
        (b'"a"', "a string in"),
        (b'["a", "r", "\xff"]', "invalid UTF-8 at byte 13 in"),
        (b'["a", "r", "\\ud800"]', "invalid UTF-8 in field 3"),
        (b"[" * 100_000, "JSON that is too deep in"),
        (b'["a", "r", %b]' % (b"1" * 5_000), "a whole number of too many digits in"),
    ],
)
def test_malformed_json_lines(tmp_path, line, found):
    path = tmp_path / "kb.ndjson"
    good = b'{"head": "x", "relation": "r", "tail": "y"}'
    path.write_bytes(b"\n".join([good, line, good]))
    with pytest.raises(MalformedLine, match=rf"kb\.ndjson, line 2: expected an object .* {found}"):
        KnowledgeGraph.from_triples(path)
    report = KnowledgeGraph.from_triples(path, skip_bad=True).build_report
    assert (report.num_read, report.num_skipped, report.skipped[0][0]) == (2, 1, 2)


def test_json_keys_that_cannot_be_told(tmp_path):
    path = tmp_path / "kb.jsonl"
    path.write_text('\n{"a": 1, "b": 2, "c": 3, "d": 4}', "utf-8")
    with pytest.raises(ValueError, match=r"kb\.jsonl, line 2: cannot tell head, relation and tail"):
        KnowledgeGraph.from_triples(path, skip_bad=True)
    kg = KnowledgeGraph.from_triples(path, columns=("d", "b", "a"))
    assert facts(kg) == [("4", "2", "1")]


# N-Triples

STATEMENTS = r"""
# a comment
<http://a/x> <http://a/p> <http://a/y> .
<http://a/x> <http://a/p> "two\nlines \"é\" \u00e9"@en-US .
_:b1 <http://a/p> "5"^^<http://www.w3.org/2001/XMLSchema#integer> . # and another
<http://a/x> <http://a/p> "5" .
<http://a/y> <http://a/p> _:b1 .
<urn:hyperhop:Zo%C3%AB%20%2F> <urn:hyperhop:%zz> <urn:hyperhop:A> .
"""


@pytest.mark.needs("rdf")
def test_terms_are_named_as_documented(tmp_path):
    path = tmp_path / "kb.nt"
    path.write_text(STATEMENTS.replace("%zz", "%61"), "utf-8")
    kg = KnowledgeGraph.from_triples(path)
    assert facts(kg) == sorted(
        [
            ("http://a/x", "http://a/p", "http://a/y"),
            ("http://a/x", "http://a/p", '"two\\nlines \\"é\\" é"@en-us'),
            ("_:b1", "http://a/p", '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'),
            ("http://a/x", "http://a/p", '"5"'),
            ("http://a/y", "http://a/p", "_:b1"),
            ("Zoë /", "urn:hyperhop:%61", "A"),  # %61 is not how "a" is written
        ]
    )
    report = kg.build_report
    assert (report.format, report.num_read, report.num_skipped) == ("N-Triples", 6, 0)
    merged = KnowledgeGraph.from_triples(path, literals="value")
    assert ("_:b1", "http://a/p", "5") in facts(merged)
    assert ("http://a/x", "http://a/p", "5") in facts(merged)
    assert ("http://a/x", "http://a/p", 'two\nlines "é" é') in facts(merged)
    few = KnowledgeGraph.from_triples(path, literals="skip", blank_nodes="skip")
    assert facts(few) == [
        ("Zoë /", "urn:hyperhop:%61", "A"),
        ("http://a/x", "http://a/p", "http://a/y"),
    ]
    assert few.build_report.num_literals_skipped == 2
    assert few.build_report.num_blank_nodes_skipped == 2
    assert few.build_report.num_read == 2


@pytest.mark.needs("rdf")
@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b"<a:x> bad .", "The predicate of a triple must be an IRI in '<a:x> bad"),
        (b"<a:x> <a:p> <a:y>", "in '<a:x> <a:p> <a:y>'"),
        (b"<a:x> <a:p> <relative> .", "No scheme found in an absolute IRI"),
        (b'<a:x> <a:p> "open .', "in "),
        (b'<a:x> <a:p> "\xff" .', "[Ii]nvalid UTF-8"),
        (b"<a:x> <a:p> <<( <a:x> <a:p> <a:y> )>> .", "a triple in the place of a name"),
    ],
)
def test_malformed_statements(tmp_path, line, found):
    path = tmp_path / "kb.nt"
    good = b"<a:x> <a:p> <a:y> ."
    many = [b"<a:%d> <a:p> <a:y> ." % i for i in range(5_000)]  # more than one chunk
    path.write_bytes(b"\n".join([*many, good, line, good, line]))
    with pytest.raises(MalformedLine, match=rf"line 5002: expected an N-Triples .*{found}") as got:
        KnowledgeGraph.from_triples(path)
    kg = KnowledgeGraph.from_triples(path, skip_bad=True)
    report = kg.build_report
    assert (kg.num_triples, report.num_read, report.num_skipped) == (5_001, 5_002, 2)
    assert report.skipped == ((5_002, got.value.found), (5_004, got.value.found))


@pytest.mark.needs("rdf")
def test_empty_literal_is_no_name(tmp_path):
    path = tmp_path / "kb.nt"
    path.write_text('<a:x> <a:p> "" .\n', "utf-8")
    assert facts(KnowledgeGraph.from_triples(path)) == [("a:x", "a:p", '""')]
    with pytest.raises(MalformedLine, match=r"line 1: .* an empty literal, which is no name"):
        KnowledgeGraph.from_triples(path, literals="value")


# Tables


@pytest.mark.needs("arrow")
def test_arrow_objects():
    t = table()
    reader = t.to_reader(max_chunksize=2)
    for source in (t, t.slice(0, 4), t.to_batches()[0], reader):
        kg = KnowledgeGraph.from_triples(source)
        assert facts(kg) == sorted(FACTS)
        assert kg.build_report.unit == "row"
    assert facts(KnowledgeGraph.from_triples(t.slice(1, 2))) == sorted(FACTS[1:3])
    assert KnowledgeGraph.from_triples(t.slice(0, 0)).num_triples == 0


@pytest.mark.needs("arrow")
@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary", "mixed"])
def test_text_columns_of_every_kind(kind):
    import pyarrow as pa

    types = {
        "string": [pa.string()] * 3,
        "large_string": [pa.large_string()] * 3,
        "string_view": [pa.string_view()] * 3,
        "dictionary": [pa.dictionary(pa.int8(), pa.string())] * 3,
        "mixed": [pa.string_view(), pa.dictionary(pa.uint32(), pa.large_string()), pa.string()],
    }[kind]
    schema = pa.schema(list(zip(COLUMNS, types, strict=True)))
    t = pa.concat_tables([table(FACTS[:3]).cast(schema), table(FACTS[2:]).cast(schema)])
    kg = KnowledgeGraph.from_triples(t)
    assert facts(kg) == sorted(FACTS)
    assert (kg.build_report.num_read, kg.build_report.num_duplicates) == (5, 1)
    assert facts(KnowledgeGraph.from_triples(t.slice(2, 2))) == [FACTS[2]]


@pytest.mark.needs("arrow")
def test_values_of_a_dictionary_that_no_row_uses_are_no_entities():
    t = table().set_column(0, "head", table().column("head").dictionary_encode())
    kg = KnowledgeGraph.from_triples(t.slice(1, 2))
    assert kg.entity_names(range(kg.num_entities)) == ["Chile", "Peru"]


@pytest.mark.needs("arrow")
def test_whole_numbers_become_decimal_text():
    import pyarrow as pa

    t = pa.table(
        {
            "h": pa.array([1, -(2**63), 3], pa.int64()),
            "r": pa.array([0, 255, 7], pa.uint8()),
            "t": pa.array([2**64 - 1, 5, 5], pa.uint64()).dictionary_encode(),
        }
    )
    assert facts(KnowledgeGraph.from_triples(t)) == sorted(
        [("1", "0", str(2**64 - 1)), (str(-(2**63)), "255", "5"), ("3", "7", "5")]
    )


@pytest.mark.needs("arrow")
@pytest.mark.parametrize("encoded", [False, True])
def test_bad_rows_of_a_table(encoded):
    import pyarrow as pa

    broken = pa.array([b"a", b"\xff", b"b", None, b"", b"c", b"d"], pa.large_binary())
    text = pa.LargeStringArray.from_buffers(7, *broken.buffers()[1:3], broken.buffers()[0], 1)
    tail = text.dictionary_encode() if encoded else text
    t = pa.table({"h": list("1234567"), "r": ["r"] * 6 + [None], "t": tail})
    with pytest.raises(MalformedLine, match=r"^row 2: expected a row with non-empty 'h', 'r', 't'"):
        KnowledgeGraph.from_triples(t)
    kg = KnowledgeGraph.from_triples(t, skip_bad=True)
    assert facts(kg) == [("1", "r", "a"), ("3", "r", "b"), ("6", "r", "c")]
    assert kg.build_report.num_skipped == 4
    assert kg.build_report.skipped == (
        (2, "'t' invalid UTF-8"),
        (4, "'t' null"),
        (5, "'t' empty"),
        (7, "'r' null"),
    )


@pytest.mark.needs("arrow")
def test_unusable_tables():
    import pyarrow as pa

    t = table()
    floats = t.set_column(2, "tail", pa.array([1.5] * 4))
    with pytest.raises(TypeError, match="column 'tail' holds double, expected text or whole"):
        KnowledgeGraph.from_triples(floats)
    wide = table(names=("a", "b", "c")).append_column("d", t.column(0))
    with pytest.raises(ValueError, match="among the columns 'a', 'b', 'c', 'd': name them with c"):
        KnowledgeGraph.from_triples(wide)
    assert facts(KnowledgeGraph.from_triples(wide, columns=("a", "b", "c"))) == sorted(FACTS)
    with pytest.raises(TypeError, match="ChunkedArray is no table of text columns"):
        KnowledgeGraph.from_triples(t.column(0))


@pytest.mark.needs("arrow", "pandas")
def test_pandas():
    import pandas as pd

    frame = pd.DataFrame(FACTS, columns=list(COLUMNS))
    for one in (frame, frame.astype("category"), frame.iloc[::-1], frame.assign(x=1.5)):
        assert facts(KnowledgeGraph.from_triples(one)) == sorted(FACTS)
    unnamed = frame.set_axis(["a", "b", "c"], axis=1).iloc[[2, 0, 1, 3]]  # with row labels
    assert facts(KnowledgeGraph.from_triples(unnamed)) == sorted(FACTS)
    labels = frame.set_index("head")
    assert facts(KnowledgeGraph.from_triples(labels, columns=COLUMNS)) == sorted(FACTS)
    frame.loc[1, "tail"] = None
    kg = KnowledgeGraph.from_triples(frame, skip_bad=True)
    assert kg.build_report.skipped == ((2, "'tail' null"),)
    frame["tail"] = frame["tail"].astype(object)
    frame.loc[1, "tail"] = 5
    with pytest.raises(TypeError, match="DataFrame is no table of text columns"):
        KnowledgeGraph.from_triples(frame)


@pytest.mark.needs("arrow", "polars")
def test_polars():
    import polars as pl

    frame = pl.DataFrame(FACTS, schema=list(COLUMNS), orient="row")
    for one in (
        frame,
        frame.with_columns(pl.col("relation").cast(pl.Categorical)),
        frame.with_columns(pl.col("head").cast(pl.Enum(frame["head"].unique()))),
    ):
        assert facts(KnowledgeGraph.from_triples(one)) == sorted(FACTS)


@pytest.mark.needs("arrow", "duckdb")
def test_duckdb():
    import duckdb

    rows = ", ".join("('" + "', '".join(fact) + "')" for fact in FACTS)
    result = duckdb.sql(f"select * from (values {rows}) v(s, p, o)")
    assert facts(KnowledgeGraph.from_triples(result)) == sorted(FACTS)


@pytest.mark.needs("arrow")
@pytest.mark.parametrize("name", ["kb.parquet", "kb.PQ", "kb.arrow", "kb.feather", "kb.ipc"])
def test_table_files(tmp_path, name):
    t = table([*FACTS, (None, "r", "x")] * 3)
    path = tmp_path / name
    calls = []
    for write in (
        [write_parquet, lambda path, t: write_parquet(path, t, row_group_size=2)]
        if name.lower().endswith(("t", "q"))
        else [write_ipc, lambda path, t: write_ipc(path, t, "stream")]
    ):
        write(path, t)
        with pytest.raises(MalformedLine, match=rf"{name}, row 5: .* found 'head' null"):
            KnowledgeGraph.from_triples(path)
        kg = KnowledgeGraph.from_triples(
            path, skip_bad=True, progress=lambda done, of: calls.append((done, of))
        )
        assert facts(kg) == sorted(FACTS)
        assert [row for row, _ in kg.build_report.skipped] == [5, 10, 15]
        assert [done for done, _ in calls] == sorted(done for done, _ in calls)
        total = 15 if "parquet" in name or "PQ" in name else path.stat().st_size
        assert {of for _, of in calls} == {total}
        calls.clear()


@pytest.mark.needs("arrow")
@pytest.mark.parametrize("name", ["kb.parquet", "kb.arrow"])
def test_unusable_table_files(tmp_path, name):
    path = tmp_path / name
    with pytest.raises(FileNotFoundError, match=f"there is no file .*{name}"):
        KnowledgeGraph.from_triples(path)
    path.write_bytes(TSV)
    with pytest.raises(UnreadableFile, match=rf"{name} cannot be read as (Parquet|Arrow): "):
        KnowledgeGraph.from_triples(path)
    write = write_parquet if name.endswith("t") else write_ipc
    write(path, table([(f"e{i}", "r", f"e{i * 7}") for i in range(1_000)]))
    whole = path.read_bytes()
    for damaged in (whole[:-7], whole[: len(whole) // 2]):
        path.write_bytes(damaged)
        with pytest.raises(UnreadableFile, match=rf"{name} cannot be read as (Parquet|Arrow): "):
            KnowledgeGraph.from_triples(path)
    write(path, table().append_column("x", table().column(0)).rename_columns(list("abcd")))
    with pytest.raises(ValueError, match=rf"{name}: cannot tell head, relation and tail among"):
        KnowledgeGraph.from_triples(path)
    assert facts(KnowledgeGraph.from_triples(path, columns=["a", "b", "c"])) == sorted(FACTS)


@pytest.mark.needs("arrow")
@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary"])
def test_damaged_arrow_never_crashes(tmp_path, kind):
    import pyarrow as pa

    type_ = pa.dictionary(pa.int8(), pa.string()) if kind == "dictionary" else getattr(pa, kind)()
    rows = [("a name that is no short one", "r", "b"), ("b", "r", "ü"), ("c", None, "a")]
    columns = [pa.array(column).cast(type_) for column in zip(*rows, strict=True)]
    path = write_ipc(tmp_path / "kb.arrow", pa.table(columns, names=COLUMNS))
    whole = path.read_bytes()
    refused = 0
    for place in range(0, len(whole), 3):
        damaged = bytearray(whole)
        damaged[place] ^= 0x81
        path.write_bytes(damaged)
        try:
            KnowledgeGraph.from_triples(path, skip_bad=True)
        except ValueError:
            refused += 1
    assert refused


# Graphs of other libraries


@pytest.mark.needs("networkx")
def test_networkx():
    import networkx as nx

    graph = nx.MultiDiGraph()
    graph.add_edge("a", "b", key="r")
    graph.add_edge("a", "b", key="s")
    graph.add_edge("b", "a", relation="r", key="not this")
    graph.add_edge(7, "é", relation=12)
    graph.add_node("lone")
    kg = KnowledgeGraph.from_networkx(graph)
    assert facts(kg) == [("7", "12", "é"), ("a", "r", "b"), ("a", "s", "b"), ("b", "r", "a")]
    assert kg.entity_names(range(kg.num_entities)) == ["7", "a", "b", "lone", "é"]
    assert kg.build_report.format == "networkx"
    simple = nx.DiGraph()
    simple.add_edge("x", "y", kind="r")
    assert facts(KnowledgeGraph.from_networkx(simple, relation="kind")) == [("x", "r", "y")]
    assert KnowledgeGraph.from_networkx(nx.DiGraph()).num_entities == 0


@pytest.mark.needs("networkx")
def test_networkx_graphs_that_would_lose_something():
    import networkx as nx

    def refuses(graph, error, message):
        with pytest.raises(error, match=f"from_networkx: {message}"):
            KnowledgeGraph.from_networkx(graph)

    refuses(nx.Graph([("a", "b")]), ValueError, "the graph is undirected, but a fact has a dir")
    refuses(nx.DiGraph([("a", "b")]), ValueError, "the edge 'a' -> 'b' has no attribute 'relat")
    refuses(nx.MultiDiGraph([("a", "b")]), ValueError, "the edge .* and its key is no str")
    for kind in (True, 1.0, ["r"]):
        mixed = nx.DiGraph([("a", "b", {"relation": 1}), ("a", "c", {"relation": kind})])
        refuses(mixed, TypeError, f"the name of a relation .* got {type(kind).__name__}")
    refuses([("a", "r", "b")], TypeError, "expected a networkx graph, got list")
    both = nx.DiGraph()
    both.add_nodes_from([1, "1"])
    refuses(both, ValueError, "two of the node names are '1'; they would be merged")
    for node, error, message in (
        (("a",), TypeError, "the name of a node must be str or int, got tuple"),
        (True, TypeError, "the name of a node must be str or int, got bool"),
        ("", ValueError, "the name of a node must not be empty"),
        ("\ud800", ValueError, "the name of a node holds a lone surrogate"),
    ):
        graph = nx.DiGraph()
        graph.add_node(node)
        refuses(graph, error, message)


@pytest.mark.needs("pyg")
@pytest.mark.filterwarnings(PYG_WARNS)
def test_pyg_data():
    import torch
    from torch_geometric.data import Data

    edges = torch.tensor([[0, 1, 1], [1, 2, 2]])
    data = Data(edge_index=edges, edge_type=torch.tensor([0, 1, 0]), num_nodes=4)
    kg = KnowledgeGraph.from_pyg(data)
    assert facts(kg) == [("0", "0", "1"), ("1", "0", "2"), ("1", "1", "2")]
    assert kg.num_entities == 4
    named = KnowledgeGraph.from_pyg(data, ["a", "b", "c", "d"], ["r", "s"])
    assert facts(named) == [("a", "r", "b"), ("b", "r", "c"), ("b", "s", "c")]
    alike = Data(edge_index=edges, num_nodes=3)
    assert facts(KnowledgeGraph.from_pyg(alike, relation_names=["r"]))[0] == ("0", "r", "1")
    for bad, options, message in (
        (alike, {}, "data has no edge_type"),
        (Data(num_nodes=3), {}, "data has no edge_index"),
        (data, {"entity_names": ["a"]}, "entity_names must have 4 names, one a node, got 1"),
        (data, {"relation_names": ["r"]}, "edge_type holds 1, expected 0 <= id < 1"),
        (data, {"relation_names": ["r", "r"]}, "two of the relation names are 'r'"),
        (Data(edge_index=edges - 1, edge_type=edges[0], num_nodes=3), {}, "edge_index holds -1"),
        (Data(edge_index=edges, edge_type=edges, num_nodes=3), {}, "one value an edge .3., got 6"),
        (Data(edge_index=edges[0], edge_type=edges[0], num_nodes=3), {}, r"shape \(2, edges\)"),
    ):
        with pytest.raises(ValueError, match=message):
            KnowledgeGraph.from_pyg(bad, **options)
    with pytest.raises(TypeError, match="edge_type must hold integers, got float32"):
        KnowledgeGraph.from_pyg(Data(edge_index=edges, edge_type=torch.ones(3), num_nodes=3))


@pytest.mark.needs("pyg")
@pytest.mark.filterwarnings(PYG_WARNS)
def test_pyg_hetero_data():
    import torch
    from torch_geometric.data import HeteroData

    data = HeteroData()
    data["author"].num_nodes = 2
    data["paper"].x = torch.zeros(3, 1)
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 1], [2, 0]])
    data["paper", "cites", "paper"].edge_index = torch.tensor([[2], [0]])
    kg = KnowledgeGraph.from_pyg(data)
    assert facts(kg) == [
        ("author:0", "author.writes.paper", "paper:2"),
        ("author:1", "author.writes.paper", "paper:0"),
        ("paper:2", "paper.cites.paper", "paper:0"),
    ]
    assert kg.num_entities == 5
    named = KnowledgeGraph.from_pyg(data, {"author": ["Ann", "Bob"]})
    assert ("Bob", "author.writes.paper", "paper:0") in facts(named)
    for options, error, message in (
        ({"entity_names": {"author": ["Ann"]}}, ValueError, "must have 2 names, got 1"),
        ({"entity_names": {"editor": []}}, ValueError, "names the node type 'editor'"),
        ({"entity_names": ["Ann"]}, TypeError, "must map node types to names"),
        ({"relation_names": ["r"]}, TypeError, "the edge types of HeteroData are"),
    ):
        with pytest.raises(error, match=message):
            KnowledgeGraph.from_pyg(data, **options)
    numbered = KnowledgeGraph.from_pyg(data, {"author": np.array([7, 8]), "paper": np.arange(3)})
    assert ("8", "author.writes.paper", "0") in facts(numbered)
    bare = HeteroData()
    bare["author", "writes", "paper"].edge_index = torch.tensor([[0], [0]])
    with pytest.raises(ValueError, match="nodes of type 'author' is unknown: set num_nodes"):
        KnowledgeGraph.from_pyg(bare)
    bare["author", "writes", "paper"].edge_index = None
    with pytest.raises(ValueError, match=r"data has no edge_index of \('author', 'writes'"):
        KnowledgeGraph.from_pyg(bare)
    with pytest.raises(TypeError, match="from_pyg: expected Data or HeteroData, got list"):
        KnowledgeGraph.from_pyg([])
    data["paper", "cites", "paper"].edge_index = torch.tensor([[3], [0]])
    with pytest.raises(ValueError, match=r"'cites', 'paper'.* holds 3, expected 0 <= id < 3"):
        KnowledgeGraph.from_pyg(data)


@pytest.mark.needs("scipy")
def test_scipy():
    import scipy.sparse as sp

    rows = sp.csr_array(np.array([[0, 2.5, 0], [0, 0, 0], [0, -1, 1]]))
    rows.data[1] = 0  # stored, but no entry
    kg = KnowledgeGraph.from_scipy({"r": rows, "s": sp.coo_matrix(np.eye(3)), "none": rows * 0})
    assert facts(kg) == [
        ("0", "r", "1"), ("0", "s", "0"), ("1", "s", "1"), ("2", "r", "2"), ("2", "s", "2"),
    ]  # fmt: skip
    assert kg.num_relations == 3
    named = KnowledgeGraph.from_scipy({"r": rows}, ["a", "b", "c"])
    assert facts(named) == [("a", "r", "b"), ("c", "r", "c")]
    assert named.num_entities == 3
    for matrices, entities, error, message in (
        ({"r": np.eye(3)}, None, TypeError, r"matrices\['r'\] must be a scipy sparse matrix, got"),
        ([rows], None, TypeError, "must map relation names to sparse matrices, got list"),
        ({"r": rows[:2]}, None, ValueError, "must all have one square shape"),
        ({"r": rows, "s": rows[:2, :2]}, None, ValueError, "must all have one square shape"),
        ({"r": rows}, ["a"], ValueError, "entities must have 3 names, one a row, got 1"),
        ({"r": rows}, ["a", "a", "b"], ValueError, "two of the entity names are 'a'"),
    ):
        with pytest.raises(error, match=message):
            KnowledgeGraph.from_scipy(matrices, entities)


# What is missing, and what a fault says


@pytest.mark.parametrize(
    ("module", "name", "extra"),
    [
        ("pyarrow", "kb.parquet", "arrow"),
        ("pyarrow", "kb.arrow", "arrow"),
        ("pyoxigraph", "kb.nt", "rdf"),
    ],
)
def test_missing_extras_are_named(tmp_path, monkeypatch, module, name, extra):
    (tmp_path / name).write_bytes(b"")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"needs the extra '{extra}': pip install"):
        KnowledgeGraph.from_triples(tmp_path / name)


def test_optional_parts_are_not_imported():
    import subprocess

    program = (
        "import sys, hyperhop; hyperhop.KnowledgeGraph.from_triples([('a', 'r', 'b')]); "
        "print([m for m in ('pyarrow', 'pyoxigraph', 'networkx', 'torch', 'scipy', 'pandas') "
        "if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_fault_can_be_pickled():
    fault = MalformedLine("kb.parquet", 3, "a row", "'head' null", "row")
    copy = pickle.loads(pickle.dumps(fault))
    assert str(copy) == str(fault) == "kb.parquet, row 3: expected a row, found 'head' null"
    assert (copy.unit, copy.line) == ("row", 3)


# Real data, with the counts that its READMEs state


def data(*parts):
    return Path(os.environ["HYPERHOP_DATA"]).joinpath(*parts)


def counts(kg):
    return kg.num_triples, kg.num_entities, kg.num_relations


@pytest.mark.needs("data")
def test_metaqa():
    kg = KnowledgeGraph.from_triples(data("metaqa", "kb.txt.gz"), delimiter="|")
    assert counts(kg) == (133_582, 43_234, 9)
    assert kg.has_triple("36 Hours", "written_by", "George Seaton")
    assert counts(KnowledgeGraph.from_triples(data("metaqa", "kb_ids.txt.gz"))) == counts(kg)


@pytest.mark.needs("data")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("2H-kb.txt", (1_211, 1_056, 13)),
        ("3H-kb.txt", (2_839, 1_836, 13)),
        ("PQL2-KB.txt", (4_247, 5_034, 363)),
        ("PQL3-KB.txt", (5_597, 6_505, 411)),
    ],
)
def test_pathquestion(name, expected):
    kg = KnowledgeGraph.from_triples(data("pathquestion", name))
    assert counts(kg) == expected
    assert kg.build_report.num_duplicates == 0


@pytest.mark.needs("data")
def test_freebase_schema():
    with gzip.open(data("freebase_schema", "fb_roles.gz"), "rt", encoding="utf-8") as lines:
        kg = KnowledgeGraph.from_triples(line.split()[:3] for line in lines)
    assert kg.build_report.num_read == 19_280
    assert (kg.num_entities, kg.num_relations) == (6_787, 19_279)


@pytest.mark.needs("data")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("open_english_wordnet.tsv.gz", (1_133_453, 539_025, 37)),
        ("geonames_cities500.tsv.gz", (2_086_765, 1_307_434, 11)),
    ],
)
def test_scale_graphs(name, expected):
    kg = KnowledgeGraph.from_triples(data("scale_graphs", name))
    assert counts(kg) == expected
    assert kg.build_report.num_duplicates == 0


@pytest.mark.needs("data")
@pytest.mark.parametrize(
    ("name", "entities", "relations", "triples", "repeated"),
    [
        ("UMLS", 135, 46, 5_216 + 652 + 661, 0),
        ("Kinship", 104, 25, 8_544 + 1_068 + 1_074, 0),
        ("Nations", 14, 55, 1_592 + 199 + 201, 0),
        ("Countries_S1", 271, 2, 1_111 + 24 + 24, 1),
        ("Countries_S2", 271, 2, 1_063 + 24 + 24, 1),
        ("Countries_S3", 271, 2, 985 + 24 + 24, 1),
        ("FB15k-237", 14_541, 237, 272_115 + 17_535 + 20_466, 0),
        ("WN18RR", 40_943, 11, 86_835 + 3_034 + 3_134, 0),
        ("CoDEx-S", 2_034, 42, 32_888 + 1_827 + 1_828, 0),
        ("CoDEx-M", 17_050, 51, 185_584 + 10_310 + 10_311, 0),
    ],
)
def test_small_graphs(name, entities, relations, triples, repeated):
    files = [
        path
        for split in ("train", "valid", "test")
        for path in data("small_kgs", name).glob(f"{split}.txt*")
    ]
    assert len(files) == 3
    parts = [KnowledgeGraph.from_triples(path) for path in files]
    kg = KnowledgeGraph.from_triples(itertools.chain.from_iterable(p.triples() for p in parts))
    assert (kg.num_entities, kg.num_relations) == (entities, relations)
    assert sum(part.build_report.num_read for part in parts) == triples
    assert kg.num_triples == triples - repeated
