"""Links between entities whose names mean nearly the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperhop.help import build_index, synonyms
from hyperhop.help.synonyms import joined_pairs, near_pairs, no_pairs, of_same_numbers


def unit_rows(count, dim=4, seed=0, dtype=np.float32):
    rows = np.random.default_rng(seed).normal(size=(count, dim))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@given(st.integers(0, 60), st.integers(0, 99), st.floats(0.05, 1))
def test_all_pairs_in_small_blocks(dtype, count, seed, threshold):
    rows = unit_rows(count, seed=seed, dtype=dtype)
    wide = rows.astype(np.float64)
    expected = [
        (i, j)
        for i in range(count)
        for j in range(i + 1, count)
        if (wide[i] * wide[j]).sum() >= threshold
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(synonyms, "_ROWS", 7)
        patch.setattr(synonyms, "_CELLS", 7 * 5)
        pairs, products = near_pairs(rows, threshold)
        new = np.arange(0, count, 3)
        some, some_products = near_pairs(rows, threshold, new)
    assert list(map(tuple, pairs.tolist())) == expected
    assert np.allclose(products, [wide[i] @ wide[j] for i, j in expected])
    touching = np.isin(pairs, new).any(axis=1)
    assert np.array_equal(some, pairs[touching])
    assert np.array_equal(some_products, products[touching])
    joined = joined_pairs((some, some_products), (pairs[~touching], products[~touching]))
    assert np.array_equal(joined[0], pairs)
    assert np.array_equal(joined[1], products)


def test_equal_rows_are_near_at_one_and_zero_and_nan_never():
    rows = np.float32([[1, 0], [1, 0], [0, 0], [0, 0], [np.nan, np.nan], [np.nan, np.nan]])
    pairs, products = near_pairs(rows, 1.0)
    assert pairs.tolist() == [[0, 1]]
    assert products.tolist() == [1]
    assert near_pairs(rows[:0], 0.5)[0].shape == no_pairs()[0].shape == (0, 2)


def test_numbers_must_be_the_same():
    names = ["in 1887", "1887", "1888", "5 km", "50 km", "km", "Kilometre", "١٨٨٧"]
    pairs = np.array([[0, 1], [1, 2], [3, 4], [3, 5], [5, 6], [1, 7]])
    kept, products = of_same_numbers(names, (pairs, np.ones(6, np.float32)))
    assert kept.tolist() == [[0, 1], [5, 6]]
    assert len(products) == 2


def test_the_threshold_decides_and_links_are_ids_of_entities():
    listed = [[("Yoon So-hee", "is", "an actress"), ("Yoon So - hee", "born in", "1993")]]
    index = build_index([""], listed, synonyms=0.99)
    (pair,) = index.links.tolist()
    assert [index.entities[entity] for entity in pair] == ["Yoon So - hee", "Yoon So-hee"]
    assert index.similarities[0] == pytest.approx(1, abs=1e-6)
    listed[0].append(("Yoon", "is", "a name"))
    assert len(build_index([""], listed, synonyms=0.3).links) == 3
