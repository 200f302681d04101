"""Relation paths encoded and scored, on every instruction set."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyperhop as hh
import reference
from hyperhop import _core, ghrr
from strategies import block_sizes, blocks, ragged_paths, seeds


def codebook(names=6, **options):
    return ghrr.Codebook([f"r{i}" for i in range(names)], **options)


@given(st.data(), blocks, block_sizes, seeds)
def test_encode_and_score_match_the_reference(data, d, m, seed):
    cb = codebook(4, blocks=d, block_size=m, seed=seed)
    sequences = data.draw(ragged_paths(4))
    paths = hh.Paths.from_lists(sequences)
    encoded = ghrr.encode_paths(cb, paths)
    assert encoded.shape == (len(sequences), d, m, m)
    for vector, sequence in zip(encoded, sequences, strict=True):
        assert np.abs(vector - reference.encode(cb.array, sequence)).max() < 1e-5
    planes = ghrr.encode_paths(cb, paths, planes=True)
    assert np.array_equal(reference.from_planes(planes), encoded)

    rng = np.random.default_rng(seed)
    query = (rng.normal(size=(d, m, m)) + 1j * rng.normal(size=(d, m, m))).astype(np.complex64)
    query[0] = 0
    scores = ghrr.score_paths(cb, query, paths)
    assert scores.dtype == np.float32
    assert np.abs(scores - ghrr.similarity(query, encoded)).max(initial=0) < 1e-5
    exact = [reference.similarity(query, reference.encode(cb.array, s)) for s in sequences]
    assert np.abs(scores - np.array(exact)).max(initial=0) < 1e-6 * (1 + m)
    assert np.array_equal(ghrr.score_paths(cb, reference.to_planes(query), paths), scores)


@pytest.mark.parametrize("m", range(1, 17))
def test_score_on_every_isa_and_block_size(isa, m):
    cb = codebook(5, blocks=35, block_size=m)
    rng = np.random.default_rng(m)
    table = rng.integers(0, 5, (200, 3))
    query = ghrr.encode_paths(cb, table[:1])[0]
    scores = ghrr.score_paths(cb, query, table)
    exact = ghrr.similarity(query, ghrr.encode_paths(cb, table))
    assert np.abs(scores - exact).max() < 1e-5
    assert scores[0] == pytest.approx(1, abs=1e-5)


def test_scores_have_the_same_bits_for_any_order_batch_and_threads(isa):
    rng = np.random.default_rng(0)
    cb = codebook(30, blocks=100)
    table = rng.integers(0, 30, (3000, 4))
    table[rng.random(3000) < 0.3, 3] = -1
    table[rng.random(3000) < 0.1, 2:] = -1
    queries = ghrr.encode_paths(cb, table[:5])
    together = ghrr.score_paths(cb, queries, table, threads=1)
    assert np.array_equal(together, ghrr.score_paths(cb, queries, table, threads=2))
    for query, row in zip(queries, together, strict=True):
        assert np.array_equal(ghrr.score_paths(cb, query, table), row)
    order = rng.permutation(3000)
    assert np.array_equal(ghrr.score_paths(cb, queries, table[order]), together[:, order])
    for i in (0, 17, 2999):
        assert ghrr.score_paths(cb, queries[1], table[i : i + 1])[0] == together[1, i]
    encoded = ghrr.encode_paths(cb, table, threads=1)
    assert np.array_equal(encoded, ghrr.encode_paths(cb, table, threads=2))
    assert np.array_equal(encoded[order], ghrr.encode_paths(cb, table[order]))
    assert np.array_equal(
        ghrr.similarity(queries[:, None], encoded[None], threads=1),
        ghrr.pairwise(queries, encoded, threads=2),
    )


@pytest.mark.parametrize("m", [1, 3, 4])
@pytest.mark.parametrize("fill", ["sparse", "three quarters", "complete", "one row"])
def test_algorithms_agree_bit_for_bit(isa, m, fill):
    cb = codebook(37, blocks=40, block_size=m)
    rng = np.random.default_rng(m)
    complete = np.stack(np.unravel_index(np.arange(37**2), (37, 37)), axis=1)
    table = {
        "sparse": rng.integers(0, 37, (500, 3)),
        "three quarters": complete[rng.random(len(complete)) < 0.75],
        "complete": np.column_stack(
            [np.full(len(complete), 5), complete]
        ),  # 37 rows, an odd number
        "one row": complete[:35],
    }[fill]
    table = rng.permutation(table)
    query = rng.normal(size=(2, m, m, 2, 40)).astype(np.float32)
    walk = ghrr.score_paths(cb, query, table, algorithm="walk")
    for algorithm in ("dense", "auto"):
        assert np.array_equal(ghrr.score_paths(cb, query, table, algorithm=algorithm), walk)
    best = ghrr.top_paths(cb, query, table, 7, algorithm="dense")
    assert np.array_equal(best[0], ghrr.top_paths(cb, query, table, 7, algorithm="walk")[0])
    with pytest.raises(ValueError, match="algorithm must be 'auto', 'walk' or 'dense', got 'gemm'"):
        ghrr.score_paths(cb, query, table, algorithm="gemm")


def test_lists_longer_than_one_stretch_and_large_outputs(isa):
    rng = np.random.default_rng(1)
    cb = codebook(40, blocks=1 << 16, block_size=1)  # 1,536 paths are scored at a time
    table = rng.integers(0, 40, (4000, 3))
    queries = ghrr.encode_paths(cb, table[-2:])
    scores = ghrr.score_paths(cb, queries, table)
    sample = rng.integers(0, 4000, 50)
    assert np.array_equal(scores[:, sample], ghrr.score_paths(cb, queries, table[sample]))
    assert scores[[0, 1], [-2, -1]] == pytest.approx(1, abs=1e-5)
    big = codebook(6, blocks=64)  # more than 8 MiB of output: written past the caches
    table = rng.integers(0, 6, (1200, 3))
    for planes in (False, True):
        encoded = ghrr.encode_paths(big, table, planes=planes)
        assert np.array_equal(encoded[:40], ghrr.encode_paths(big, table[:40], planes=planes))
        assert np.array_equal(encoded[-40:], ghrr.encode_paths(big, table[-40:], planes=planes))


def test_keys_too_wide_for_one_word_are_sorted_all_the_same():
    cb = codebook(2000, blocks=2, block_size=1)
    rng = np.random.default_rng(4)
    table = rng.integers(0, 2000, (300, 6))  # 6 x 11 bits
    table[150:, :4] = table[0, :4]
    query = ghrr.encode_paths(cb, table[:1])[0]
    order = np.lexsort(table.T[::-1])
    scores = ghrr.score_paths(cb, query, table)
    assert np.array_equal(ghrr.score_paths(cb, query, table[order]), scores[order])
    exact = ghrr.similarity(query, ghrr.encode_paths(cb, table))
    assert np.abs(scores - exact).max() < 1e-5


def test_long_paths_use_the_comparison_sort():
    cb = codebook(3, blocks=4, block_size=2)
    rng = np.random.default_rng(2)
    sequences = [list(rng.integers(0, 3, n)) for n in (40, 0, 33, 40, 1, 200)]
    sequences.append([*sequences[0][:39], (sequences[0][39] + 1) % 3])
    encoded = ghrr.encode_paths(cb, hh.Paths.from_lists(sequences))
    for vector, sequence in zip(encoded, sequences, strict=True):
        assert np.abs(vector - reference.encode(cb.array, sequence)).max() < 1e-4


@given(st.data(), blocks, block_sizes, seeds)
def test_a_bundle_is_scored_as_if_it_were_made_first(data, d, m, seed):
    cb = codebook(4, blocks=d, block_size=m, seed=seed, lazy=data.draw(st.booleans()))
    paths = hh.Paths.from_lists(data.draw(ragged_paths(4).filter(len)))
    chosen = data.draw(st.lists(st.integers(0, len(paths) - 1), min_size=1, max_size=5))
    weights = np.arange(len(chosen), 0, -1, dtype=np.float64) / 3
    query = ghrr.bundle(ghrr.encode_paths(cb, paths.take(chosen), planes=True), weights)
    expected = ghrr.score_paths(cb, query, paths)
    found = ghrr.score_bundle(cb, paths, chosen, weights)
    assert found.dtype == np.float64
    assert np.array_equal(found, expected)


def test_a_bundle_of_blocks_that_are_not_unitary():
    rng = np.random.default_rng(0)
    cb = ghrr.Codebook.from_blocks("abc", rng.normal(size=(3, 4, 4, 2, 20)).astype(np.float32))
    paths = hh.Paths.from_lists([[0], [1, 2], [2, 1]])
    query = ghrr.bundle(ghrr.encode_paths(cb, paths.take([1, 0]), planes=True), [2, 1])
    expected = ghrr.score_paths(cb, query, paths)
    assert np.array_equal(ghrr.score_bundle(cb, paths, [1, 0], [2, 1]), expected)


@pytest.mark.parametrize(
    ("chosen", "weights", "message"),
    [
        ([2], [1.0], "plan 2 of 2 paths"),
        ([-1], [1.0], "plan -1 of 2 paths"),
        ([], [], "at least one plan"),
        ([0, 1], [1.0], "a weight for each"),
    ],
)
def test_a_bundle_of_what_is_not_there(chosen, weights, message):
    with pytest.raises(ValueError, match=message):
        ghrr.score_bundle(codebook(), np.array([[0], [1]]), chosen, weights)


def test_top_paths_is_topk_of_the_scores():
    rng = np.random.default_rng(3)
    cb = codebook(4, blocks=32)
    table = rng.integers(0, 4, (1000, 3))  # 64 sequences: ties are the normal case
    queries = ghrr.encode_paths(cb, table[:3])
    scores = ghrr.score_paths(cb, queries, table)
    for k in (0, 1, 2, 50, 1000, 5000):
        indices, values = ghrr.top_paths(cb, queries, table, k)
        assert indices.shape == values.shape == (3, min(k, 1000))
        for q in range(3):
            assert np.array_equal(indices[q], reference.topk(scores[q], k))
            assert np.array_equal(values[q], scores[q][indices[q]])
    one = ghrr.top_paths(cb, queries[0], table, 3)[0]
    assert np.array_equal(one, reference.topk(scores[0], 3))


@pytest.mark.parametrize("m", [1, 2, 3, 4, 8, 11])
def test_blocks_that_are_not_unitary_are_scored_with_their_norms(isa, m):
    rng = np.random.default_rng(m)
    given = rng.normal(size=(6, 35, m, m)) + 1j * rng.normal(size=(6, 35, m, m))
    given *= 10.0 ** rng.integers(-9, 9, (6, 35, 1, 1))  # products of these leave float32's range
    given[2, 7] = 0
    cb = ghrr.Codebook.from_blocks("abcdef", given.astype(np.complex64))
    assert not cb.unitary
    assert np.array_equal(cb.array, given.astype(np.complex64))
    lists = [[], [2], [0, 1], [5, 2, 3], [0, 1, 2], [4, 4, 4], [0, 1, 3], [0, 1]]
    paths = hh.Paths.from_lists(lists)
    queries = rng.normal(size=(2, 35, m, m)) + 1j * rng.normal(size=(2, 35, m, m))
    queries[1, 3] = 0
    queries = queries.astype(np.complex64)
    scores = ghrr.score_paths(cb, queries, paths, threads=2)
    for query, row in zip(queries, scores, strict=True):
        exact = [reference.similarity(query, reference.encode(cb.array, s)) for s in lists]
        assert np.abs(row - exact).max() < 1e-5
        assert np.array_equal(ghrr.score_paths(cb, query, paths, algorithm="walk"), row)
    assert ghrr.score_paths(cb, queries[0], paths.take([4]))[0] == scores[0, 4]
    queries[0, 7] = np.nan
    assert np.isnan(ghrr.score_paths(cb, queries[0], [[2]])).all()  # where the path's block is zero
    with pytest.raises(ValueError, match="'dense' needs a codebook of unitary blocks"):
        ghrr.score_paths(cb, queries, paths, algorithm="dense")
    copy = pickle.loads(pickle.dumps(cb))
    assert not copy.unitary
    assert np.array_equal(copy.planes, cb.planes)


def test_given_blocks_that_are_unitary_score_like_the_codebook_they_came_from():
    cb = codebook(5, blocks=20, block_size=3)
    table = np.random.default_rng(0).integers(0, 5, (50, 3))
    for blocks_given in (cb.array, cb.planes):
        same = ghrr.Codebook.from_blocks(cb.names, blocks_given)
        assert same.unitary
        assert np.array_equal(same.planes, cb.planes)
        scores = ghrr.score_paths(same, cb.array[0], table)
        assert np.array_equal(scores, ghrr.score_paths(cb, cb.array[0], table))
    with pytest.raises(ValueError, match="one hypervector for each of the 2 names"):
        ghrr.Codebook.from_blocks("ab", cb.array)
    with pytest.raises(TypeError, match=r"complex64 .* got dtype complex128"):
        ghrr.Codebook.from_blocks(cb.names, cb.array.astype(np.complex128))
    with pytest.raises(ValueError, match=r"complex64 must have shape \(..., D, m, m\)"):
        ghrr.Codebook.from_blocks(cb.names, cb.array[..., :2])


def test_a_nan_in_the_query_surfaces():
    cb = codebook(2, blocks=40)
    query = cb.array[0].copy()
    query[39, 1, 1] = np.nan
    assert np.isnan(ghrr.score_paths(cb, query, [[0], [1]])).all()


@pytest.mark.parametrize(
    ("keep", "algorithm", "dense", "walked"),
    [
        (1.0, "auto", 37, 0),
        (0.75, "auto", 37, 0),
        (0.25, "auto", 0, 37),
        (1.0, "walk", 0, 37),
        (0.25, "dense", 37, 0),
    ],
)
def test_tables_are_dense_where_at_least_half_is_asked_for(keep, algorithm, dense, walked):
    complete = np.stack(np.unravel_index(np.arange(37**2), (37, 37)), axis=1)
    kept = complete[np.random.default_rng(0).random(len(complete)) < keep]
    paths = hh.Paths.from_padded(kept)
    assert _core.path_groups(paths.symbols, paths.offsets, 37, algorithm) == (dense, walked)
