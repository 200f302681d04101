"""Passages read from files and folders, and long texts in pieces."""

import gzip
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperhop.graph import MalformedLine, UnreadableFile
from hyperhop.help import Passage, read_passages
from hyperhop.help.chunks import Chunker

ROWS = [
    {"text": '日本 \u2028 🦔 "quoted"', "title": "A, (b)", "id": "x"},
    {"Passage": "second", "_id": 7},
    {"text": None, "contents": "third", "more": 1},
    "fourth",
]
PASSAGES = [
    Passage("x", '日本 \u2028 🦔 "quoted"', "A, (b)"),
    Passage("7", "second"),
    Passage("2", "third"),
    Passage("3", "fourth"),
]


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_json_lines_and_lists(tmp_path):
    lines = "\ufeff" + "\n\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS) + "\n"
    assert read_passages(write(tmp_path / "a.jsonl", lines)) == PASSAGES
    packed = gzip.compress(lines.encode())
    assert read_passages(write(tmp_path / "a.ndjson.gz", packed)) == PASSAGES
    assert read_passages(write(tmp_path / "a.json", json.dumps(ROWS))) == PASSAGES
    assert read_passages(write(tmp_path / "none.jsonl", "")) == []


@pytest.mark.needs("arrow")
def test_parquet(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table({"Text": ["one", "two"], "title": [None, "T"], "score": [1.0, 2.0]})
    parquet.write_table(table, tmp_path / "a.parquet")
    assert read_passages(tmp_path / "a.parquet") == [Passage("0", "one"), Passage("1", "two", "T")]
    parquet.write_table(pa.table({"words": ["one"]}), tmp_path / "b.pq")
    with pytest.raises(MalformedLine, match=r"b.pq, row 1: expected .* found none"):
        read_passages(tmp_path / "b.pq")
    with pytest.raises(UnreadableFile, match="cannot be read as Parquet"):
        read_passages(write(tmp_path / "c.parquet", "no"))


def test_a_folder(tmp_path):
    write(tmp_path / "b.txt", "\ufeffBergen\r\nlies in Norway.")
    write(tmp_path / "a" / "Zoë.MD", "# Zoë\n\ntext")
    write(tmp_path / "a" / "empty.markdown", "")
    write(tmp_path / "a" / "picture.png", b"\x89PNG")
    write(tmp_path / ".git" / "c.txt", "hidden")
    write(tmp_path / "a" / ".d.txt", "hidden")
    write(tmp_path / "packed.txt.gz", gzip.compress(b"left out"))
    assert read_passages(tmp_path) == [
        Passage("a/Zoë.MD", "# Zoë\n\ntext", "Zoë"),
        Passage("a/empty.markdown", "", "empty"),
        Passage("b.txt", "Bergen\r\nlies in Norway.", "b"),
    ]


def test_one_text_file(tmp_path):
    assert read_passages(write(tmp_path / "a.b.txt", " as it is\n")) == [
        Passage("a.b.txt", " as it is\n", "a.b")
    ]
    packed = write(tmp_path / "c.md.gz", gzip.compress("日本".encode()))
    assert read_passages(packed) == [Passage("c.md.gz", "日本", "c")]


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("a.txt", b"ab\xff", UnreadableFile, "a.txt is not UTF-8: byte 2"),
        ("a.jsonl", '{"text": "x"}\n{"text"', MalformedLine, "a.jsonl, line 2: .* no JSON"),
        ("a.jsonl", "[1]", MalformedLine, "line 1: expected a text, .* found a list"),
        ("a.jsonl", '{"title": "x"}', MalformedLine, "found none"),
        ("a.jsonl", '{"text": 3}', MalformedLine, "found a text of type int"),
        ("a.jsonl", '{"text": "x", "title": 3}', MalformedLine, "found a title of type int"),
        ("a.jsonl", '{"text": "x", "id": 1.5}', MalformedLine, "found an id of type float"),
        ("a.jsonl", '{"text": "x", "id": true}', MalformedLine, "found an id of type bool"),
        ("a.jsonl", '{"text": "\\ud800"}', ValueError, "the text of item 0 holds a lone surrogate"),
        ("a.jsonl", '{"text": "x", "id": 1}\n"y"', ValueError, "two passages have the id '1'"),
        ("a.json", '{"docs": []}', UnreadableFile, "no list of rows; read_openie reads it"),
        ("a.json", "{", UnreadableFile, "a.json is not JSON"),
        ("a.csv", "text", UnreadableFile, r"expected a folder or a file .txt, .* got '.csv'"),
        ("a.txt.gz", b"no", UnreadableFile, "cannot be read as gzip"),
    ],
)
def test_what_cannot_be_read(tmp_path, name, content, error, message):
    with pytest.raises(error, match=message):
        read_passages(write(tmp_path / name, content))


