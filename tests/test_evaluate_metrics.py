"""Metrics: examples worked out by hand, and what must hold of any input."""

import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperhop.evaluate.metrics import (
    alias_hit,
    bootstrap_interval,
    bootstrap_intervals,
    contains_answer,
    exact_match,
    f1,
    hits_at,
    normalize,
    paired_difference,
    path_hit_at,
    recall_at,
    set_exact,
    token_f1,
)

NAMES = st.lists(st.sampled_from("abcdef"), max_size=6)
SETS = st.frozensets(st.sampled_from("abcdef"), max_size=4)
TEXTS = st.text(st.sampled_from(string.ascii_letters + " .,-'üß漢the"), max_size=30)


def test_metrics_are_exact():
    gold = {"Peru", "Chile"}
    assert hits_at(1, ["Chile", "x"], gold)
    assert not hits_at(1, ["x", "Chile"], gold)
    assert hits_at(2, ["x", "Chile"], gold)
    assert not hits_at(1, ["chile"], gold)
    assert not hits_at(5, [], gold)
    assert set_exact(["Peru", "Chile"], gold)
    assert not set_exact(["Peru"], gold)
    assert f1(["Peru", "x"], gold) == 0.5
    assert f1([], gold) == 0
    assert f1([], set()) == 1


def test_bootstrap_resamples_units():
    values = [1.0] * 50 + [0.0] * 50
    alone = bootstrap_interval(values, list(range(100)))
    together = bootstrap_interval(values, [i // 10 for i in range(100)])
    assert alone == bootstrap_interval(values, list(range(100)))
    assert alone[0] < 0.5 < alone[1]
    assert 0.15 < alone[1] - alone[0] < 0.25
    assert together[1] - together[0] > 2 * (alone[1] - alone[0])
    assert bootstrap_interval([1.0, 1.0], ["a", "b"]) == (1.0, 1.0)
    assert bootstrap_interval([], [])[0] != bootstrap_interval([], [])[0]  # nan
    with pytest.raises(ValueError, match="1 values, but 2 units"):
        bootstrap_interval([1.0], ["a", "b"])


def test_of_passages_recall_is_a_share_and_hit_is_any():
    ranked, gold = ["p7", "p2", "p9", "p4"], {"p2", "p4", "p5"}
    assert recall_at(2, ranked, gold) == pytest.approx(1 / 3)
    assert recall_at(4, ranked, gold) == pytest.approx(2 / 3)
    assert hits_at(2, ranked, gold)
    assert not hits_at(1, ranked, gold)
    assert recall_at(4, ["p2", "p2"], {"p2", "p4"}) == 0.5
    with pytest.raises(ValueError, match="recall_at: needs at least one gold name"):
        recall_at(5, ranked, set())


def test_paths_are_compared_symbol_by_symbol():
    found = [["spouse"], ["spouse", "^child"], ["child"]]
    assert path_hit_at(2, found, {("spouse", "^child")})
    assert not path_hit_at(1, found, {("spouse", "^child")})
    assert not path_hit_at(3, found, {("spouse", "child")})
    assert not path_hit_at(3, [], {("spouse",)})


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The  U.S.A.\n", "usa"),
        ("A tale of the Two Cities", "tale of two cities"),
        ("Theatre and an Anthem", "theatre and anthem"),
        ("the", ""),
        ("東京、日本", "東京、日本"),
        ("don't-stop", "dontstop"),
    ],
)
def test_normal_form(text, normal):
    assert normalize(text) == normal


def test_words_are_compared_in_their_normal_form():
    assert exact_match("the Eiffel Tower!", ["Eiffel tower"])
    assert not exact_match("Eiffel", ["Eiffel tower"])
    # 2 words of 3 and of 2 in common: precision 2/3, recall 1
    assert token_f1("tall Eiffel Tower", ["Paris", "The Eiffel Tower"]) == pytest.approx(0.8)
    # "new" twice against once: 2 in common, 3 predicted, 2 gold
    assert token_f1("new new york", ["New York"]) == pytest.approx(0.8)
    assert token_f1("", ["the"]) == 1
    assert token_f1("", ["Paris"]) == token_f1("Paris", ["the"]) == token_f1("Paris", []) == 0


