"""Random flows over node features, in the three shapes that hyperhop.flow takes."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

KINDS = ("single", "packed", "lanes")
# Around the vector widths of every instruction set, and the groups that rows are taken in.
DIMS = (0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 67)
# Around those, and the blocks of 1,024 nodes.
SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 100, 1023, 1024, 1025, 2050)


@dataclass
class Flows:
    """`pi` and `features` with the rows of each flow: `rows(rng)` draws more like a query."""

    kind: str
    dtype: type
    pi: np.ndarray
    features: np.ndarray
    segments: np.ndarray | None

    @property
    def count(self):
        if self.kind == "packed":
            return len(self.segments) - 1
        return self.pi.shape[1] if self.kind == "lanes" else 1

    def rows(self, rng):
        """One row of the features' length for each flow."""
        shape = (self.count, self.features.shape[1])
        rows = rng.normal(size=shape).astype(self.dtype)
        return rows[0] if self.kind == "single" else rows

    def alone(self):
        """(index of its row, its nodes, its pi) of every flow."""
        if self.kind == "single":
            return [(..., slice(None), self.pi)]
        if self.kind == "lanes":
            return [(b, slice(None), self.pi[:, b]) for b in range(self.count)]
        pieces = [slice(a, b) for a, b in zip(self.segments, self.segments[1:], strict=False)]
        return [(g, nodes, self.pi[nodes]) for g, nodes in enumerate(pieces)]

    def of_nodes(self, index, nodes, values):
        """One flow's part of an array in the shape of pi."""
        return values[:, index] if self.kind == "lanes" else values[nodes]


def make(kind, dtype, sizes, dim, seed=0):
    """Flows over `sizes`: of the graphs if packed, else the first is V and the number that of B."""
    rng = np.random.default_rng(seed)
    nodes = sum(sizes) if kind == "packed" else sizes[0]
    shape = (nodes, len(sizes)) if kind == "lanes" else (nodes,)
    pi = rng.dirichlet(np.ones(nodes), len(sizes)).T if kind == "lanes" else rng.random(shape)
    pi = np.where(rng.random(shape) < 0.2, 0, pi.reshape(shape)).astype(dtype)
    features = rng.normal(size=(nodes, dim)).astype(dtype)
    segments = np.concatenate([[0], np.cumsum(sizes)]) if kind == "packed" else None
    return Flows(kind, dtype, pi, features, segments)


@st.composite
def flows(draw):
    kind = draw(st.sampled_from(KINDS))
    sizes = draw(st.lists(st.sampled_from(SIZES), min_size=1, max_size=7))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    return make(kind, dtype, sizes, draw(st.sampled_from(DIMS)), draw(st.integers(0, 2**32 - 1)))


def tolerance(dtype):
    return {"rtol": 2e-4, "atol": 2e-4} if dtype == np.float32 else {"rtol": 1e-11, "atol": 1e-11}


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def numeric(function, x, step=1e-6):
    """Central differences of a scalar function at float64 x."""
    gradient = np.empty_like(x)
    for at in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[at] += step
        down[at] -= step
        gradient[at] = (function(up) - function(down)) / (2 * step)
    return gradient
