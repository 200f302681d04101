"""Out through every door and in again: the same facts."""

import contextlib
import csv
import itertools
import os
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperhop import KnowledgeGraph
from hyperhop.graph import DamagedStore
from hyperhop.graph.facts import Facts

NAMES = [
    'comma, "quote"', "tab\tinside", "line\nbreak", "carriage\rreturn", "\r\n", "arrow → ", "🙂",
    "日本語", " leading", "trailing ", "12", "-1.5e3", "null", "true", "NaN", '""', '"literal"',
    '"a"@en', '"a"@en-us', '"a"@EN', '"a"@x', '"5"^^<http://www.w3.org/2001/XMLSchema#integer>',
    '"x"^^<http://www.w3.org/2001/XMLSchema#string>', '"\\u00e9"', '"é\\n"', '"open', '"a"b"',
    '"\\UFFFFFFFF"', "_:b0", "_:0af", "_:", "_: x", "http://example.org/a#b",
    "<http://example.org/a>", "http://[",
    "urn:hyperhop:a%20b", "urn:hyperhop:a b", "urn:hyperhop:%zz", "urn:hyperhop:", "a:b", "a:é",
    "Star Wars: IV", "\\", "\\n", "\ufeffbom", "\u2028", "\x00", "\x1f", "#comment", "^r", "'", "%",
    "%41", "{}", '{"head": 1}', "a", "[", "\u202e", "\uffff",
]  # fmt: skip
FACTS = sorted(
    (name, NAMES[(i + 1) % len(NAMES)], NAMES[(i + 7 * k) % len(NAMES)])
    for i, name in enumerate(NAMES)
    for k in (0, 1)
)
PLAIN = [fact for fact in FACTS if not any(mark in "".join(fact) for mark in "\t\n\r")]
PYG_WARNS = "ignore::DeprecationWarning"  # torch_geometric uses what torch deprecates
FORMATS = [
    ".tsv",
    ".csv",
    ".jsonl",
    pytest.param(".nt", marks=pytest.mark.needs("rdf")),
    pytest.param(".parquet", marks=pytest.mark.needs("arrow")),
    pytest.param(".arrow", marks=pytest.mark.needs("arrow")),
]
any_name = st.one_of(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=8),
    st.text('":<>@\\^_abU09.-%/# \n', min_size=1, max_size=8),
    st.sampled_from(NAMES),
    st.builds('"{}"@{}'.format, st.text('ab"\\n\x7f', max_size=3), st.text("abx1-", max_size=5)),
    st.builds("_:{}".format, st.text("ab01.-:·", max_size=4)),
    st.builds("a:{}".format, st.text("b/?#[]@:%41é\ue000", max_size=5)),
)
any_facts = st.lists(st.tuples(any_name, any_name, any_name), max_size=12)


def facts(kg):
    return sorted(kg.triples())


def round_trip(triples, path):
    kg = KnowledgeGraph.from_triples(triples)
    kg.export(path)
    back = KnowledgeGraph.from_triples(path)
    assert facts(back) == facts(kg) == sorted(set(triples))
    assert back.num_entities == kg.num_entities
    assert (back.build_report.num_duplicates, back.build_report.num_skipped) == (0, 0)


@pytest.mark.parametrize("suffix", FORMATS)
def test_nasty_names_survive(tmp_path, suffix):
    round_trip(PLAIN if suffix == ".tsv" else FACTS, tmp_path / f"kb{suffix}")
    for name in NAMES:  # each of them first in its file
        if suffix != ".tsv" or not any(mark in name for mark in "\t\n\r"):
            round_trip([(name, name, name)], tmp_path / f"kb{suffix}")
    round_trip([], tmp_path / f"kb{suffix}")
    assert os.listdir(tmp_path) == [f"kb{suffix}"]


@pytest.mark.needs("rdf")
@settings(max_examples=200)
@given(any_facts)
def test_any_name_survives_n_triples(tmp_path, triples):
    round_trip(triples, tmp_path / "kb.nt")


@given(any_facts)
def test_any_name_survives_lines(tmp_path, triples):
    round_trip(triples, tmp_path / "kb.csv")
    round_trip(triples, tmp_path / "kb.jsonl")
    plain = [fact for fact in triples if not any(mark in "".join(fact) for mark in "\t\n\r")]
    round_trip(plain, tmp_path / "kb.tsv")


