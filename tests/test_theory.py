"""PathHD's propositions, measured (section 2.7, appendix D.1). Seeds are fixed.

Tolerances are five standard deviations of the estimate: s / sqrt(n) for a mean of n samples,
sqrt(2 / n) relative for a variance (similarities are means over blocks and near normal; phases and
signs have lighter tails, which only helps), sqrt(p / n) for a frequency p.
"""

from functools import cache
from itertools import pairwise, permutations

import numpy as np
import pytest

import theory_laws as laws

FAMILIES = ("haar", "diagonal")
SAMPLES = 2000

# Pairs of different paths of lengths 1 to 4, sharing nothing, a prefix, a suffix, both, or all of
# the shorter one. Proposition 1 names them all distractors.
DISTRACTORS = [
    ((0,), (1,)),
    ((0, 1), (2, 3)),
    ((0, 1, 2, 3), (4, 5, 6, 7)),
    ((0, 1, 2), (0, 1, 3)),
    ((0, 1, 2), (3, 1, 2)),
    ((0, 1, 2), (0, 3, 2)),
    ((0, 1), (0, 1, 2)),
    ((0, 1, 2, 3), (2,)),
]


@cache
def symbols(blocks, block_size, family, count=8, samples=SAMPLES):
    return laws.ghrr_symbols(count, samples, blocks, block_size, family)


def assert_variance(values, expected):
    assert abs(np.mean(values**2) / expected - 1) < 5 * np.sqrt(2 / len(values))


def assert_mean(values, expected):
    assert abs(values.mean() - expected) < 5 * values.std() / np.sqrt(len(values))


def frequency_limit(p, n):
    return p + 5 * np.sqrt(p / n)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("block_size", [1, 2, 4])
@pytest.mark.parametrize("blocks", [4, 16])
def test_noise_has_the_standard_deviation_of_the_law(blocks, block_size, family):
    """1 / sqrt(2 d) for Haar, 1 / sqrt(2 D m) for diagonal blocks: m times apart in variance."""
    d, c = blocks * block_size**2, laws.constant(block_size, family)
    expected = {"haar": 1 / (2 * d), "diagonal": 1 / (2 * blocks * block_size)}[family]
    assert np.isclose(laws.noise_std(d, c) ** 2, expected)
    for query, path in DISTRACTORS:
        values = laws.ghrr_similarities(symbols(blocks, block_size, family), query, path)
        assert_mean(values, 0)
        assert_variance(values, expected)


TAIL_SAMPLES = 20_000
TAIL_SHAPE = (8, 4)  # D, m
BOUNDS = np.array([1, 0.3, 0.1, 0.03, 0.01])


def tail(family, c):
    """Epsilons at which the bound with this c is BOUNDS, and the measured frequencies there."""
    blocks, m = TAIL_SHAPE
    epsilons = np.sqrt(np.log(2 / BOUNDS) / (c * blocks * m * m))
    assert np.allclose(laws.tail_bound(epsilons, blocks * m * m, c), BOUNDS)
    table = symbols(*TAIL_SHAPE, family, count=3, samples=TAIL_SAMPLES)
    values = np.abs(laws.ghrr_similarities(table, (0, 1), (0, 2)))
    return (values[:, None] >= epsilons).mean(axis=0)


@pytest.mark.parametrize("family", FAMILIES)
def test_tails_stay_below_proposition_1(family):
    measured = tail(family, laws.constant(TAIL_SHAPE[1], family))
    assert (measured <= frequency_limit(BOUNDS, TAIL_SAMPLES)).all()
    assert (measured > 0).all()  # the epsilons are ones that happen


def test_diagonal_blocks_break_the_bound_with_c_1():
    measured = tail("diagonal", c=1)
    assert (measured > 2 * frequency_limit(BOUNDS, TAIL_SAMPLES))[BOUNDS <= 0.1].all()


@pytest.mark.parametrize(("family", "c"), [("haar", 1), ("diagonal", 0.25), ("diagonal", 1)])
def test_corollary_1_holds_with_the_right_constant_only(family, c):
    """Of 400 queries with 50 distractors each, at most delta see one above the threshold."""
    blocks, m, trials, distractors, delta = 8, 4, 400, 50, 0.1
    table = symbols(blocks, m, family, count=2 + distractors, samples=trials)
    worst = np.full(trials, -1.0)
    for symbol in range(2, 2 + distractors):
        worst = np.maximum(worst, laws.ghrr_similarities(table, (0, 1), (0, symbol)))
    failed = (worst > laws.threshold(blocks * m * m, c, distractors, delta)).mean()
    if c == laws.constant(m, family):
        assert failed <= frequency_limit(delta, trials)
    else:
        assert failed > 0.5


def test_the_threshold_is_corollary_1():
    """d >= log(2 M / delta) / (c eps^2), solved for eps."""
    epsilon = laws.threshold(4096, 0.25, 1000, 0.05)
    assert np.isclose(4096, np.log(2 * 1000 / 0.05) / (0.25 * epsilon**2))


@pytest.mark.parametrize("block_size", [2, 3, 4])
@pytest.mark.parametrize("length", [2, 3])
def test_permutations_score_one_over_m_squared(length, block_size):
    table = symbols(16, block_size, "haar")
    for order in list(permutations(range(length)))[1:]:
        assert laws.permutation_value(order, block_size) == block_size**-2
        values = laws.ghrr_similarities(table, range(length), order)
        assert_mean(values, block_size**-2)
        assert values.std() < 0.5  # so that the test can tell 1 / m^2 from 0
        # Proposition 1 does not cover them: noise alone would hardly ever reach their mean.
        noise = laws.noise_std(16 * block_size**2, 1) / np.sqrt(SAMPLES)
        assert values.mean() > 10 * noise


