"""Flips bytes of a saved graph and reads everything; run by test_damage.py in a process of its own.

Exits with 0 if every read either answered or raised DamagedStore, in bounded time and memory.
"""

import os
import resource
import signal
import sys
from pathlib import Path

import numpy as np

from hyperhop import KnowledgeGraph, flow
from hyperhop.cli.info import contents
from hyperhop.graph import DamagedStore, EntityLinker, UnknownName, UnknownTriple

_SECONDS = 20  # for all reads of one damaged graph; a whole one takes hundredths
_BYTES = 1 << 30

_TOPICS = (0, 7, 119)
_MORE = [("e5", "r1", "new"), ("another", "r99", "e5"), ("e1", "r0", "e2")]


def some_graph():
    """A graph with a history: new names at the end, retired ones, parallel relations, a hub."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, [100, 5, 100], (600, 3)).tolist()
    facts = [(f"e{h}", f"r{r}", f"e{t}") for h, r, t in rows]
    facts += [("hub", "r1", f"e{t}") for t in range(100)]
    late = [(f"a late name {i}", "late relation", f"e{i}") for i in range(20)]
    kg = KnowledgeGraph.from_triples([*facts, ("gone", "gone relation", "e1")])
    return kg.merge(late).without([("gone", "gone relation", "e1"), late[0]])


def paths(kg, topic, simple):
    found = kg.paths(topic, 2, cap=500, inverse=True, simple=simple)
    for sequence in range(len(found.sequences)):
        for walk in found.of_sequence(sequence).tolist():
            kg.entity_names(walk)
        kg.entity_names(found.ends_of(sequence).tolist())


def changed(kg):
    for result in (kg.merge(_MORE), KnowledgeGraph.from_triples(_MORE).merge(kg)):
        list(result.triples())
        result.entity_names(result.entity_ids)


def flow_through(kg):
    pi = flow.SparseFlow.start(np.arange(kg.num_entity_ids), kg.num_entity_ids)
    edges = flow.FactGraph(kg)
    for _ in range(2):
        pi = flow.hop_sparse(edges, pi, np.ones(edges.num_relations))


WHOLE = some_graph()

# Every public way to read a graph.
READS = [
    lambda kg: list(kg.triples()),
    lambda kg: kg.symbols,
    lambda kg: kg.entity_names(range(kg.num_entity_ids)),
    lambda kg: kg.entity_names(kg.entity_ids),
    lambda kg: [kg.relation_name(r) for r in kg.relation_ids],
    lambda kg: [kg.entity_id(f"e{i}") for i in range(100)],
    lambda kg: kg.entity_id("e 5"),
    lambda kg: kg.entity_id("gone"),
    lambda kg: kg.relation_id("late relations"),
    lambda kg: [kg.has_triple(h, r, f"e{h}") for h in range(0, 120, 3) for r in range(3)],
    *(lambda kg, topic=topic: kg.sequences(topic, 3, inverse=True) for topic in _TOPICS),
    *(lambda kg, topic=topic: kg.sequences(topic, 3, beam=9, inverse=True) for topic in _TOPICS),
    *(lambda kg, topic=topic: paths(kg, topic, False) for topic in _TOPICS),
    lambda kg: paths(kg, 7, True),
    lambda kg: [kg.leaving(topic) for topic in _TOPICS],
    lambda kg: [kg.schema.followers(symbol) for symbol in range(2 * kg.num_relation_ids)],
    lambda kg: kg.schema.sequences(max_hops=3, beam=5, inverse=True),
    lambda kg: kg.statistics(),
    lambda kg: [kg.neighbors(e, side) for e in _TOPICS for side in ("out", "in")],
    lambda kg: kg.degrees(),
    lambda kg: kg.subgraph(7, 2),
    lambda kg: kg.subgraph(_TOPICS, 2, "out", induced=False, max_degree=9),
    lambda kg: kg.sequences("hub", 2, inverse=True, max_degree=20),
    lambda kg: kg.paths("hub", 2, inverse=True, max_degree=20, mediators=kg.entity_ids[:9]),
    lambda kg: EntityLinker(kg).link("Is E5 like a late name 3, or is e77?"),
    changed,
    lambda kg: kg.without([("e5", "r1", "e1"), ("hub", "r1", "e9")], missing_ok=True),
    lambda kg: kg.without(kg),
    lambda kg: kg == WHOLE,
    flow_through,
]


def read_everything(directory):
    try:
        kg = KnowledgeGraph.open(directory)
    except DamagedStore:
        return
    reads = [
        *READS,
        lambda kg: contents(Path(directory), kg, False, 5),
        lambda kg: kg.export(f"{directory}.jsonl"),
    ]
    for read in reads:
        try:
            read(kg)
        except (DamagedStore, UnknownName, UnknownTriple):
            continue


def main(directory, seed, flips):
    _ = WHOLE.schema  # is saved too
    WHOLE.save(directory)
    read_everything(directory)
    if "asan" not in os.environ.get("LD_PRELOAD", ""):  # which reserves terabytes
        in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (in_use + _BYTES, in_use + _BYTES))
    files = sorted(Path(directory).glob("*.npy"))
    rng = np.random.default_rng(seed)
    for i in range(flips):
        path = files[i % len(files)]
        data = path.read_bytes()
        damaged = bytearray(data)
        start = 128 if len(data) > 128 else 0
        at = int(rng.integers(start, len(data)))
        damaged[at] ^= int(rng.integers(1, 256))
        print(path.name, at, damaged[at], flush=True)
        path.write_bytes(damaged)
        signal.alarm(_SECONDS)  # ends the process
        read_everything(directory)
        signal.alarm(0)
        try:
            KnowledgeGraph.open(directory, verify=True)
        except DamagedStore:
            path.write_bytes(data)
            continue
        raise SystemExit("verify did not find the flipped byte")
    KnowledgeGraph.open(directory, verify=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