@pytest.mark.parametrize("suffix", FORMATS)
def test_many_facts(tmp_path, suffix):
    kg = KnowledgeGraph.from_triples([(f"é{i // 3}", f"r{i % 7}", f"e{i}") for i in range(70_000)])
    calls = []
    kg.export(tmp_path / f"kb{suffix}", progress=lambda done, of: calls.append((done, of)))
    assert facts(KnowledgeGraph.from_triples(tmp_path / f"kb{suffix}")) == facts(kg)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert calls[-1] == (70_000, 70_000)


@pytest.mark.parametrize("suffix", FORMATS[:4])
@pytest.mark.parametrize("outer", [".gz", pytest.param(".zst", marks=pytest.mark.needs("arrow"))])
def test_compressed(tmp_path, suffix, outer):
    path = tmp_path / f"kb{suffix}{outer}"
    round_trip(PLAIN, path)
    first = path.read_bytes()
    round_trip(PLAIN, path)
    assert path.read_bytes() == first


@pytest.mark.needs("rdf")
def test_terms_stay_terms(tmp_path):
    text = (
        '<http://a/x> <http://a/p> "é \\"\\n"@en .\n'
        "<http://a/x> <http://a/p> <http://a/y> .\n"
        '_:b <http://a/p> "5"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
        "_:b <http://a/p> _:c .\n"
        "_:b <urn:hyperhop:is%20in> <urn:hyperhop:Lima> .\n"
    )
    (tmp_path / "a.nt").write_text(text, "utf-8")
    KnowledgeGraph.from_triples(tmp_path / "a.nt").export(tmp_path / "b.nt")
    assert sorted((tmp_path / "b.nt").read_text("utf-8").splitlines()) == sorted(text.splitlines())


