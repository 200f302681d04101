"""Saving and opening: round trips, equal bytes, damage of every kind, several writers."""

import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings

from hyperhop import KnowledgeGraph
from hyperhop.graph import DamagedStore, EntityLinker, store
from strategies_graph import any_triples

FACTS = [
    ("Lima", "capital_of", "Peru"),
    ("Peru", "borders", "Chile"),
    ("Chile", "borders", "Peru"),
    ("Chile", "currency", "Peso"),
    ("Peru", "self", "Peru"),
]


def files(directory):
    return {path.name: path.read_bytes() for path in Path(directory).iterdir()}


@pytest.fixture
def saved(tmp_path):
    KnowledgeGraph.from_triples(FACTS).save(tmp_path / "kg", settings={"encoder": "hashing"})
    return tmp_path / "kg"


def use_everything(kg):
    list(kg.triples())
    _ = kg.symbols
    for entity in range(kg.num_entities):
        kg.has_triple(entity, 0, entity)
        kg.entity_name(entity)
        kg.sequences(entity, 3, inverse=True)
        kg.sequences(entity, 2, inverse=True, beam=2, return_to_topic=False)
        kg.paths(entity, 3, inverse=True)
        kg.paths(entity, 3, inverse=True, simple=True)
    for name in ("Lima", "Peru", "Chilean"):
        try:
            kg.entity_id(name)
        except LookupError:
            continue
    EntityLinker(kg).link("Does Peru border Chile?")


@settings(max_examples=20, deadline=None)
@given(any_triples)
def test_round_trip(tmp_path_factory, triples):
    directory = tmp_path_factory.mktemp("kg")
    kg = KnowledgeGraph.from_triples(triples)
    kg.save(directory)
    opened = KnowledgeGraph.open(directory, verify=True)
    assert list(opened.triples()) == list(kg.triples())
    assert opened.symbols == kg.symbols
    assert opened.settings is None
    assert opened.build_report is None
    copy = pickle.loads(pickle.dumps(opened, protocol=5))
    assert list(copy.triples()) == list(kg.triples())


@settings(max_examples=10, deadline=None)
@given(any_triples, any_triples)
def test_equal_facts_give_equal_bytes(tmp_path_factory, triples, others):
    directory = tmp_path_factory.mktemp("kg")
    KnowledgeGraph.from_triples(triples + others).save(directory / "a", {"k": [1, None]})
    shuffled = others[::-1] + triples + others
    KnowledgeGraph.from_triples(shuffled).save(directory / "b", {"k": [1, None]})
    assert files(directory / "a") == files(directory / "b")


def test_settings_are_kept(saved):
    kg = KnowledgeGraph.open(saved)
    assert kg.settings == {"encoder": "hashing"}
    assert store.read_meta(saved)["counts"] == {"entities": 4, "relations": 4, "triples": 5}
    kg.save(saved)
    assert KnowledgeGraph.open(saved).settings is None
    assert kg.settings == {"encoder": "hashing"}
    with pytest.raises(TypeError, match="save: settings must be plain JSON"):
        kg.save(saved, {"x": object()})
    with pytest.raises(ValueError, match="save: settings must be plain JSON"):
        kg.save(saved, {"x": float("nan")})
    with pytest.raises(TypeError, match="save: settings must be a mapping, got list"):
        kg.save(saved, [1])


def test_opened_arrays_are_mapped_read_only(saved):
    kg = KnowledgeGraph.open(saved)
    for array in kg._arrays.values():
        assert not array.flags.writeable
        assert not array.flags.owndata


def test_generations(saved):
    first = KnowledgeGraph.open(saved)
    other = KnowledgeGraph.from_triples([("x", "y", "z")])
    for generation in (2, 3, 4):
        other.save(saved)
        kept = {name.split(".")[1] for name in os.listdir(saved) if name.endswith(".npy")}
        assert kept == {str(generation - 1), str(generation)}
    assert list(KnowledgeGraph.open(saved, verify=True).triples()) == [("x", "y", "z")]
    # The mapped files of the first generation are gone from the directory, not from this graph.
    assert sorted(first.triples()) == sorted(FACTS)
    first.save(saved)
    assert sorted(KnowledgeGraph.open(saved).triples()) == sorted(FACTS)


def test_leftovers_of_a_killed_writer_do_no_harm(saved):
    (saved / "out_tails.2.npy").write_bytes(b"half written")
    (saved / "out_tails.7.npy").write_bytes(b"half written")
    (saved / "meta.json.new").write_bytes(b"{")
    KnowledgeGraph.open(saved, verify=True)
    KnowledgeGraph.from_triples(FACTS).save(saved)
    KnowledgeGraph.open(saved, verify=True)
    assert "out_tails.7.npy" not in os.listdir(saved)
    assert "meta.json.new" not in os.listdir(saved)


def test_files_of_others_are_left_alone(saved):
    (saved / "weights.1.npy").write_bytes(b"somebody's work")
    for _ in range(3):
        KnowledgeGraph.from_triples(FACTS).save(saved)
    assert (saved / "weights.1.npy").read_bytes() == b"somebody's work"


def test_reader_meets_a_writer(saved, monkeypatch):
    """The files of the generation in meta.json vanish before they are mapped."""
    read_meta = store.read_meta
    answers = [read_meta(saved)]
    kg = KnowledgeGraph.open(saved)
    kg.save(saved)
    kg.save(saved)
    monkeypatch.setattr(
        store, "read_meta", lambda *args: answers.pop() if answers else read_meta(*args)
    )
    assert KnowledgeGraph.open(saved).num_triples == 5
    assert not answers


