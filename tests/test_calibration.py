"""Equations 5 and 6 of the paper."""

import math

import numpy as np
import pytest

from hyperhop.pathhd import Calibration, Frequencies

SCHEMAS = [("a",), ("a", "b"), ("c", "b", "a")]


def test_frequencies_count_questions_not_paths():
    counted = Frequencies.count([[("a",), ("a",), ["a", "b"]], [("a",)], []])
    assert counted.questions == 3
    assert dict(counted.counts) == {("a",): 2, ("a", "b"): 1}


def test_equations_by_hand():
    frequencies = Frequencies(3, {("a",): 2, ("a", "b"): 1})
    calibration = Calibration(0.2, 0.1, 0.8, frequencies=frequencies)
    found = calibration.apply(np.array([0.5, 0.4, 0.3], np.float32), SCHEMAS)
    expected = [
        0.5 + 0.2 * math.log(1 + 3 / 3) - 0.1 * 0.8,
        0.4 + 0.2 * math.log(1 + 3 / 2) - 0.1 * 0.8**2,
        0.3 + 0.2 * math.log(1 + 3 / 1) - 0.1 * 0.8**3,
    ]
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_paper_idf_is_out_of_scale_and_normalized_is_not():
    frequencies = Frequencies(3098, {("a",): 3098})
    paper = Calibration.preset("webqsp", frequencies)
    assert 1.6 < paper.alpha * paper.inverse_frequency(("rare",)) < 1.62
    scaled = Calibration.preset("webqsp", frequencies, idf="normalized")
    assert scaled.inverse_frequency(("rare",)) == pytest.approx(1)
    assert 0 < scaled.inverse_frequency(("a",)) < 0.1


def test_presets_are_table_11():
    found = {n: Calibration.preset(n) for n in ("webqsp", "cwq", "grailqa")}
    assert [(c.alpha, c.beta, c.lam) for c in found.values()] == [
        (0.2, 0.1, 0.8), (0.3, 0.1, 0.8), (0.2, 0.2, 0.8),
    ]  # fmt: skip


def test_without_training_questions_only_the_length_term_acts():
    for frequencies in (None, Frequencies(0, {})):
        calibration = Calibration(0.5, 0.2, 0.5, frequencies=frequencies)
        found = calibration.apply([0.0, 0.0, 0.0], SCHEMAS)
        np.testing.assert_allclose(found, [-0.1, -0.05, -0.025])
    assert Calibration(0.5, 0.2, 0.5).apply([], []).shape == (0,)


@pytest.mark.parametrize(
    "arguments", [(-0.1, 0, 0.8), (0, -1, 0.8), (0, 0, 0), (0, 0, 1.1), (float("nan"), 0, 0.8)]
)
def test_values_out_of_range(arguments):
    with pytest.raises(ValueError, match="expected finite alpha >= 0, beta >= 0 and 0 < lam <= 1"):
        Calibration(*arguments)


def test_unknown_names():
    with pytest.raises(ValueError, match="webqsp, cwq, grailqa, got 'metaqa'"):
        Calibration.preset("metaqa")
    with pytest.raises(ValueError, match="idf must be paper or normalized, got 'log'"):
        Calibration(0, 0, 1, idf="log")


@pytest.mark.parametrize(("alpha", "beta"), [(np.inf, 0), (0, np.inf), (np.nan, 0)])
def test_numbers_that_leave_no_score_are_refused(alpha, beta):
    with pytest.raises(ValueError, match="expected finite alpha >= 0"):
        Calibration(alpha, beta, 0.8)


def test_counts_are_not_below_zero():
    for questions, counts in ((-1, {}), (2, {("a",): -1})):
        with pytest.raises(ValueError, match="expected counts of 0 or more"):
            Frequencies(questions, counts)


def test_a_calibration_read_from_words_is_refused():
    values = Calibration(0.1, 0.2, 0.8).to_dict() | {"alpha": "much"}
    with pytest.raises(ValueError, match=r"Calibration: expected alpha, beta, lam, .* 'much'"):
        Calibration.from_dict(values)