@pytest.mark.parametrize("mark", ["\t", "\n", "\r"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_tsv_refuses_what_it_cannot_hold(tmp_path, mark, place):
    triple = ["a", "r", "b"]
    triple[place] = f"x{mark}y"
    kg = KnowledgeGraph.from_triples([("a", "r", "b"), tuple(triple)])
    (tmp_path / "kb.tsv").write_text("old", "utf-8")
    with pytest.raises(ValueError, match=r"export: the triple \(.*x.*y.*\) holds a tab or a line"):
        kg.export(tmp_path / "kb.tsv")
    assert (tmp_path / "kb.tsv").read_text("utf-8") == "old"
    assert os.listdir(tmp_path) == ["kb.tsv"]


def test_csv_refuses_what_its_reader_would_refuse(tmp_path):
    limit = csv.field_size_limit()
    for size in (limit, limit + 1):
        kg = KnowledgeGraph.from_triples([("a", "r", "b"), ("z", "r", size * "x")])
        with contextlib.ExitStack() as stack:
            if size > limit:
                message = "a name has more than 131,072 characters"
                stack.enter_context(pytest.raises(ValueError, match=message))
            kg.export(tmp_path / f"{size}.csv")
            assert facts(KnowledgeGraph.from_triples(tmp_path / f"{size}.csv")) == facts(kg)
    assert os.listdir(tmp_path) == [f"{limit}.csv"]


def test_unusable_paths(tmp_path):
    kg = KnowledgeGraph.from_triples([("a", "r", "b")])
    for name in ("kb.xml", "kb", "kb.gz", "kb.txt"):
        with pytest.raises(ValueError, match=r"export: cannot tell the format of .* one of \.tsv"):
            kg.export(tmp_path / name)
    with pytest.raises(ValueError, match=r"a \.parquet file is not compressed again"):
        kg.export(tmp_path / "kb.parquet.gz")
    with pytest.raises(FileNotFoundError, match=r"there is no directory .*nowhere"):
        kg.export(tmp_path / "nowhere" / "kb.tsv")
    (tmp_path / "dir.tsv").mkdir()
    with pytest.raises(IsADirectoryError, match=r"dir\.tsv is a directory, expected a file"):
        kg.export(tmp_path / "dir.tsv")
    assert os.listdir(tmp_path) == ["dir.tsv"]


@pytest.mark.parametrize(
    ("module", "name", "extra"),
    [("pyarrow", "kb.parquet", "arrow"), ("pyoxigraph", "kb.nt", "rdf")],
)
def test_missing_extras_are_named(tmp_path, monkeypatch, module, name, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=f"needs the extra '{extra}': pip install"):
        KnowledgeGraph.from_triples([("a", "r", "b")]).export(tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_an_opened_graph_is_exported(tmp_path):
    KnowledgeGraph.from_triples(FACTS).save(tmp_path / "g")
    kg = KnowledgeGraph.open(tmp_path / "g")
    kg.export(tmp_path / "kb.jsonl")
    assert facts(KnowledgeGraph.from_triples(tmp_path / "kb.jsonl")) == FACTS


@pytest.mark.parametrize("name", ["out_offsets", "out_relations", "out_tails"])
def test_damage_is_no_crash(tmp_path, name):
    kg = KnowledgeGraph.from_triples(PLAIN)
    for value in (-1, 2**30):
        arrays = {key: array.copy() for key, array in kg._arrays.items()}
        arrays[name][len(arrays[name]) // 2] = value
        damaged = KnowledgeGraph(arrays)
        for use in (lambda kg: list(kg.triples()), lambda kg: kg.export(tmp_path / "kb.tsv")):
            if name == "out_offsets":  # heads may be misled, within bounds
                with contextlib.suppress(DamagedStore):
                    use(damaged)
            else:
                with pytest.raises(DamagedStore, match="a triple holds an unknown id"):
                    use(damaged)


def test_parts_and_text_agree():
    kg = KnowledgeGraph.from_triples(FACTS)
    part = Facts(kg._arrays).ids(3, 60)
    rows = list(Facts(kg._arrays).names(part))
    columns = []
    for text, offsets in Facts(kg._arrays).text(part):
        blob = text.tobytes()
        ends = offsets.tolist()
        columns.append([blob[a:b].decode() for a, b in itertools.pairwise(ends)])
    assert list(zip(*columns, strict=True)) == rows == list(kg.triples())[3:60]


# Graphs of other libraries


@pytest.fixture
def kg():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, [20, 4, 20], (200, 3))
    return KnowledgeGraph.from_triples([*FACTS, *((f"{h}", f"r{r}", f"{t}") for h, r, t in rows)])


@pytest.mark.needs("networkx")
def test_networkx(kg):
    graph = kg.to_networkx()
    assert graph.is_directed()
    assert graph.is_multigraph()
    assert graph.number_of_edges() == kg.num_triples
    assert all(key == kind for _, _, key, kind in graph.edges(keys=True, data="relation"))
    graph.add_node("lone")
    back = KnowledgeGraph.from_networkx(graph)
    assert facts(back) == facts(kg)
    assert back.num_entities == kg.num_entities + 1
    assert KnowledgeGraph.from_networkx(back.to_networkx()).num_entities == back.num_entities


@pytest.mark.needs("pyg")
@pytest.mark.filterwarnings(PYG_WARNS)
def test_pyg(kg):
    data = kg.to_pyg()
    assert data.validate()
    assert data.num_nodes == kg.num_entities
    back = KnowledgeGraph.from_pyg(data)
    assert facts(back) == facts(kg)
    assert facts(KnowledgeGraph.from_pyg(data, relation_names=range(kg.num_relations))) != facts(kg)
    changed = kg.merge([("only", "here", "now")]).without([("only", "here", "now")])
    assert changed.num_entity_ids > changed.num_entities
    assert KnowledgeGraph.from_pyg(changed.renumbered().to_pyg()) == changed


@pytest.mark.needs("scipy")
def test_scipy(kg):
    matrices = kg.to_scipy()
    assert sum(matrix.nnz for matrix in matrices.values()) == kg.num_triples
    entities = kg.entity_names(range(kg.num_entities))
    back = KnowledgeGraph.from_scipy(matrices, entities)
    assert facts(back) == facts(kg)
    assert (back.num_entities, back.num_relations) == (kg.num_entities, kg.num_relations)
    head, tail = kg.entity_id("1"), kg.entity_id("日本語")
    for name, matrix in matrices.items():
        assert bool(matrix.tocsr()[head, tail]) == kg.has_triple("1", name, "日本語")


@pytest.mark.filterwarnings(PYG_WARNS)
def test_empty_graph():
    empty = KnowledgeGraph.from_triples([])
    for part, convert in (
        ("networkx", lambda: KnowledgeGraph.from_networkx(empty.to_networkx())),
        ("torch_geometric", lambda: KnowledgeGraph.from_pyg(empty.to_pyg())),
        ("scipy", lambda: KnowledgeGraph.from_scipy(empty.to_scipy())),
    ):
        pytest.importorskip(part)
        assert (convert().num_entities, convert().num_triples) == (0, 0)
