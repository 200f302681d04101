"""Top-k as a total order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import hyperhop as hh
import reference

values = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]), st.floats(-10, 10, width=32)
)


@given(
    hnp.arrays(st.sampled_from([np.float32, np.float64]), st.integers(0, 300), elements=values),
    st.integers(0, 310),
    st.booleans(),
)
def test_matches_the_reference_order(scores, k, largest):
    indices, best = hh.topk(scores, k, largest)
    assert np.array_equal(indices, reference.topk(scores, k, largest))
    assert np.array_equal(best, scores[indices], equal_nan=True)
    assert best.dtype == scores.dtype


KINDS = ["random", "ascending", "stairs", "nearly", "descending", "ties", "constant", "nans"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 3, 100, 5000])
def test_large_inputs_on_every_isa(isa, kind, k):
    rng = np.random.default_rng(0)
    n = 20_000
    scores = {
        "random": rng.normal(size=n),
        "ascending": np.arange(n),
        "stairs": np.arange(n) // 300,
        "nearly": np.arange(n) + 500 * rng.normal(size=n),
        "descending": -np.arange(n),
        "ties": rng.integers(0, 20, n),
        "constant": np.ones(n),
        "nans": np.where(rng.random(n) < 0.99, np.nan, rng.normal(size=n)),
    }[kind].astype(np.float32)
    best = reference.topk(scores, k)
    assert np.array_equal(hh.topk(scores, k)[0], best)
    assert np.array_equal(hh.topk(-scores.astype(np.float64), k, largest=False)[0], best)


def test_is_a_prefix_of_the_next_k():
    # pytorch/pytorch#27542: [3, 2, 3, 2, 1, 1], k = 2.
    scores = np.array([3, 2, 3, 2, 1, 1], np.float32)
    whole = hh.topk(scores, 6)[0]
    assert whole.tolist() == [0, 2, 1, 3, 4, 5]
    for k in range(7):
        assert np.array_equal(hh.topk(scores, k)[0], whole[:k])


def test_leading_axes_threads_and_half_precision():
    scores = np.random.default_rng(1).normal(size=(3, 4, 50)).astype(np.float16)
    indices, best = hh.topk(scores, 5, threads=2)
    assert indices.shape == best.shape == (3, 4, 5)
    assert best.dtype == np.float32
    for i, j in np.ndindex(3, 4):
        assert np.array_equal(indices[i, j], reference.topk(scores[i, j].astype(np.float32), 5))
    assert hh.topk(scores[:0], 5)[0].shape == (0, 4, 5)


@pytest.mark.parametrize(
    ("scores", "k", "error", "message"),
    [
        (np.zeros(3, np.int64), 1, TypeError, "float32 or float64, got dtype int64"),
        (np.zeros(3), -1, ValueError, "k must be at least 0, got -1"),
        (np.float32(1), 1, ValueError, "at least one axis"),
    ],
)
def test_bad_arguments(scores, k, error, message):
    with pytest.raises(error, match=message):
        hh.topk(scores, k)
