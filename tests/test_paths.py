"""Ragged sequence lists."""

import pickle

import numpy as np
import pytest

from hyperhop import Paths


def test_lists_names_and_padding_agree():
    by_id = Paths.from_lists([[0, 1], [], [2]])
    by_name = Paths.from_lists([["a", "b"], [], ["c"]], names=["a", "b", "c"])
    padded = Paths.from_padded([[0, 1], [-1, -1], [2, -1]])
    assert by_id == by_name == padded
    assert [row.tolist() for row in by_id] == [[0, 1], [], [2]]
    assert by_id[-1].tolist() == [2]
    assert by_id.symbols.dtype == np.int32
    assert by_id.offsets.dtype == np.int64


def test_take_keeps_the_given_order():
    paths = Paths.from_lists([[0, 1], [], [2]])
    assert [row.tolist() for row in paths.take([2, 0, 0, 1])] == [[2], [0, 1], [0, 1], []]
    assert len(paths.take([])) == 0
    assert [row.tolist() for row in paths.take([-1])] == [paths[-1].tolist()]
    for wrong in (len(paths), -len(paths) - 1):
        with pytest.raises(IndexError, match=f"index {wrong} of a list of {len(paths)}"):
            paths.take([0, wrong])


def test_pickles_with_its_flag():
    paths = Paths([1, 2], [0, 2], truncated=True)
    copy = pickle.loads(pickle.dumps(paths, protocol=5))
    assert copy == paths
    assert copy.truncated


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: Paths([0.5], [0, 1]), TypeError, "symbols must be a 1-D array of integers"),
        (lambda: Paths([1], [0, 2]), ValueError, "must end at 1"),
        (lambda: Paths([1, 2], [0, 2, 1, 2]), ValueError, "offsets fall after entry 1"),
        (lambda: Paths([1], []), ValueError, "start at 0"),
        (lambda: Paths([2**31], [0, 1]), ValueError, "must fit int32"),
        (lambda: Paths.from_padded([[-1, 3]]), ValueError, "row 0 has a symbol after the fill"),
        (lambda: Paths.from_lists([["x"]], names=["a"]), LookupError, "path 0 holds 'x'"),
        (lambda: Paths.from_lists([[0]])[1], IndexError, "index 1 of a list of 1"),
    ],
)
def test_bad_lists_get_one_clear_sentence(build, error, message):
    with pytest.raises(error, match=message):
        build()
