"""Building: facts, ids, file formats, malformed lines, names."""

import csv
import gzip
import os
import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from hyperhop import KnowledgeGraph
from hyperhop._core import TripleBuilder
from hyperhop.graph import MalformedLine, UnknownEntity, UnknownRelation, UnreadableFile
from reference_graph import ReferenceGraph
from strategies_graph import any_triples, some_triples

FACTS = [("Lima", "capital_of", "Peru"), ("Peru", "borders", "Chile"), ("Peru", "borders", "Peru")]
TSV = "".join("\t".join(fact) + "\n" for fact in FACTS)


@settings(max_examples=100, deadline=None)
@given(any_triples)
def test_facts_and_ids(triples):
    kg, reference = KnowledgeGraph.from_triples(triples), ReferenceGraph(triples)
    assert list(kg.triples()) == reference.triples
    assert kg.entity_names(range(kg.num_entities)) == reference.entities
    assert [kg.relation_name(r) for r in range(kg.num_relations)] == reference.relations
    assert [kg.entity_id(name) for name in reference.entities] == list(range(kg.num_entities))
    assert [kg.relation_id(name) for name in reference.relations] == list(range(kg.num_relations))
    assert kg.symbols == reference.symbols
    assert len(set(kg.symbols)) == 2 * kg.num_relations
    assert kg.num_triples == len(reference.triples)
    assert kg.build_report.num_read == len(triples)
    assert kg.build_report.num_duplicates == len(triples) - len(reference.triples)


@settings(max_examples=50, deadline=None)
@given(some_triples)
def test_has_triple(triples):
    kg, reference = KnowledgeGraph.from_triples(triples), ReferenceGraph(triples)
    facts = set(reference.triples)
    for head in reference.entities:
        for r, relation in enumerate(reference.relations):
            for tail in reference.entities:
                expected = (head, relation, tail) in facts
                assert kg.has_triple(head, relation, tail) == expected
                assert kg.has_triple(kg.entity_id(head), r, kg.entity_id(tail)) == expected
    assert not kg.has_triple("no such", reference.relations[0], reference.entities[0])
    assert not kg.has_triple(0, kg.num_relations, 0)
    assert not kg.has_triple(-1, 0, 0)


def test_both_orders_hold_the_same_edges():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, [50, 4, 50], (1_000, 3))
    kg = KnowledgeGraph.from_triples([(f"e{h}", f"r{r}", f"e{t}") for h, r, t in rows])
    ids = sorted(
        {
            (kg.entity_id(f"e{h}"), kg.relation_id(f"r{r}"), kg.entity_id(f"e{t}"))
            for h, r, t in rows
        }
    )
    arrays = kg._arrays
    heads = np.repeat(np.arange(kg.num_entities), np.diff(arrays["out_offsets"]))
    tails = np.repeat(np.arange(kg.num_entities), np.diff(arrays["in_offsets"]))
    out = zip(heads, arrays["out_relations"], arrays["out_tails"], strict=True)
    into = zip(tails, arrays["in_relations"], arrays["in_heads"], strict=True)
    assert list(out) == ids
    assert list(into) == sorted((t, r, h) for h, r, t in ids)


def test_empty_graph_is_legal():
    kg = KnowledgeGraph.from_triples([])
    assert (kg.num_entities, kg.num_relations, kg.num_triples) == (0, 0, 0)
    assert list(kg.triples()) == []
    assert kg.symbols == []
    with pytest.raises(UnknownEntity, match="no entity named 'x'"):
        kg.sequences("x", 2)


