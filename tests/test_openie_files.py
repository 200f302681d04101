"""HippoRAG's OpenIE files: read with every loss counted, written back, and the real one."""

import gzip
import json
import os
from pathlib import Path

import pytest

from hyperhop.graph import UnreadableFile
from hyperhop.help import (
    ExtractedPassage,
    Extraction,
    Passage,
    as_passages,
    estimate,
    read_openie,
    write_openie,
)

ODD = [
    ("Smith, John (Jr.)", 'said "yes"', "a\nb"),
    ("naïve café", "→", "🦜🎉"),
    ("東京", "の首都", "日本"),
    ("O'Neill\t[x]", "is {not} \\ JSON", "'"),
]


def written(path, docs, **more):
    path.write_text(json.dumps({"docs": docs, **more}), encoding="utf-8")
    return path


def doc(triples, entities=(), **more):
    return {
        "passage": "words",
        "extracted_entities": list(entities),
        "extracted_triples": triples,
        **more,
    }


def test_reads_ids_titles_and_status(tmp_path):
    path = written(
        tmp_path / "openie.json",
        [
            doc([["a", "r", "b"], ["a", "r", "b"], [" a", "r ", "b\n"]], ["a", "b", "a"]),
            doc([["a", "r", "s", "b"], ["a", "b"]], idx="chunk-1"),
            doc([], idx=7, passage="T\nwords", title="T", text="words"),
            doc([["a", "b"]], idx="x", title="T", text="words"),
            doc(None, idx="y"),
        ],
        avg_ent_chars=float("nan"),
    )
    extraction = read_openie(path)
    first, second, third, fourth, fifth = extraction.passages
    assert (first.id, first.status, first.triples) == ("0", "parsed", [("a", "r", "b")])
    assert (first.entities, first.merged) == (["a", "b"], 3)
    assert (second.id, second.status, second.triples) == (
        "chunk-1",
        "repaired",
        [("a", "r s", "b")],
    )
    assert (second.mended, second.dropped) == ({"4 parts": 1}, {"2 parts": 1})
    assert third.passage == Passage("7", "words", "T")
    assert (third.status, third.reason) == ("empty", "no triple")
    assert fourth.passage == Passage("x", "words")  # its passage is not title and text
    assert (fourth.status, fourth.reason) == ("failed", "no triple could be used: 2 parts (1)")
    assert (fifth.status, fifth.reason) == ("failed", "extracted_triples is no list but NoneType")
    report = extraction.report()
    assert (report.parsed, report.repaired, report.empty, report.failed) == (1, 1, 1, 2)
    assert (report.triples, report.merged, report.calls) == (2, 3, 0)
    assert report.dropped == {"2 parts": 2}
    assert json.loads(json.dumps(extraction.to_dict()))["report"] == report.to_dict()


@pytest.mark.parametrize("name", ["openie.json", "openie.json.gz"])
def test_round_trip(tmp_path, name):
    passages = [
        ExtractedPassage(Passage("p/1", "text\n\nmore", "Title"), "parsed", ["東京", "🦜"], ODD),
        ExtractedPassage(Passage("p2", "plain"), "empty", reason="no triple"),
        ExtractedPassage(Passage("p3", "", ""), "empty", reason="no triple"),
    ]
    path = tmp_path / name
    write_openie(path, Extraction(passages))
    assert read_openie(path) == Extraction(passages)
    data = path.read_bytes()
    content = json.loads(gzip.decompress(data) if name.endswith("gz") else data)
    assert content["docs"][0]["passage"] == "Title\ntext\n\nmore"
    assert (content["avg_ent_chars"], content["avg_ent_words"]) == (1.5, 1.0)
    assert os.listdir(tmp_path) == [name]


def test_failed_passages_are_never_written_as_empty(tmp_path):
    path = tmp_path / "openie.json"
    good = ExtractedPassage(Passage("good", "x"), "parsed", ["a"], [("a", "r", "b")])
    bad = ExtractedPassage(Passage("bad", "x"), "failed", reason="the server is gone")
    with pytest.raises(ValueError, match=r"1 passages failed, first 'bad': the server is gone"):
        write_openie(path, Extraction([good, bad]))
    assert not path.exists()
    write_openie(path, Extraction([good, bad]), skip_failed=True)
    assert read_openie(path).passages == [good]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "is not JSON"),
        (b"\xff\xfe\xff", "is not JSON"),
        (b"[]", 'holds no object with a list "docs"'),
        (b'{"docs": {}}', 'holds no object with a list "docs"'),
        (b'{"docs": [3]}', r'docs\[0\] has no text under "passage"'),
        (b'{"docs": [{"passage": null}]}', r'docs\[0\] has no text under "passage"'),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    path = tmp_path / "openie.json"
    path.write_bytes(content)
    with pytest.raises(UnreadableFile, match=message):
        read_openie(path)


def test_two_equal_ids_are_refused(tmp_path):
    path = written(tmp_path / "openie.json", [doc([], idx="a"), doc([], idx="a")])
    with pytest.raises(ValueError, match="two passages have the id 'a'"):
        read_openie(path)


@pytest.mark.needs("data")
def test_the_openie_file_of_musique(tmp_path):
    """17,234 triples of three parts, 112 of four, 2 of five, 1 of six, 70 of two; 30 duplicates."""
    folder = Path(os.environ["HYPERHOP_DATA"]) / "hipporag_musique_train"
    extraction = read_openie(
        folder / "openie_musique_train_results_ner_gpt-3.5-turbo-1106_1890.json.gz"
    )
    report = extraction.report()
    assert (report.passages, report.entities) == (1890, 17658)
    assert (report.parsed, report.repaired, report.empty, report.failed) == (1782, 106, 2, 0)
    assert report.mended == {"4 parts": 112, "5 parts": 2, "6 parts": 1}
    assert report.dropped == {"2 parts": 70}
    assert report.triples == 17234 + 112 + 2 + 1 - 30
    assert report.merged == 30
    triples = {triple for passage in extraction.passages for triple in passage.triples}
    assert ("Saint-Jules", "has population of 573", "2011 Census") in triples

    with gzip.open(folder / "musique_train_corpus.json.gz") as file:
        corpus = as_passages(json.load(file))
    assert [(p.title, p.text) for p in corpus] == [
        (one.passage.title, one.passage.text) for one in extraction.passages
    ]

    path = tmp_path / "again.json"
    write_openie(path, extraction)
    again = read_openie(path).passages
    assert [(p.passage, p.entities, p.triples) for p in again] == [
        (p.passage, p.entities, p.triples) for p in extraction.passages
    ]


@pytest.mark.needs("data")
def test_the_estimate_agrees_with_what_a_model_wrote():
    folder = Path(os.environ["HYPERHOP_DATA"]) / "hipporag_musique_train"
    passages = read_openie(
        folder / "openie_musique_train_results_ner_gpt-3.5-turbo-1106_1890.json.gz"
    ).passages
    size = 0
    for one in passages:
        triples = [dict(zip(("head", "relation", "tail"), t, strict=True)) for t in one.triples]
        for reply in ({"entities": one.entities}, {"triples": triples}):
            size += len(json.dumps(reply, ensure_ascii=False).encode())
    cost = estimate([one.passage for one in passages], prices=(0.5, 1.5))
    assert cost.completion_tokens == pytest.approx(size / 4, rel=0.02)
    assert cost.calls == 3780
    assert cost.cost == pytest.approx(
        cost.prompt_tokens / 1e6 * 0.5 + cost.completion_tokens / 1e6 * 1.5, rel=1e-4
    )
