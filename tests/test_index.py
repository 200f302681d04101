"""The stored index: equal to score_paths, in the total order, with each back end."""

import re
import sys

import numpy as np
import pytest

import hyperhop as hh
import reference
from hyperhop import ghrr


def codebook(names=12, **options):
    return ghrr.Codebook([f"r{i}" for i in range(names)], **options)


def some_paths(count=300, names=12, seed=0):
    """Lengths 0 to 3; two thirds of the paths occur twice."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, names, (count, 3))
    table[rng.random(count) < 0.3, 2] = -1
    table[rng.random(count) < 0.1, 1:] = -1
    table[0] = -1
    table[count // 3 : 2 * count // 3] = table[: count // 3]
    return hh.Paths.from_padded(table)


def general_queries(cb, count=5):
    """Not unitary, with a zero block."""
    rng = np.random.default_rng(1)
    shape = (count, cb.blocks, cb.block_size, cb.block_size)
    queries = (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)
    queries[:, 3] = 0
    return queries


def expected(scores, k):
    indices = np.array([reference.topk(row, k) for row in scores])
    return indices, np.take_along_axis(scores, indices, 1)


@pytest.mark.parametrize(("d", "m"), [(256, 4), (37, 3), (100, 2)])
def test_scores_are_those_of_score_paths(isa, d, m):
    cb, paths = codebook(blocks=d, block_size=m), some_paths()
    index = ghrr.PathIndex(cb, paths)
    for queries in (general_queries(cb), ghrr.encode_paths(cb, paths.take([0, 7, 250]))):
        scores = index.scores(queries)
        assert scores.shape == (len(queries), len(paths))
        assert np.abs(scores - ghrr.score_paths(cb, queries, paths)).max() < 1e-6
        assert np.array_equal(index.scores(reference.to_planes(queries)), scores)
        assert np.array_equal(index.scores(queries[1]), scores[1])
        assert np.array_equal(index.scores(queries[1:2]), scores[1:2])


def test_a_codebook_whose_blocks_are_not_unitary_is_scored_with_norms(isa):
    rng = np.random.default_rng(2)
    blocks = (rng.normal(size=(12, 40, 3, 3)) + 1j * rng.normal(size=(12, 40, 3, 3))).astype("c8")
    cb, paths = ghrr.Codebook.from_blocks([f"r{i}" for i in range(12)], blocks), some_paths()
    queries = general_queries(cb)
    scores = ghrr.PathIndex(cb, paths).scores(queries)
    assert np.abs(scores - ghrr.score_paths(cb, queries, paths)).max() < 1e-6


@pytest.mark.parametrize("storage", ["float32", "float16"])
def test_search_is_topk_of_the_scores(isa, storage):
    cb, paths = codebook(blocks=64), some_paths()
    index = ghrr.PathIndex(cb, paths, storage=storage)
    queries = ghrr.encode_paths(
        cb, paths.take(np.arange(0, 300, 4))
    )  # more than are scored at once
    scores = index.scores(queries)
    for k in (0, 1, 7, 300, 1000):
        indices, values = index.search(queries, k, threads=2)
        assert (indices.dtype, values.dtype) == (np.int64, np.float32)
        assert indices.shape == (75, min(k, 300))
        by_rule = expected(scores, k)
        assert np.array_equal(indices, by_rule[0])
        assert np.array_equal(values, by_rule[1])
    one = index.search(queries[5], 7)
    assert one[0].shape == one[1].shape == (7,)
    assert np.array_equal(one[0], expected(scores[5:6], 7)[0][0])


def test_a_sequence_is_stored_once_and_float16_takes_half():
    cb, paths = codebook(blocks=20), some_paths()
    index, half = ghrr.PathIndex(cb, paths), ghrr.PathIndex(cb, paths, storage="float16")
    assert len(index) == 300
    assert len(index.distinct) == len({path.tobytes() for path in paths}) < 200
    assert index.nbytes == len(index.distinct) * 2 * 20 * 16 * 4
    assert half.nbytes == index.nbytes // 2
    queries = general_queries(cb)
    assert np.abs(half.scores(queries) - index.scores(queries)).max() < 1e-3
    assert repr(half) == (
        f"PathIndex(300 paths, {len(index.distinct)} distinct, blocks=20, block_size=4, "
        "storage='float16', backend='exact')"
    )


def test_an_empty_list_finds_nothing():
    cb = codebook(blocks=8)
    index = ghrr.PathIndex(cb, hh.Paths.from_lists([]))
    indices, scores = index.search(cb.array[:2], 3)
    assert indices.shape == scores.shape == (2, 0)
    assert ghrr.PathIndex(cb, [[0]]).search(cb.array[:0], 3)[0].shape == (0, 1)


def test_a_nan_surfaces_in_every_score():
    cb = codebook(blocks=40)
    query = cb.array[0].copy()
    query[39, 1, 1] = np.nan
    indices, scores = ghrr.PathIndex(cb, some_paths()).search(query, 3)
    assert indices.tolist() == [0, 1, 2]
    assert np.isnan(scores).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda cb: ghrr.PathIndex(cb, [[99]]), ValueError, "path 0 holds symbol 99"),
        (
            lambda cb: ghrr.PathIndex(cb, [[0]], storage="int8"),
            ValueError,
            "PathIndex: storage must",
        ),
        (
            lambda cb: ghrr.PathIndex(cb, [[0]], backend="annoy"),
            ValueError,
            "backend must be 'exact'",
        ),
        (lambda cb: ghrr.PathIndex(cb, [[0]], backend="faiss:"), ValueError, "backend must be"),
        (
            lambda cb: ghrr.PathIndex(cb, [[0]], "float16", "faiss:Flat"),
            ValueError,
            "storage 'float16' is for backend 'exact'",
        ),
        (lambda cb: ghrr.PathIndex(cb, [[0]]).search(cb.array[0], -1), ValueError, "k must be at"),
        (
            lambda cb: ghrr.PathIndex(cb, [[0]]).search(cb.array[0][:3], 1),
            ValueError,
            r"search: queries must be .* D = 8, m = 4, got shape \(3, 4, 4\)",
        ),
        (
            lambda cb: ghrr.PathIndex(cb, [[0]]).scores(cb.planes.astype(np.float64)),
            TypeError,
            "scores: queries must be complex64 .* got dtype float64",
        ),
    ],
)
def test_bad_arguments_get_one_clear_sentence(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call(codebook(blocks=8))
    assert "\n" not in str(caught.value)


@pytest.mark.needs("torch")
def test_torch_queries_get_torch_answers():
    import torch

    cb, paths = codebook(blocks=8), some_paths()
    index = ghrr.PathIndex(cb, paths)
    for found, wanted in zip(
        index.search(torch.from_numpy(cb.array[:3]), 4), index.search(cb.array[:3], 4), strict=True
    ):
        assert isinstance(found, torch.Tensor)
        assert np.array_equal(found.numpy(), wanted)


# --- faiss ----------------------------------------------------------------------------------------


def test_a_missing_faiss_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    message = """PathIndex: backend 'faiss:Flat' needs the extra "faiss": pip install"""
    with pytest.raises(ImportError, match=re.escape(message)):
        ghrr.PathIndex(codebook(blocks=8), [[0]], backend="faiss:Flat")


@pytest.mark.needs("faiss")
def test_flat_faiss_answers_bit_for_bit_like_the_exact_back_end(isa):
    cb, paths = codebook(blocks=64), some_paths()
    exact = ghrr.PathIndex(cb, paths)
    index = ghrr.PathIndex(cb, paths, backend="faiss:Flat")
    queries = np.concatenate([general_queries(cb), ghrr.encode_paths(cb, paths.take([0, 5, 250]))])
    queries[4, 5, 0, 0] = np.nan
    for k in (0, 1, 7, 300, 1000):
        for found, wanted in zip(index.search(queries, k), exact.search(queries, k), strict=True):
            assert np.array_equal(found, wanted, equal_nan=found.dtype == np.float32)
    assert np.array_equal(index.search(queries[6], 3)[0], exact.search(queries[6], 3)[0])
    assert index.nbytes >= exact.nbytes
    with pytest.raises(ValueError, match="scores: needs backend 'exact', got 'faiss:Flat'"):
        index.scores(queries)


@pytest.mark.needs("faiss")
@pytest.mark.parametrize("factory", ["HNSW16", "PQ16x4", "SQfp16"])
def test_approximate_faiss_gives_exact_scores_and_mostly_the_same_paths(factory):
    cb, paths = codebook(blocks=64), some_paths(600)
    exact = ghrr.PathIndex(cb, paths)
    index = ghrr.PathIndex(cb, paths, backend=f"faiss:{factory}", threads=1)
    queries = ghrr.encode_paths(cb, paths.take(np.arange(0, 600, 40)))
    indices, scores = index.search(queries, 2)
    best, values = exact.search(queries, 2)
    assert np.array_equal(indices[:, 0], best[:, 0])  # a stored path is its own nearest
    assert np.array_equal(scores[:, 0], values[:, 0])
    every = exact.scores(queries)
    reached = indices >= 0
    assert np.array_equal(scores[reached], np.take_along_axis(every, indices, 1)[reached])
    assert (scores[~reached] == -np.inf).all()


@pytest.mark.needs("faiss")
def test_what_faiss_refuses_is_one_clear_sentence():
    cb = codebook(blocks=8)
    with pytest.raises(ValueError, match="PathIndex: faiss has no index 'Flatt' of dimension 256"):
        ghrr.PathIndex(cb, [[0]], backend="faiss:Flatt")
    with pytest.raises(ValueError, match="PathIndex: faiss cannot train 'PQ16' on 1 paths"):
        ghrr.PathIndex(cb, [[0]], backend="faiss:PQ16")


@pytest.mark.needs("faiss")
def test_the_thread_setting_of_faiss_is_put_back():
    import faiss

    cb = codebook(blocks=8)
    faiss.omp_set_num_threads(2)
    index = ghrr.PathIndex(cb, some_paths(), backend="faiss:Flat", threads=1)
    index.search(cb.array[0], 3, threads=1)
    assert faiss.omp_get_max_threads() == 2
