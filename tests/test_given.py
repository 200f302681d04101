"""Triples that are given for passages, by text or by id, and the rows they are read from."""

import gzip
import json

import pytest

from hyperhop.graph import MalformedLine, UnreadableFile
from hyperhop.help import Passage, write_openie
from hyperhop.help.extracted import ExtractedPassage, Extraction
from hyperhop.help.given import given_triples, holds_triples
from hyperhop.help.rows import first_value, holds_list, read_rows

PASSAGES = [
    Passage("a", "Lima lies in Peru.", "Lima"),
    Passage("b", "日本 → Japan, “quoted”"),
    Passage("c", ""),
]


def write(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def rows(*values):
    return [json.dumps(value, ensure_ascii=False) for value in values]


def test_rows_keep_their_line_numbers(tmp_path):
    path = write(tmp_path / "r.jsonl", "\ufeff" + '{"x": 1}', "", " ", '{" Y ": "日\\u0000"}')
    found = [(row.number, row.unit, row.value) for row in read_rows(path)]
    assert found == [(1, "line", {"x": 1}), (4, "line", {" Y ": "日\0"})]
    packed = tmp_path / "r.ndjson.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert list(read_rows(packed)) == list(read_rows(path))
    assert first_value(write(tmp_path / "first.jsonl", '{" Y ": 3}')) == {"y": 3}
    assert first_value(write(tmp_path / "empty.jsonl")) is None
    listed = write(tmp_path / "r.json", " ", '[{"x": 1}, "y"]')
    assert [tuple(row) for row in read_rows(listed)] == [(1, "item", {"x": 1}), (2, "item", "y")]
    assert holds_list(listed)


@pytest.mark.parametrize("line", ["{", "[" * 100_000, "\udcff", "{'x': 1}"])
def test_what_is_no_row_is_named_or_skipped(tmp_path, line):
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"x": 1}\n' + line.encode("utf-8", "surrogateescape") + b'\n{"x": 2}\n')
    with pytest.raises(MalformedLine, match="line 2: expected a thing, found no JSON"):
        list(read_rows(path, "a thing"))
    skipped = []
    assert [row.value["x"] for row in read_rows(path, skip=skipped.append)] == [1, 2]
    assert [one.line for one in skipped] == [2]


def test_other_files_have_no_rows(tmp_path):
    with pytest.raises(UnreadableFile, match="is no file of rows: expected one of"):
        read_rows(tmp_path / "x.csv")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        list(read_rows(tmp_path / "x.jsonl"))
    with pytest.raises(UnreadableFile, match="holds no list of rows; read_openie reads it"):
        list(read_rows(write(tmp_path / "x.json", '{"docs": []}')))


@pytest.mark.needs("arrow")
def test_rows_of_a_table(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    table = pa.table({"ID": ["a", "b"], "triples": [[["Lima", "in", "Peru"]], None]})
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(table, path)
    assert [row.value["ID"] for row in read_rows(path)] == ["a", "b"]
    given = given_triples(path, PASSAGES)
    assert given.extraction.passages[0].triples == [("Lima", "in", "Peru")]
    assert (given.matched, given.unknown) == (1, 0)
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(UnreadableFile, match="cannot be read as Parquet"):
        list(read_rows(broken))
    with pytest.raises(FileNotFoundError, match="there is no file"):
        list(read_rows(tmp_path / "nowhere.parquet"))


def test_triples_by_id(tmp_path):
    lines = rows(
        {"id": "b", "triples": [["日本", "is", "Japan"], ["too", "short"], ["x", "y", "z", "w"]]},
        {"id": "z", "triples": [["a", "b", "c"]]},
        {"id": "c", "triples": "none"},
        {"id": "a"},
    )
    path = write(tmp_path / "t.jsonl", *lines)
    given = given_triples(path, PASSAGES)
    assert (given.matched, given.unknown) == (2, 1)
    a, b, c = given.extraction.passages
    assert (a.status, a.triples) == ("empty", [])
    assert b.triples == [("日本", "is", "Japan"), ("x", "y z", "w")]
    assert (b.status, b.dropped) == ("repaired", {"2 parts": 1})
    assert (c.status, c.reason) == ("failed", "triples is no list but str")
    assert holds_triples(path)
    assert not holds_triples(write(tmp_path / "u.jsonl", '{"id": "a"}'))
    assert not holds_triples(write(tmp_path / "v.jsonl", '["triples"]'))
    path = write(tmp_path / "w.jsonl", "{", *lines)
    with pytest.raises(MalformedLine, match="line 1"):
        given_triples(path, PASSAGES)
    skipped = []
    assert given_triples(path, PASSAGES, skipped.append).matched == 2
    assert len(skipped) == 1


def test_rows_without_an_id_are_known_by_their_position(tmp_path):
    path = write(tmp_path / "t.jsonl", *rows({"triples": []}, {"triples": [["a", "b", "c"]]}))
    given = given_triples(path, [Passage("0", "x"), Passage("1", "y")])
    assert [one.triples for one in given.extraction.passages] == [[], [("a", "b", "c")]]


def test_triples_of_an_openie_file_by_text(tmp_path):
    lima = Passage("1", PASSAGES[0].text, "Lima")
    told = [
        ExtractedPassage(Passage("0", PASSAGES[1].text), "parsed", triples=[("日本", "is", "J")]),
        ExtractedPassage(lima, "parsed", triples=[("L", "i", "P")]),
        ExtractedPassage(Passage("2", "of nobody"), "empty"),
    ]
    path = tmp_path / "openie.json"
    write_openie(path, Extraction(told))
    given = given_triples(path, PASSAGES)
    assert (given.matched, given.unknown) == (2, 1)
    assert [one.id for one in given.extraction.passages] == ["a", "b", "c"]
    assert [one.triples for one in given.extraction.passages] == [
        [("L", "i", "P")],
        [("日本", "is", "J")],
        [],
    ]


def test_a_file_about_other_passages_is_refused(tmp_path):
    path = write(tmp_path / "t.jsonl", *rows({"id": "z", "triples": []}))
    with pytest.raises(ValueError, match="gives triples to none of the passages, by their id"):
        given_triples(path, PASSAGES)
    assert given_triples(path, []).matched == 0