def test_pickle():
    kg = KnowledgeGraph.from_triples(FACTS)
    buffers = []
    data = pickle.dumps(kg, protocol=5, buffer_callback=buffers.append)
    assert buffers
    for copy in (pickle.loads(data, buffers=buffers), pickle.loads(pickle.dumps(kg))):
        assert list(copy.triples()) == sorted(FACTS)
        assert copy.sequences("Lima", 3) == kg.sequences("Lima", 3)
        assert copy.build_report == kg.build_report


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("suffix", [".tsv", ".txt", ".csv", ".tsv.gz", ".csv.GZ"])
def test_formats(tmp_path, suffix, bom, end):
    separator = "," if ".csv" in suffix else "\t"
    lines = ["", *(separator.join(fact) for fact in FACTS), "", "  "]
    data = bom + end.join(lines).encode()
    path = tmp_path / f"kb{suffix}"
    path.write_bytes(gzip.compress(data) if suffix.lower().endswith("gz") else data)
    kg = KnowledgeGraph.from_triples(path)
    assert list(kg.triples()) == sorted(FACTS)
    assert kg.build_report.num_skipped == 0
    headless = KnowledgeGraph.from_triples(str(path), header=True)
    assert list(headless.triples()) == sorted(FACTS[1:])


def test_names_survive_verbatim(tmp_path):
    facts = [
        ('say "hi", twice', "is,(a)", "Zoë's → 日本 🙂"),
        (' "leading', "\\r", "tab-free | pipe"),
        ("line\nbreak", "tab\tinside", "a"),
    ]
    assert sorted(KnowledgeGraph.from_triples(facts).triples()) == sorted(facts)
    with open(tmp_path / "kb.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(facts)
    assert sorted(KnowledgeGraph.from_triples(tmp_path / "kb.csv").triples()) == sorted(facts)
    (tmp_path / "kb.tsv").write_text("\n".join("\t".join(f) for f in facts[:2]), "utf-8")
    assert sorted(KnowledgeGraph.from_triples(tmp_path / "kb.tsv").triples()) == sorted(facts[:2])


def test_delimiter_overrides(tmp_path):
    (tmp_path / "kb.txt").write_text('a|r "x"|b, c\n', "utf-8")
    kg = KnowledgeGraph.from_triples(tmp_path / "kb.txt", delimiter="|")
    assert list(kg.triples()) == [("a", 'r "x"', "b, c")]
    (tmp_path / "kb.csv").write_text('a;r;"b;c"\n', "utf-8")
    kg = KnowledgeGraph.from_triples(tmp_path / "kb.csv", delimiter=";")
    assert list(kg.triples()) == [("a", "r", "b;c")]
    (tmp_path / "kb.dat").write_text("a r b\n", "utf-8")
    kg = KnowledgeGraph.from_triples(tmp_path / "kb.dat", delimiter=" ")
    assert list(kg.triples()) == [("a", "r", "b")]


@pytest.mark.parametrize(
    ("name", "line", "found"),
    [
        ("kb.tsv", b"a\tb", "2 fields in 'a\\\\tb'"),
        ("kb.tsv", b"a", "1 field in 'a'"),
        ("kb.tsv", b"a\tr\tb\tc", "4 fields"),
        ("kb.tsv", b"a\t\tb", "field 2 empty"),
        ("kb.tsv", b"\t\t", "field 1 empty"),
        ("kb.tsv", b"a\tr\t\xff\xfe", "invalid UTF-8 at byte 5 in 'a\\\\tr\\\\t\\\\\\\\xff"),
        ("kb.tsv", b"a\tr\t\xed\xa0\x80", "invalid UTF-8 at byte 5"),
        ("kb.tsv", b"a\tr\t\xc0\xaf", "invalid UTF-8 at byte 5"),
        ("kb.csv", b"a,b", "2 fields in"),
        ("kb.csv", b"a,,b", "field 2 empty"),
        ("kb.csv", b"a,r,\xff", "invalid UTF-8 in field 3"),
        ("kb.csv", b'a,r,"b"c', "',' expected after '\"'"),
    ],
)
def test_malformed_lines(tmp_path, name, line, found):
    separator = b"," if name.endswith("csv") else b"\t"
    good = separator.join([b"x", b"r", b"y"])
    path = tmp_path / name
    path.write_bytes(b"\n".join([good, b"", line, good]))
    with pytest.raises(MalformedLine, match=rf"{name}, line 3: expected 3 non-empty fields") as got:
        KnowledgeGraph.from_triples(path)
    assert got.match(f"found {found}")
    assert (got.value.source, got.value.line) == (str(path), 3)
    assert str(pickle.loads(pickle.dumps(got.value))) == str(got.value)
    kg = KnowledgeGraph.from_triples(path, skip_bad=True)
    assert list(kg.triples()) == [("x", "r", "y")]
    report = kg.build_report
    assert (report.num_read, report.num_duplicates, report.num_skipped) == (2, 1, 1)
    assert report.skipped[0] == (3, got.value.found)


def test_many_bad_lines_are_counted(tmp_path):
    path = tmp_path / "kb.tsv"
    path.write_text("bad\n" * 5_000 + TSV, "utf-8")
    report = KnowledgeGraph.from_triples(path, skip_bad=True).build_report
    assert report.num_skipped == 5_000
    assert [line for line, _ in report.skipped] == list(range(1, 11))


def test_unclosed_quote_is_reported(tmp_path):
    (tmp_path / "kb.csv").write_text('a,r,b\na,r,"c\n', "utf-8")
    with pytest.raises(MalformedLine, match=r"kb\.csv, line 2: .* found unexpected end of data"):
        KnowledgeGraph.from_triples(tmp_path / "kb.csv")


@pytest.mark.parametrize(
    ("items", "error", "message"),
    [
        ([("a", "r", "b"), ("a", "b")], MalformedLine, "item 2: expected 3 non-empty str, found 2"),
        ([("a", "", "b")], MalformedLine, "item 1: .* found field 2 empty"),
        ([("a", "r", "\ud800")], MalformedLine, "item 1: .* found invalid UTF-8 in field 3"),
        (["abc"], TypeError, "item 1 must be a tuple of three str, got one str"),
        ([("a", "r", "b"), {"h": 1, "r": 2, "t": 3}], TypeError, "item 2 must be .* got dict"),
        ([{"a", "r", "b"}], TypeError, "item 1 must be a tuple of three str, got set"),
        ([b"abc"], TypeError, "item 1 must be a tuple of three str, got one bytes"),
        ([7], TypeError, "item 1 must be a tuple of three str, got int"),
        ([("a", "r", None)], TypeError, "item 1: field 3 must be str, got NoneType"),
        (7, TypeError, "expected a path or an iterable of triples, got int"),
    ],
)
def test_malformed_items(items, error, message):
    with pytest.raises(error, match=message):
        KnowledgeGraph.from_triples(items)


def test_rows_of_any_kind():
    rows = [["a", "r", "b"], np.array(["b", "r", "c"]), (x for x in "crd")]
    kg = KnowledgeGraph.from_triples(iter(rows))
    assert list(kg.triples()) == [("a", "r", "b"), ("b", "r", "c"), ("c", "r", "d")]


def test_more_rows_than_a_batch():
    kg = KnowledgeGraph.from_triples((f"e{i}", "r", f"e{i + 1}") for i in range(10_000))
    assert kg.num_triples == 10_000
    with pytest.raises(MalformedLine, match="item 9001"):
        KnowledgeGraph.from_triples([("a", "r", "b")] * 9_000 + [("a", "r", "")])


def test_unusable_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file nowhere\.tsv"):
        KnowledgeGraph.from_triples("nowhere.tsv")
    with pytest.raises(IsADirectoryError, match="is a directory, expected a file"):
        KnowledgeGraph.from_triples(tmp_path, delimiter="\t")
    plain = tmp_path / "kb.tsv.gz"
    plain.write_text(TSV, "utf-8")
    with pytest.raises(UnreadableFile, match=r"named \.gz but cannot be read as gzip"):
        KnowledgeGraph.from_triples(plain)
    plain.write_bytes(gzip.compress(TSV.encode() * 100)[:-20])
    with pytest.raises(UnreadableFile, match="cannot be read as gzip"):
        KnowledgeGraph.from_triples(plain)
    damaged = bytearray(gzip.compress(os.urandom(1_000)))
    damaged[500] ^= 255
    plain.write_bytes(damaged)
    with pytest.raises((UnreadableFile, MalformedLine)):
        KnowledgeGraph.from_triples(plain)
    hidden = tmp_path / "kb.tsv"
    hidden.write_bytes(gzip.compress(TSV.encode()))
    with pytest.raises(UnreadableFile, match=r"its name does not end in \.gz"):
        KnowledgeGraph.from_triples(hidden)
    with pytest.raises(ValueError, match=r"cannot tell the format of kb\.json"):
        KnowledgeGraph.from_triples("kb.json")
    for delimiter in ("", "||", "\n", '"', "é"):
        with pytest.raises(ValueError, match="delimiter must be one ASCII character"):
            KnowledgeGraph.from_triples("kb.tsv", delimiter=delimiter)
    with pytest.raises(TypeError, match="delimiter must be str, got int"):
        KnowledgeGraph.from_triples("kb.tsv", delimiter=9)
    with pytest.raises(TypeError, match="delimiter and header belong to a file"):
        KnowledgeGraph.from_triples(FACTS, header=True)


@pytest.mark.parametrize("name", ["kb.tsv", "kb.tsv.gz", "kb.csv"])
def test_progress_reaches_the_end(tmp_path, name):
    text = "".join(f"e{i * 7919 % 99991}\tr\te{i}\n" for i in range(120_000))
    data = text.replace("\t", ",").encode() if name.endswith("csv") else text.encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(data, 1) if name.endswith("gz") else data)
    calls = []
    KnowledgeGraph.from_triples(path, progress=lambda done, total: calls.append((done, total)))
    size = path.stat().st_size
    assert len(calls) > 1
    assert [total for _, total in calls] == [size] * len(calls)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert calls[-1][0] == size


