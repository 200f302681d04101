"""Flips bytes of a saved index and reads everything; run by test_help_store.py in its own process.

Exits with 0 if every read either answered or raised DamagedStore.
"""

import signal
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np

from help_corpora import Counting, bridge
from hyperhop.graph import DamagedStore
from hyperhop.help import add, build_index, remove, store
from hyperhop.hypernode import beam_step

_SECONDS = 20  # for all reads of one damaged index; a whole one takes milliseconds


def reads(directory):
    """What is to be tried, each by itself: one damage must not hide what another would do."""
    index, _ = store.load(directory)
    rows = np.arange(index.num_triples).reshape(-1, 1)
    query = np.ones((1, index.triple_embeddings.shape[1]), np.float32)
    yield lambda: list(index.passages)
    yield lambda: index.passages.positions
    yield lambda: index.serialize(range(index.num_triples))
    yield lambda: index.source_weights("root")
    yield lambda: beam_step(index.triple_index, rows, index.triple_embeddings, query[0], 5)
    yield lambda: add(index, ["new"], [[("Norway", "is", "cold")]], Counting())
    yield lambda: remove(index, [index.passages[0].id], Counting())


def main(directory, seed, flips):
    store.save(directory, build_index(*bridge(), Counting(), synonyms=0.5))
    for read in reads(directory):
        read()  # undamaged, each answers
    rng = np.random.default_rng(int(seed))
    paths = sorted(Path(directory).glob("*.*"))
    for flip in range(int(flips)):
        path = paths[flip % len(paths)]
        data = bytearray(path.read_bytes())
        if not data:
            continue
        whole, at, bit = bytes(data), int(rng.integers(len(data))), int(rng.integers(8))
        if flip % 2 and path.suffix == ".npy" and len(data) > 128:
            at = int(rng.integers(128, len(data)))  # behind the header
        data[at] ^= 1 << bit
        path.write_bytes(data)
        print(flip, path.name, at, bit, flush=True)
        signal.alarm(_SECONDS)
        with suppress(DamagedStore):
            for read in reads(directory):
                with suppress(DamagedStore):
                    read()
        signal.alarm(0)
        path.write_bytes(whole)


if __name__ == "__main__":
    main(*sys.argv[1:])
