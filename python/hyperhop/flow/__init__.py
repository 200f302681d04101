"""Soft flow over a graph: the hop of RSF-GLLM and its parts, forward and backward.

Arrays are float32 or float64 and come in three shapes:

    single   pi (V,), beta (R,), rho (V,), gate a scalar      one flow over one graph
    packed   pi (V,), beta (G, R), rho (V,), gate (G,)        G graphs side by side in one
                                                              FlowGraph; `segments` (G + 1,) are
                                                              their node offsets
    lanes    pi (V, B), beta (R, B), rho (V, B), gate (B,)    B flows over one shared graph

Where inputs differ in dtype all become the widest, float16 counting as float32, and that dtype is
returned. All functions take NumPy arrays or CPU torch tensors on any strides and return the same
kind. Results have the same bits for any thread count and batch: a packed graph or a lane equals the
same flow alone, bit for bit. `threads=None` is the default count (HYPERHOP_NUM_THREADS, else the
processors this process may use) and `out=` receives an array result.
"""

from hyperhop.flow.backtrack import TracedPaths, backtrack
from hyperhop.flow.content import content_score, content_score_backward
from hyperhop.flow.entropy import entropy, entropy_backward
from hyperhop.flow.graph import FlowGraph
from hyperhop.flow.hop import FlowGradients, hop, hop_backward
from hyperhop.flow.read import read, read_backward
from hyperhop.flow.sparse import (
    FactGraph,
    SparseFlow,
    aggregate_sparse,
    hop_sparse,
    propagate_sparse,
)
from hyperhop.flow.structure import propagate, propagate_backward

__all__ = [
    "FactGraph",
    "FlowGradients",
    "FlowGraph",
    "SparseFlow",
    "TracedPaths",
    "aggregate_sparse",
    "backtrack",
    "content_score",
    "content_score_backward",
    "entropy",
    "entropy_backward",
    "hop",
    "hop_backward",
    "hop_sparse",
    "propagate",
    "propagate_backward",
    "propagate_sparse",
    "read",
    "read_backward",
]