def test_chunks_may_end_anywhere():
    data = TSV.replace("\n", "\r\n").encode()
    for size in range(1, len(data) + 1):
        builder = TripleBuilder(False)
        for start in range(0, len(data), size):
            assert builder.feed(data[start : start + size], "\t", False)
        assert builder.feed(b"", "\t", True)
        assert builder.num_read == 3


def test_too_many_entities_are_refused():
    builder = TripleBuilder(False, max_entities=3)
    with pytest.raises(ValueError, match="more than 3 distinct names: ids are 32-bit"):
        builder.add_rows([("a", "r", "b"), ("c", "r", "d")], [1, 2])


def test_unknown_names_suggest_close_ones():
    kg = KnowledgeGraph.from_triples([("United Kingdom", "capital", "London"), *FACTS])
    for wrong in ("united kingdom", "United_Kingdom", "Untied Kingdom", "United Kingdon"):
        with pytest.raises(UnknownEntity) as got:
            kg.entity_id(wrong)
        assert got.value.closest[0] == "United Kingdom"
        assert got.match(f"no entity named '{wrong}'; did you mean 'United Kingdom'")
        assert str(pickle.loads(pickle.dumps(got.value))) == str(got.value)
    with pytest.raises(UnknownEntity, match=r"no entity named 'zzzzzz'$"):
        kg.entity_id("zzzzzz")
    with pytest.raises(UnknownRelation, match="no relation named 'bordes'; did you mean 'borders'"):
        kg.relation_id("bordes")
    with pytest.raises(TypeError, match="entity_id: name must be str, got int"):
        kg.entity_id(3)
    with pytest.raises(UnknownEntity):
        kg.entity_id("\ud800")
    with pytest.raises(IndexError, match="no name 6: there are 5"):
        kg.entity_name(6)