def test_what_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_passages(tmp_path / "no.txt")
    with pytest.raises(UnreadableFile, match=r"holds no file .txt, .md, .markdown"):
        read_passages(tmp_path)


def test_without_the_extra_only_long_texts_are_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "semantic_text_splitter", None)
    path = write(tmp_path / "a.txt", "long " * 1000)
    with pytest.raises(ImportError, match=r"long texts needs the extra 'documents'"):
        read_passages(path)
    assert len(read_passages(path, chunk=0)) == 1
    assert len(read_passages(write(tmp_path / "b.txt", "short"))) == 1


def test_arguments_that_are_refused(tmp_path):
    path = write(tmp_path / "a.txt", "text")
    with pytest.raises(ValueError, match="overlap must be below chunk, 10, got 10"):
        read_passages(path, chunk=10, overlap=10)
    with pytest.raises(ValueError, match="chunk must be at least 0, got -1"):
        read_passages(path, chunk=-1)
    with pytest.raises(TypeError, match="overlap must be an integer, got str"):
        read_passages(path, overlap="10")


@pytest.mark.needs("documents")
def test_long_files_are_split_and_rows_only_when_asked(tmp_path):
    text = "A sentence of some words stands here. " * 100
    pieces = read_passages(write(tmp_path / "a.txt", text))
    assert [piece.id for piece in pieces] == [f"a.txt#{n}" for n in range(1, len(pieces) + 1)]
    assert all(0 < len(piece.text) <= 1200 and piece.title == "a" for piece in pieces)
    assert all(piece.text.endswith(".") for piece in pieces)
    rows = write(tmp_path / "a.jsonl", json.dumps(text))
    assert len(read_passages(rows)) == 1
    assert len(read_passages(rows, chunk=400)) > 8


@pytest.mark.needs("documents")
def test_markdown_is_split_at_its_sections(tmp_path):
    text = "# One\n\nBergen lies in Norway.\n\n# Two\n\nOslo does too, they say.\n"
    pieces = read_passages(write(tmp_path / "a.md", text), chunk=40, overlap=0)
    assert [piece.text for piece in pieces] == [
        "# One\n\nBergen lies in Norway.",
        "# Two\n\nOslo does too, they say.",
    ]


SEPARATORS = ["", " ", ". ", "\n", "\n\n", "\n# ", "\n- ", "é🦔", "\u2028"]


@pytest.mark.needs("documents")
@given(st.lists(st.sampled_from(SEPARATORS), max_size=150), st.integers(4, 40), st.booleans())
def test_pieces_are_verbatim_in_order_and_lose_no_letter(separators, chunk, markdown):
    letters = [chr(0x4E00 + place) for place in range(len(separators))]  # each of them once
    text = "".join(map("".join, zip(letters, separators, strict=True)))
    pieces = Chunker("test", chunk, chunk // 4).pieces(Passage("a", text), markdown)
    assert all(piece.text in text and len(piece.text) <= chunk for piece in pieces)
    found = [letter for piece in pieces for letter in piece.text if letter in letters]
    assert list(dict.fromkeys(found)) == letters
