"""An index on disk: read back as it was, and damage that misleads at most."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from help_corpora import Counting, bridge, same
from hyperhop import KnowledgeGraph
from hyperhop.graph import DamagedStore
from hyperhop.graph import store as files
from hyperhop.help import Passage, add, build_index, store

TESTS = Path(__file__).parent


def odd():
    passages = [Passage("a\tb", "line\u2028 \x00 \U0001f994", ""), Passage("", "", None)]
    return build_index(passages, [[("(a, b)", '"r"', "→")], []], Counting())


@pytest.mark.parametrize("storage", ["float32", "float16"])
@pytest.mark.parametrize("synonyms", [None, 0.5])
def test_comes_back_as_it_was(tmp_path, storage, synonyms):
    index = build_index(*bridge(), Counting(), storage=storage, synonyms=synonyms)
    store.save(tmp_path, index, {"levels": 2})
    loaded, settings = store.load(tmp_path, verify=True)
    assert same(loaded, index)
    assert list(loaded.passages) == list(index.passages)
    assert settings == {
        "levels": 2,
        "synonyms": synonyms,
        "encoder": "hashing:16",
        "encoder_dim": 16,
        "query_prompt": "",
    }
    assert not loaded.triple_embeddings.flags.writeable
    more = (["x"], [[("Ida Brandt", "met", "Karl")]])
    assert same(add(loaded, *more, Counting()), add(index, *more, Counting()))


@pytest.mark.parametrize("make", [odd, lambda: build_index([], None, Counting(), synonyms=0.5)])
def test_odd_indexes_come_back(tmp_path, make):
    index = make()
    store.save(tmp_path, index)
    loaded, _ = store.load(tmp_path)
    assert same(loaded, index)
    assert list(loaded.passages) == list(index.passages)


def test_a_new_generation_replaces_the_old_one(tmp_path):
    linked = build_index(*bridge(), Counting(), synonyms=0.5)
    plain = build_index(*bridge(), Counting())
    store.save(tmp_path, linked)
    reader, _ = store.load(tmp_path)
    for _ in range(2):
        store.save(tmp_path, plain)
    assert same(reader, linked)  # its files are gone, and still mapped
    assert same(store.load(tmp_path)[0], plain)
    assert not list(tmp_path.glob("entity_embeddings.*"))


def test_other_kinds_are_refused(tmp_path):
    KnowledgeGraph.from_triples([("a", "b", "c")]).save(tmp_path / "kg")
    with pytest.raises(DamagedStore, match="an index of kind 'graph', expected 'help'"):
        store.load(tmp_path / "kg")
    with pytest.raises(DamagedStore, match="kind 'graph'"):
        store.save(tmp_path / "kg", odd())
    store.save(tmp_path / "help", odd())
    with pytest.raises(DamagedStore, match="kind 'help', expected 'graph' or 'rsf'"):
        KnowledgeGraph.open(tmp_path / "help")
    with pytest.raises(FileNotFoundError):
        store.load(tmp_path / "nothing")


def test_verify_finds_a_flipped_byte_anywhere(tmp_path):
    store.save(tmp_path, build_index(*bridge(), Counting(), synonyms=0.5))
    for path in sorted(tmp_path.glob("*.npy")):
        data = path.read_bytes()
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        with pytest.raises(DamagedStore):
            store.load(tmp_path, verify=True)
        path.write_bytes(data)
    store.load(tmp_path, verify=True)


def test_flipped_bytes_in_a_process_of_its_own(tmp_path):
    """150 flips over every file; a crash or a hang ends the process."""
    command = [sys.executable, str(TESTS / "fuzz_help_store.py"), str(tmp_path / "ix"), "1", "150"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    last = done.stdout.splitlines()[-1:]
    assert done.returncode == 0, f"after the flip {last}: {done.stderr[-2000:]}"


# Arrays that do not go together, with true checksums: what a foreign or faulty writer may leave.
MISFITS = {
    "triples": ([0, 0, 99], "triples holds an unknown id"),
    "source_passages": ([0, 0, 0, -1], "source_passages holds an unknown id"),
    "source_offsets": ([0, 3, 2, 4], "source_offsets does not ascend"),
    "statement_offsets": ([0, 4], "statement_offsets does not fit the counts"),
    "statements": ([0, 0], "statements does not hold rows of 3"),
    "links": ([0, 99], "links holds an unknown id"),
    "similarities": (np.ones(3, np.float32), "similarities does not fit links"),
    "source_weights": (np.ones(3, np.float32), "source_weights does not fit source_passages"),
    "passage_titled": (np.ones(3, np.uint8), "its parts differ in length"),
    "passage_texts_offsets": ([0, 0, 0, 0, 1], "its offsets do not fit its bytes"),
    "entities": (np.zeros(0, np.uint8), "its offsets do not fit its bytes"),
    "passage_embeddings": (np.ones(3, np.float32), "does not hold 4 rows of 16"),
    "triple_embeddings": (np.ones(48, np.float16), "triple_embeddings has dtype float16"),
}


@pytest.mark.parametrize("name", MISFITS)
def test_arrays_that_do_not_fit(tmp_path, name):
    values, message = MISFITS[name]
    index = build_index(*bridge(), Counting())
    arrays = {**store.arrays_of(index), name: np.asarray(values)}
    files.save(tmp_path, "help", arrays, {}, {**index.encoder, "synonyms": None})
    with pytest.raises(DamagedStore, match=message):
        store.load(tmp_path)


@pytest.mark.parametrize("lacking", ["triples", "encoder_dim"])
def test_what_is_lacking_is_named(tmp_path, lacking):
    index = build_index(*bridge(), Counting())
    arrays, settings = store.arrays_of(index), {**index.encoder, "synonyms": None}
    arrays.pop(lacking, None)
    settings.pop(lacking, None)
    files.save(tmp_path, "help", arrays, {}, settings)
    with pytest.raises(DamagedStore, match=f"is damaged: it lacks '{lacking}'"):
        store.load(tmp_path)