def test_large_tables_suggest_from_few_candidates():
    facts = [(f"Town {i:05}", "in", "Country") for i in range(5_000)]
    kg = KnowledgeGraph.from_triples([*facts, ("Paris", "in", "France"), ("Zürich", "in", "x")])
    for wrong, right in {
        "paris": "Paris",
        "Pariss": "Paris",
        "Prais": "Paris",
        "zürich": "Zürich",
        "Town_00042": "Town 00042",
        "Town 004999": "Town 04999",
    }.items():
        with pytest.raises(UnknownEntity) as got:
            kg.entity_id(wrong)
        assert right in got.value.closest


@pytest.mark.needs("data")
@pytest.mark.parametrize(
    ("name", "triples", "entities", "relations"),
    [
        ("2H-kb.txt", 1_211, 1_056, 13),
        ("3H-kb.txt", 2_839, 1_836, 13),
        ("PQL2-KB.txt", 4_247, 5_034, 363),
        ("PQL3-KB.txt", 5_597, 6_505, 411),
    ],
)
def test_pathquestion(name, triples, entities, relations):
    kg = KnowledgeGraph.from_triples(
        os.path.join(os.environ["HYPERHOP_DATA"], "pathquestion", name)
    )
    assert (kg.num_triples, kg.num_entities, kg.num_relations) == (triples, entities, relations)
    assert kg.build_report.num_duplicates == 0


