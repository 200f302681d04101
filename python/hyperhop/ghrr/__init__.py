"""Generalized holographic reduced representations: kernels on hypervectors of m x m blocks.

A hypervector is D complex m x m blocks, d = D m^2 complex numbers. Arrays come in two layouts, told
apart by dtype:

    complex64  (..., D, m, m)      as NumPy and torch write them
    float32    (..., m, m, 2, D)   "planes": lanes = blocks, what the kernels work on
    float16    (..., m, m, 2, D)   planes stored at half the size

float16 is a storage: `similarity`, `pairwise` and the functions that take a codebook read it as it
is, every other function first widens it, and all of them compute in float32 and return float32 or
complex64. A result has the bits that the widened planes would give.

All functions take NumPy arrays or CPU torch tensors and return the same kind, on any strides.
Results have the same bits for any thread count, batch and order of candidates; `threads=None` is
the default count (HYPERHOP_NUM_THREADS, else the processors this process may use) and `out=`
receives an array result. complex128 and float64 are refused by name.
"""

from hyperhop.ghrr.algebra import bind, bundle, normalize, unbind_left, unbind_right, unitarize
from hyperhop.ghrr.codebook import Codebook, Family
from hyperhop.ghrr.compare import pairwise, similarity
from hyperhop.ghrr.index import PathIndex
from hyperhop.ghrr.projection import TextProjection
from hyperhop.ghrr.relation_paths import encode_paths, score_bundle, score_paths, top_paths

__all__ = [
    "Codebook",
    "Family",
    "PathIndex",
    "TextProjection",
    "bind",
    "bundle",
    "encode_paths",
    "normalize",
    "pairwise",
    "score_bundle",
    "score_paths",
    "similarity",
    "top_paths",
    "unbind_left",
    "unbind_right",
    "unitarize",
]
