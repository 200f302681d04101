"""What tests/instructions.py counts: each kernel once, at d = 4096, one thread.

`os.getppid` marks the borders: callgrind writes a dump whenever libc's function is entered.
"""

import os

import numpy as np

import hyperhop as hh
from hyperhop import ghrr


def scattered(count: int, modulus: int) -> np.ndarray:
    """`count` integers below a prime, without a generator to import."""
    return (np.arange(1, count + 1) ** 2 * 7919 + np.arange(count) * 104729) % modulus


cb = ghrr.Codebook([f"r{i}" for i in range(41)], threads=1)
table = scattered(3 * 200, 41).reshape(200, 3)
ragged = table.copy()
ragged[::3, 2] = -1
ragged[::7, 1:] = -1
paths = hh.Paths.from_padded(ragged)
complete = hh.Paths.from_padded(np.indices((24, 24)).reshape(2, -1).T)
query = ghrr.encode_paths(cb, table[:1], threads=1)[0]
scores = scattered(100_003, 100_003).astype(np.float32)

os.getppid()
ghrr.encode_paths(cb, table[:64], threads=1)
os.getppid()
ghrr.score_paths(cb, query, paths, threads=1)
os.getppid()
ghrr.score_paths(cb, query, complete, threads=1)
os.getppid()
hh.topk(scores, 10, threads=1)
os.getppid()