def test_interned_columns_build_what_rows_build():
    rows = [("a", "r", "b"), ("b", "r", "é"), ("a", "s", "a"), ("a", "r", "b")]
    names = [field for row in rows for field in row]
    blob = np.frombuffer("".join(names).encode(), np.uint8)
    offsets = np.cumsum([0] + [len(name.encode()) for name in names], dtype=np.int64)
    builder = TripleBuilder(False)
    ids = builder.intern_entities(blob, offsets)
    relations = builder.intern_relations(blob, offsets)
    builder.add_ids(ids[0::3].copy(), relations[1::3].copy(), ids[2::3].copy())
    with pytest.raises(IndexError, match="tail 0 is 99, expected an id below 5"):
        builder.add_ids(ids[:1], ids[:1], np.array([99], np.int32))
    with pytest.raises(ValueError, match="name 0 is empty"):
        builder.intern_entities(blob, np.zeros(2, np.int64))
    assert builder.num_read == 4
    built = builder.build()
    assert built["out_tails"].size == 3


def test_ids_are_ranks_however_much_of_the_names_is_alike():
    numbers = np.random.default_rng(0).permutation(3000)
    names = [f"http://example.org/resource/{n % 7}/of the same beginning/{n:05}" for n in numbers]
    names += [name + "\0" for name in names[:40]] + ["http://example.org/", "h", "é"]
    kg = KnowledgeGraph.from_triples((name, "r", name) for name in names)
    assert kg.entity_names(range(kg.num_entities)) == sorted(names, key=str.encode)


def test_more_names_than_one_digit_of_the_sort_holds_are_ordered():
    random = np.random.default_rng(1)
    rows = [
        (f"e{h}", f"r{r}", f"e{t}")
        for h, r, t in zip(
            random.integers(0, 1500, 4000),
            random.integers(0, 900, 4000),
            random.integers(0, 1500, 4000),
            strict=True,
        )
    ]
    facts = sorted(set(rows), key=lambda row: [name.encode() for name in row])
    assert list(KnowledgeGraph.from_triples(rows).triples()) == facts


def test_rows_that_make_their_names_as_they_are_read():
    rows = [(str(i) for i in (n, "r", n + 1)) for n in range(5000)]
    kg = KnowledgeGraph.from_triples(rows)
    assert kg.num_triples == 5000
    assert kg.has_triple("4999", "r", "5000")


def test_many_facts_are_looked_up_at_once():
    kg = KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "s", "c"), ("a", "s", "a")])
    rows = np.array(list(product(range(-1, 4), range(-1, 3), range(-1, 4))))
    found = kg.has_triples(*rows.T)
    facts = {(kg.entity_id(h), kg.relation_id(r), kg.entity_id(t)) for h, r, t in kg.triples()}
    assert found.tolist() == [tuple(row) in facts for row in rows.tolist()]
    table = kg.has_triples(np.arange(3)[:, None, None], np.arange(2)[:, None], np.arange(3))
    assert table.shape == (3, 2, 3)
    assert set(zip(*map(np.ndarray.tolist, np.nonzero(table)), strict=True)) == facts
    assert kg.has_triples(2**62, 0, 0).shape == ()
    assert not kg.has_triples([2**62, -(2**62), 2**31], 0, 0).any()
    assert kg.has_triples([], [], []).tolist() == []
    with pytest.raises(TypeError, match="has_triples: heads must be integers, got float64"):
        kg.has_triples([0.5], [0], [0])
    with pytest.raises(ValueError, match="broadcast"):
        kg.has_triples([0, 1], [0, 1, 2], [0])
