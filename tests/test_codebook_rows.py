"""Codebooks whose rows are made when they are needed."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from hyperhop import Paths, ghrr
from hyperhop.ghrr.rows import RowsOnDemand

NAMES = [f"relation {i}" for i in range(200)]
PATHS = Paths.from_lists([[3], [150, 3], [7, 199, 0], []])


def pair(**options):
    return (
        ghrr.Codebook(NAMES, 32, 3, **options),
        ghrr.Codebook(NAMES, 32, 3, lazy=True, **options),
    )


@pytest.mark.parametrize("storage", ["float32", "float16"])
@pytest.mark.parametrize("family", ["haar", "householder", "diagonal"])
def test_lazy_rows_are_the_same_bits(storage, family):
    eager, lazy = pair(storage=storage, family=family, seed=5)
    assert lazy.lazy
    assert not eager.lazy
    query = ghrr.encode_paths(eager, PATHS)[1]
    for _ in range(2):  # made, then kept
        for planes in (False, True):
            np.testing.assert_array_equal(
                ghrr.encode_paths(lazy, PATHS, planes=planes),
                ghrr.encode_paths(eager, PATHS, planes=planes),
            )
    np.testing.assert_array_equal(
        ghrr.score_paths(lazy, query, PATHS), ghrr.score_paths(eager, query, PATHS)
    )
    for one, other in zip(
        ghrr.top_paths(lazy, query, PATHS, 2), ghrr.top_paths(eager, query, PATHS, 2), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    symbols = np.array([9, 199, 9])
    np.testing.assert_array_equal(lazy.rows(symbols), eager.planes[symbols])
    np.testing.assert_array_equal(eager.rows(symbols), eager.planes[symbols])
    np.testing.assert_array_equal(lazy.planes, eager.planes)
    np.testing.assert_array_equal(lazy.array, eager.array)


def test_only_what_is_needed_is_made():
    many = ghrr.Codebook((f"r{i}" for i in range(50_000)), lazy=True)  # 1.6 GB if all were made
    few = ghrr.Codebook(["r0", "r49999"])
    paths = Paths.from_lists([[0, 49_999], [49_999]])
    np.testing.assert_array_equal(
        ghrr.encode_paths(many, paths), ghrr.encode_paths(few, Paths.from_lists([[0, 1], [1]]))
    )
    for copied in (pickle.loads(pickle.dumps(many)), copy.copy(many)):
        assert copied.lazy
        np.testing.assert_array_equal(copied.rows(np.array([7])), many.rows(np.array([7])))


def test_wrong_symbols_and_arguments_are_refused_as_ever():
    eager, lazy = pair()
    wrong = Paths.from_lists([[1], [], [2, 200]])
    message = "path 2 holds symbol 200, the codebook has symbols 0 to 199"
    for codebook in (eager, lazy):
        with pytest.raises(ValueError, match=f"encode_paths: {message}"):
            ghrr.encode_paths(codebook, wrong)
        with pytest.raises(ValueError, match=f"score_paths: {message}"):
            ghrr.score_paths(codebook, ghrr.encode_paths(eager, PATHS)[0], wrong)
    for options in ({"block_size": 17}, {"blocks": 0}, {"family": "gauss"}, {"storage": "int8"}):
        (name,) = options
        for lazily in (False, True):
            with pytest.raises(ValueError, match=name):
                ghrr.Codebook(NAMES, **options, lazy=lazily)


def numbers(symbols):
    """Rows that say whose they are."""
    return np.repeat(np.asarray(symbols, np.float32)[:, None], 4, axis=1)


def test_kept_rows_are_bounded():
    rows = RowsOnDemand(1_000, 16)
    rng = np.random.default_rng(0)
    before = rows.take(np.arange(16, dtype=np.int32), numbers)
    for _ in range(200):
        symbols = rng.integers(0, 1_000, rng.integers(0, 12), np.int32)
        array, places = rows.take(symbols, numbers)
        assert len(array) == 16
        np.testing.assert_array_equal(array[places], numbers(symbols))
    np.testing.assert_array_equal(before[0][before[1]], numbers(np.arange(16)))  # still as it was
    array, places = rows.take(np.arange(100, dtype=np.int32), numbers)  # more than are kept
    np.testing.assert_array_equal(array[places], numbers(np.arange(100)))
    assert rows.take(np.zeros(0, np.int32), numbers)[1].size == 0


def test_threads_see_whole_rows():
    rows = RowsOnDemand(500, 40)

    def read(seed):
        rng = np.random.default_rng(seed)
        for _ in range(300):
            symbols = rng.integers(0, 500, 8, np.int32)
            array, places = rows.take(symbols, numbers)
            np.testing.assert_array_equal(array[places], numbers(symbols))
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(read, range(8)))
