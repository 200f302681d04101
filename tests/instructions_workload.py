"""What tests/instructions.py counts: each kernel once, at d = 4096, one thread.

`os.getppid` marks the borders: callgrind writes a dump whenever libc's function is entered.
"""

import os
import random

import numpy as np

import hyperhop as hh
from hyperhop import ghrr

cb = ghrr.Codebook([f"r{i}" for i in range(41)], threads=1)
table = np.array(random.Random(0).choices(range(41), k=3 * 1500)).reshape(1500, 3)
ragged = table.copy()
ragged[::3, 2] = -1
ragged[::7, 1:] = -1
paths = hh.Paths.from_padded(ragged)
complete = hh.Paths.from_padded(np.indices((41, 41)).reshape(2, -1).T)
query = ghrr.encode_paths(cb, table[:1], threads=1)[0]
scores = (np.arange(100_003) * 7919 % 100_003).astype(np.float32)  # a prime: no two alike

os.getppid()
ghrr.encode_paths(cb, table[:64], threads=1)
os.getppid()
ghrr.score_paths(cb, query, paths, threads=1)
os.getppid()
ghrr.score_paths(cb, query, complete, threads=1)
os.getppid()
hh.topk(scores, 10, threads=1)
os.getppid()
