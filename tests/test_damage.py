"""What a saved graph survives: flipped bytes, killed writers, more than 2^31 edges."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from hyperhop import KnowledgeGraph
from hyperhop.graph import DamagedStore, store

TESTS = Path(__file__).parent
OLD = [("Lima", "capital_of", "Peru"), ("Peru", "borders", "Chile")]
NEW = [(f"e{i}", f"r{i % 7}", f"e{i * i % 1000}") for i in range(3_000)]


def test_flipped_bytes_in_a_process_of_its_own(tmp_path):
    """120 flips over every file of a graph with retired ids; a crash or a hang ends the process."""
    command = [sys.executable, str(TESTS / "fuzz_store.py"), str(tmp_path / "kg"), "1", "120"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    last = done.stdout.splitlines()[-1:]
    assert done.returncode == 0, f"after the flip {last}: {done.stderr[-2000:]}"


# Saves in forked children, each killed at another line of the store's code: between any two files
# and inside them. Prints what the directory holds after each.
KILLED = """
import os, signal, sys
from hyperhop import KnowledgeGraph
from hyperhop.graph import DamagedStore, store

directory, step = sys.argv[1], int(sys.argv[2])
facts = ((f"e{i}", f"r{i % 7}", f"e{i * i % 1000}") for i in range(3_000))
new = KnowledgeGraph.from_triples(facts)
fresh = sys.argv[3] == "fresh"
for last in range(1, 100_000, step):
    where = os.path.join(directory, str(last)) if fresh else directory
    child = os.fork()
    if child == 0:
        lines = 0
        def trace(frame, event, argument):
            global lines
            if frame.f_code.co_filename != store.__file__:
                return None
            lines += event == "line"
            if lines == last:
                os.kill(os.getpid(), signal.SIGKILL)
            return trace
        sys.settrace(trace)
        new.save(where, {"saved": last})
        os._exit(0)
    _, status = os.waitpid(child, 0)
    try:
        kg = KnowledgeGraph.open(where, verify=True)
        print(kg.num_triples, (kg.settings or {}).get("saved"))
    except (DamagedStore, FileNotFoundError) as error:
        print(type(error).__name__, error)
    if os.WIFEXITED(status):
        break