def test_a_substring_is_rogs_hit():
    assert contains_answer("It is in Germany.", ["german"])
    assert contains_answer("U.S.A., U.K.", ["USA"])
    assert not contains_answer("It is in Germany.", ["France"])
    assert not contains_answer("anything", ["the", "!"])
    assert not contains_answer("", ["Paris"])


def test_aliases_count_apart():
    assert alias_hit("m.05qtj", {"Paris"}, {"m.05qtj"})
    assert alias_hit("paris", {"Paris"})
    assert not alias_hit("Lyon", {"Paris"}, {"m.05qtj"})
    assert not hits_at(1, ["m.05qtj"], {"Paris"})


@given(NAMES, SETS, st.integers(0, 7))
def test_rankings_only_gain_with_k(ranked, gold, k):
    assert hits_at(k, ranked, gold) <= hits_at(k + 1, ranked, gold)
    if gold:
        assert recall_at(k, ranked, gold) <= recall_at(k + 1, ranked, gold) <= 1
        assert (recall_at(k, ranked, gold) > 0) == hits_at(k, ranked, gold)


@given(NAMES, SETS)
def test_sets_have_no_order_and_no_repeats(predicted, gold):
    assert f1(predicted, gold) == f1(sorted(predicted * 2), gold) == f1(list(gold), set(predicted))
    assert (f1(predicted, gold) == 1) == set_exact(predicted, gold)
    assert 0 <= f1(predicted, gold) <= 1


@given(TEXTS, st.lists(TEXTS, max_size=3))
def test_words(text, gold):
    assert normalize(normalize(text)) == normalize(text)
    assert token_f1(text, [text]) == 1
    assert exact_match(text, gold) <= (token_f1(text, gold) == 1)
    assert 0 <= token_f1(text, gold) <= 1
    assert token_f1(text, gold) == token_f1(text, gold[::-1])
    assert contains_answer(f"xx {text} yy", [text]) == bool(normalize(text))


def test_pairs_cancel_what_is_hard_for_both():
    first = [float(i % 2 == 0) for i in range(200)]
    second = [value if i % 20 else 0.0 for i, value in enumerate(first)]
    units = list(range(200))
    gain = paired_difference(first, second, units)
    assert gain.mean == pytest.approx(0.05)
    assert 0 < gain.low < 0.05 < gain.high < 0.1
    low, high = bootstrap_interval(first, units)
    assert gain.high - gain.low < (high - low) / 2
    back = paired_difference(second, first, units)
    assert (back.mean, back.low, back.high) == pytest.approx((-gain.mean, -gain.high, -gain.low))
    assert paired_difference(first, first, units) == (0, 0, 0)
    with pytest.raises(ValueError, match="1 values, but 2 of the second"):
        paired_difference([1.0], [1.0, 0.0], [1])


def test_a_difference_of_nothing_is_no_number():
    assert all(value != value for value in paired_difference([], [], []))


def test_many_intervals_are_those_of_each_column():
    rng = np.random.default_rng(5)
    table = rng.random((60, 3))
    units = [i // 3 for i in range(60)]
    table[:30, 1] = np.nan
    table[:, 2] = np.nan
    found = bootstrap_intervals(table, units)
    assert found[0].tolist() == pytest.approx(bootstrap_interval(table[:, 0].tolist(), units))
    low, high = found[1]
    assert low < np.nanmean(table[:, 1]) < high
    assert np.isnan(found[2]).all()
    assert bootstrap_intervals(np.zeros((0, 2)), []).shape == (2, 2)


def test_an_interval_is_the_percentile_of_resampled_means():
    """Two units of two values each: a resample is 0, 1/2 or 1, the middle one half of the time."""
    values, units = [0.0, 0.0, 1.0, 1.0], ["a", "a", "b", "b"]
    assert bootstrap_interval(values, units, level=0.95) == (0, 1)
    assert bootstrap_interval(values, units, level=0.4) == (0.5, 0.5)