def test_permutations_of_four_score_one_over_m_squared_or_m_to_the_fourth():
    table = symbols(16, 2, "haar")
    seen = {}
    for order in list(permutations(range(4)))[1:]:
        expected = laws.permutation_value(order, 2)
        assert_mean(laws.ghrr_similarities(table, range(4), order), expected)
        seen[expected] = seen.get(expected, 0) + 1
    assert seen == {1 / 4: 15, 1 / 16: 8}


def test_the_path_itself_and_diagonal_permutations_score_1():
    for order in permutations(range(3)):
        values = laws.ghrr_similarities(symbols(4, 4, "diagonal"), range(3), order)
        assert np.abs(values - 1).max() < 1e-5
    values = laws.ghrr_similarities(symbols(4, 4, "haar"), range(3), range(3))
    assert np.abs(values - 1).max() < 1e-5
    assert laws.permutation_value((0, 1, 2), 4) == 1


@pytest.mark.parametrize("block_size", [2, 4])
@pytest.mark.parametrize("power", [1, 2, 3])
def test_a_repeated_relation_costs_haar_blocks_variance_but_no_bias(power, block_size):
    """sim(r^k s, s): E|tr R^k|^2 = min(k, m), so c = 1 / min(k, m) here, where bipolar fails."""
    d = 16 * block_size**2
    path = (0,) * power + (1,)
    values = laws.ghrr_similarities(symbols(16, block_size, "haar"), (1,), path)
    assert_mean(values, 0)
    assert_variance(values, min(power, block_size) / (2 * d))
    c = laws.power_constant(power, block_size)
    assert np.isclose(laws.noise_std(d, c) ** 2, min(power, block_size) / (2 * d))
    for bound in (0.5, 0.1, 0.02):
        epsilon = np.sqrt(np.log(2 / bound) / (c * d))
        assert (np.abs(values) >= epsilon).mean() <= frequency_limit(bound, SAMPLES)


def test_two_doubled_relations_are_a_little_noisier():
    """sim(r r, s s), where no relation stands once: with E|tr R^2|^2 = 2, Weingarten's formula
    gives E|tr R^-2 S^2|^2 = m^2 / (m^2 - 1), 4 / 3 at m = 2."""
    values = laws.ghrr_similarities(symbols(16, 2, "haar"), (0, 0), (1, 1))
    assert_mean(values, 0)
    assert_variance(values, 4 / 3 / (2 * 64))


@pytest.mark.parametrize("d", [64, 512])
def test_bipolar_codes_concentrate_as_proposition_2_says(d):
    """Std 1 / sqrt(d) and tails below 2 exp(-eps^2 d / 2), for symbols and (lemma 1) for products
    of relations that differ."""
    table = laws.flat_symbols("bipolar", 6, SAMPLES, d)
    for query, path in [((0,), (1,)), ((0, 1, 2), (3, 4)), ((0, 1, 2), (0, 1, 3))]:
        values = laws.flat_similarities("bipolar", table, query, path)
        assert_mean(values, 0)
        assert_variance(values, 1 / d)
        for bound in (0.5, 0.1, 0.02):
            epsilon = np.sqrt(2 * np.log(2 / bound) / d)
            above = (np.abs(values) > epsilon).mean()
            assert 0 < above <= frequency_limit(bound, SAMPLES)


def test_lemma_1_fails_for_repeated_relations():
    """r r = 1: the path r r s is independent of s in one of its relations, as lemma 1 asks, and yet
    equals it. The same for any even power, any order, and theorem 1's distractors."""
    table = laws.flat_symbols("bipolar", 3, 200, 64)
    for query, path in [
        ((1,), (0, 0, 1)),
        ((1,), (0, 1, 0)),
        ((1, 2), (0, 0, 1, 2)),
        ((0,), (0, 0, 0)),
        ((1,), (0, 0, 0, 0, 1)),
    ]:
        assert (laws.flat_similarities("bipolar", table, query, path) == 1).all()
    odd = laws.flat_similarities("bipolar", table, (1,), (0, 0, 0, 1))
    assert_mean(odd, 0)


def test_phasors_keep_repeated_relations_apart():
    table = laws.flat_symbols("fhrr", 2, SAMPLES, 64)
    for first, second in pairwise(range(4)):
        values = laws.flat_similarities("fhrr", table, (0,) * first + (1,), (0,) * second + (1,))
        assert_mean(values, 0)
        assert_variance(values, 1 / 128)


@pytest.mark.needs("matplotlib")
def test_the_sheet_is_drawn_in_the_format_of_its_suffix(tmp_path):
    from theory import EXPERIMENTS, Series
    from theory_plots import draw

    curve = Series("haar, c = 1", samples=np.linspace(0, 0.3, 50))
    for x in (1, 2, 4):
        curve.add(x, measured=0.1 / x, law=0.2 / x, spread=0.01)
    draw({name: [curve] for name in EXPERIMENTS}, tmp_path / "sheet.svg")
    drawn = (tmp_path / "sheet.svg").read_text(encoding="utf-8")
    assert drawn.startswith("<?xml")
    assert "</svg>" in drawn