"""


def after_kills(directory, step, kind):
    command = [sys.executable, "-c", KILLED, str(directory), str(step), kind]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return done.stdout.splitlines()


def test_a_killed_writer_leaves_the_old_graph_or_the_new_one(tmp_path):
    KnowledgeGraph.from_triples(OLD).save(tmp_path, {"saved": "before"})
    held = [line.split() for line in after_kills(tmp_path, 9, "old")]
    assert len(held) > 20
    assert held[0] == ["2", "before"]
    assert held[-1][0] == "3000"
    assert all(line == ["2", "before"] or line[0] == "3000" for line in held)
    # No lock is left, and the next writer removes what the killed ones left behind.
    KnowledgeGraph.from_triples(OLD).save(tmp_path)
    KnowledgeGraph.from_triples(OLD).save(tmp_path)
    generation = store.read_meta(tmp_path)["generation"]
    kept = {int(path.name.split(".")[1]) for path in tmp_path.glob("*.npy")}
    assert kept == {generation - 1, generation}
    assert not list(tmp_path.glob("*.new"))
    assert KnowledgeGraph.open(tmp_path, verify=True) == KnowledgeGraph.from_triples(OLD)


def test_a_killed_first_writer_leaves_no_graph_or_a_whole_one(tmp_path):
    held = after_kills(tmp_path, 31, "fresh")
    assert held[-1].startswith("3000")
    assert any("writing it was interrupted" in line for line in held)
    for line in held:
        assert line.startswith(("3000", "DamagedStore", "FileNotFoundError"))


def test_index_killed_at_any_moment(tmp_path):
    KnowledgeGraph.from_triples(OLD).save(tmp_path / "kg")
    source = tmp_path / "new.tsv"
    source.write_text("".join("\t".join(fact) + "\n" for fact in NEW), "utf-8")
    command = [sys.executable, "-m", "hyperhop", "index", str(source), "-o", str(tmp_path / "kg")]
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    whole = time.perf_counter() - started
    KnowledgeGraph.from_triples(OLD).save(tmp_path / "kg")
    for part in (0.6, 0.75, 0.9):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            time.sleep(part * whole)
            process.send_signal(signal.SIGKILL)
        assert KnowledgeGraph.open(tmp_path / "kg", verify=True).num_triples in (2, 3_000)
    subprocess.run(command, check=True, capture_output=True)
    assert KnowledgeGraph.open(tmp_path / "kg", verify=True) == KnowledgeGraph.from_triples(NEW)


def test_two_builders_and_a_reader(tmp_path):
    paths = [tmp_path / "a.tsv", tmp_path / "b.tsv"]
    for path, count in zip(paths, (2_000, 3_000), strict=True):
        path.write_text("".join("\t".join(fact) + "\n" for fact in NEW[:count]), "utf-8")
    KnowledgeGraph.from_triples(OLD).save(tmp_path / "kg")
    builders = [
        subprocess.Popen(
            [sys.executable, "-m", "hyperhop", "index", str(path), "-o", str(tmp_path / "kg")],
            stdout=subprocess.DEVNULL,
        )
        for path in paths
    ]
    for read in itertools.count():
        assert KnowledgeGraph.open(tmp_path / "kg", verify=True).num_triples in (2, 2_000, 3_000)
        if read > 3 and all(builder.poll() is not None for builder in builders):
            break
    assert [builder.returncode for builder in builders] == [0, 0]
    assert KnowledgeGraph.open(tmp_path / "kg", verify=True).num_triples in (2_000, 3_000)
    assert store.read_meta(tmp_path / "kg")["generation"] == 3


def sparse_store(directory, num_edges):
    """A saved graph of entity a with a row of `num_edges` - 4 edges, and four small rows behind it.

    The files have holes in place of the big row, which reads as zeros: relation 0 to entity 0.
    """
    kg = KnowledgeGraph.from_triples(
        [("a", "r", "a"), ("b", "s", "a"), ("b", "s", "c"), ("c", "s", "b"), ("c", "t", "c")]
    )
    kg.save(directory)
    meta = store.read_meta(directory)
    del meta["checksum"]
    more = num_edges - 5
    for name, entry in meta["arrays"].items():
        values = kg._arrays[name]
        if name in ("out_offsets", "in_offsets"):
            # In the order by tail, the entity's first edges are those of relation r too.
            meta["arrays"][name] = store._write_array(
                directory / entry["file"], np.concatenate((values[:1], values[1:] + more))
            )
        elif name.startswith(("out_", "in_")):
            entry["length"] = num_edges
            header = np.lib.format.header_data_from_array_1_0(values) | {"shape": (num_edges,)}
            with open(directory / entry["file"], "wb") as file:
                np.lib.format.write_array_header_1_0(file, header)
                file.seek(more * 4, os.SEEK_CUR)
                file.write(values.tobytes())
    meta["counts"]["triples"] = num_edges
    store._replace_meta(directory, meta)


@pytest.mark.parametrize("num_edges", [2**31 - 1, 2**31, 2**31 + 3, 2**33])
def test_more_edges_than_an_int32_can_count(tmp_path, num_edges):
    try:
        sparse_store(tmp_path, num_edges)
    except OSError as error:
        pytest.skip(f"this file system has no files with holes of that size: {error}")
    kg = KnowledgeGraph.open(tmp_path)
    assert kg.num_triples == num_edges
    facts = [("b", "s", "a"), ("b", "s", "c"), ("c", "s", "b"), ("c", "t", "c")]
    assert all(kg.has_triple(*fact) for fact in [("a", "r", "a"), *facts])
    assert not any(
        kg.has_triple(*fact) for fact in [("a", "r", "b"), ("b", "t", "c"), ("c", "t", "a")]
    )
    sequences = [[kg.symbols[s] for s in sequence] for sequence in kg.sequences("b", 2)]
    assert sequences == [["s"], ["s", "r"], ["s", "s"], ["s", "t"]]
    found = kg.paths("c", 2, sequences=[[kg.relation_id("s")] * 2])
    assert [kg.entity_names(path) for path in found.of_sequence(0)] == [
        ["c", "b", "a"],
        ["c", "b", "c"],
    ]
    backward = [
        [kg.symbols[s] for s in sequence] for sequence in kg.sequences("c", 1, inverse=True)
    ]
    assert backward == [["s"], ["t"], ["^s"], ["^t"]]
    tails = itertools.islice(iter(kg.triples()), 2)
    assert list(tails) == [("a", "r", "a")] * 2
    # Refused or cut, never wrapped: the big row has more edges than one call looks at.
    assert kg.sequences("a", 2, inverse=True, beam=3).truncated
    wrong = kg._arrays["out_offsets"].copy()
    wrong[2] = num_edges + 1
    with pytest.raises(DamagedStore):
        KnowledgeGraph({**kg._arrays, "out_offsets": wrong}).has_triple("b", "s", "a")


def test_meta_counts_beyond_the_files_are_refused(tmp_path):
    KnowledgeGraph.from_triples(OLD).save(tmp_path)
    meta = json.loads((tmp_path / "meta.json").read_text("utf-8"))
    meta["arrays"]["out_tails"]["length"] += 2**32
    (tmp_path / "meta.json").write_bytes(
        store._encode({key: meta[key] for key in meta if key != "checksum"})
    )
    with pytest.raises(DamagedStore, match="its header does not agree"):
        KnowledgeGraph.open(tmp_path)
