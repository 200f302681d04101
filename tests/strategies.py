"""Hypothesis strategies shared by the kernel tests."""

import numpy as np
from hypothesis import strategies as st

# Sizes that straddle the vector widths and the tile of 16 lanes.
blocks = st.sampled_from([1, 2, 7, 8, 15, 16, 17, 31, 33, 64])
block_sizes = st.sampled_from([1, 2, 3, 4, 5, 8])
seeds = st.integers(0, 2**32 - 1)


@st.composite
def hypervectors(draw, count):
    """`count` complex64 hypervectors of one random shape, Gaussian entries."""
    d, m = draw(blocks), draw(block_sizes)
    rng = np.random.default_rng(draw(seeds))
    z = rng.normal(size=(count, d, m, m)) + 1j * rng.normal(size=(count, d, m, m))
    return z.astype(np.complex64)


@st.composite
def ragged_paths(draw, num_symbols, max_paths=40, max_length=5):
    """Lists of symbol lists with repeats, shared prefixes and empty sequences."""
    symbol = st.integers(0, num_symbols - 1)
    return draw(st.lists(st.lists(symbol, max_size=max_length), max_size=max_paths))