def test_two_processes_write_at_once(saved):
    code = """
import sys
from hyperhop import KnowledgeGraph
kg = KnowledgeGraph.from_triples([(f"{sys.argv[2]}{i}", "r", "x") for i in range(50)])
for _ in range(10):
    kg.save(sys.argv[1])
"""
    writers = [subprocess.Popen([sys.executable, "-c", code, str(saved), name]) for name in "ab"]
    opened = 0
    while opened < 3 or any(writer.poll() is None for writer in writers):
        kg = KnowledgeGraph.open(saved, verify=True)
        assert kg.num_triples in (5, 50)
        opened += 1
    assert [writer.returncode for writer in writers] == [0, 0]
    heads = {head[0] for head, _, _ in KnowledgeGraph.open(saved, verify=True).triples()}
    assert heads in ({"a"}, {"b"})
    assert store.read_meta(saved)["generation"] == 21


def array_files(directory):
    return sorted(path.name for path in Path(directory).glob("*.npy"))


def test_missing_and_truncated_files(saved, tmp_path):
    for name in array_files(saved):
        copy = tmp_path / "copy"
        shutil.copytree(saved, copy)
        data = (copy / name).read_bytes()
        for size in (len(data) - 1, len(data) // 2, 5, 0):
            (copy / name).write_bytes(data[:size])
            with pytest.raises(DamagedStore, match=f"{name} is damaged"):
                KnowledgeGraph.open(copy)
        (copy / name).write_bytes(data + b"\0")
        with pytest.raises(DamagedStore, match=f"{name} is damaged: it has {len(data) + 1} bytes"):
            KnowledgeGraph.open(copy)
        (copy / name).unlink()
        with pytest.raises(DamagedStore, match=f"lacks the file {name}"):
            KnowledgeGraph.open(copy)
        shutil.rmtree(copy)


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_flipped_bytes_never_crash_and_verify_finds_them(saved, mask):
    for name in [*array_files(saved), "meta.json"]:
        data = (saved / name).read_bytes()
        header = 0 if name == "meta.json" else 128
        positions = [*range(0, header, 7), *range(header, len(data), 1 if header else 5)]
        for position in positions:
            changed = bytearray(data)
            changed[position] ^= mask
            (saved / name).write_bytes(changed)
            with pytest.raises(DamagedStore):
                KnowledgeGraph.open(saved, verify=True)
            if name == "meta.json":
                continue
            try:
                use_everything(KnowledgeGraph.open(saved))
            except DamagedStore:
                continue
        (saved / name).write_bytes(data)
    use_everything(KnowledgeGraph.open(saved, verify=True))


def test_foreign_and_newer_directories(saved, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no directory"):
        KnowledgeGraph.open(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DamagedStore, match=r"is not a hyperhop directory: it holds no meta\.json"):
        KnowledgeGraph.open(tmp_path / "empty")
    (tmp_path / "file").touch()
    with pytest.raises(DamagedStore, match="is not a hyperhop directory"):
        KnowledgeGraph.open(tmp_path / "file")
    with pytest.raises(NotADirectoryError, match="is not a directory, cannot save there"):
        KnowledgeGraph.from_triples(FACTS).save(tmp_path / "file")

    meta = json.loads((saved / "meta.json").read_text("utf-8"))
    for foreign in (b"", b"[]", b"{", b'{"format": "other"}', b"\xff", b"[" * 100_000):
        (saved / "meta.json").write_bytes(foreign)
        with pytest.raises(DamagedStore, match="is not one that hyperhop wrote, or it is damaged"):
            KnowledgeGraph.open(saved)
        with pytest.raises(DamagedStore, match="remove it or choose another directory"):
            KnowledgeGraph.from_triples(FACTS).save(saved)
    (saved / "meta.json").write_text(json.dumps({**meta, "version": 1}), "utf-8")
    with pytest.raises(
        DamagedStore, match="format version 1, this hyperhop reads version 2: index its triples"
    ):
        KnowledgeGraph.open(saved)
    with pytest.raises(DamagedStore, match="again; remove it or choose another directory"):
        KnowledgeGraph.from_triples(FACTS).save(saved)
    (saved / "meta.json").write_text(json.dumps({**meta, "version": 3}), "utf-8")
    with pytest.raises(DamagedStore, match="format version 3, this hyperhop reads up to 2"):
        KnowledgeGraph.open(saved)
    with pytest.raises(DamagedStore, match="written by a newer hyperhop; remove it or choose"):
        KnowledgeGraph.from_triples(FACTS).save(saved)


def test_other_kinds_are_kept_apart(saved, tmp_path):
    kg = KnowledgeGraph.open(saved)
    other = tmp_path / "other"
    store.save(other, "help", kg._arrays, {}, None)
    with pytest.raises(DamagedStore, match="holds an index of kind 'help', expected 'graph'"):
        KnowledgeGraph.open(other)
    with pytest.raises(DamagedStore, match="kind 'help', expected 'graph'; remove it or choose"):
        kg.save(other)
    # A writer whose arrays do not belong together is found out before compiled code reads them.
    store.save(tmp_path / "wrong", "graph", kg._arrays, {"entities": 3}, None)
    with pytest.raises(DamagedStore, match="does not fit the counts"):
        KnowledgeGraph.open(tmp_path / "wrong")
