"""The operators of the ablation: their algebra, what each loses, and torchhd's definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyperhop as hh
import operators
import strategies
from hyperhop import binders, ghrr

COMMUTATIVE = tuple(name for name in binders.NAMES if name != "ghrr")
names = st.sampled_from(binders.NAMES)
sizes = st.sampled_from([16, 48, 64, 144])  # multiples of 16, as blocks of 4 x 4 need


def drawn(name, d, seed, count=3):
    binder = binders.get(name, d)
    return binder, binder.random([f"r{i}" for i in range(count)], seed)


def close(x, y):
    scale = np.abs(y).max(initial=1e-30)
    return np.abs(x - y).max(initial=0) <= 1e-5 * scale


@given(names, sizes, strategies.seeds)
def test_bind_is_associative_and_knows_its_identity(name, d, seed):
    binder, (a, b, c) = drawn(name, d, seed)
    assert close(binder.bind(binder.bind(a, b), c), binder.bind(a, binder.bind(b, c)))
    assert close(binder.bind(binder.identity(), a), a)
    assert close(binder.bind(a, binder.identity()), a)
    assert binder.bind(a, b).dtype == a.dtype == binder.dtype


@given(names, sizes, strategies.seeds)
def test_bind_is_linear_in_bundles(name, d, seed):
    binder, (a, b, c) = drawn(name, d, seed)
    assert close(binder.bind(a + b, c), binder.bind(a, c) + binder.bind(b, c))
    assert close(binder.bind(c, a + b), binder.bind(c, a) + binder.bind(c, b))


@given(names, sizes, strategies.seeds)
def test_leading_axes_broadcast(name, d, seed):
    binder, codes = drawn(name, d, seed, count=6)
    xs, ys = codes[:2, None], codes[None, 2:5]
    for function in (binder.bind, binder.unbind, binder.similarity):
        table = function(xs, ys)
        assert table.shape[:2] == (2, 3)
        for i, j in np.ndindex(2, 3):
            assert close(table[i, j], function(xs[i, 0], ys[0, j]))


@given(st.sampled_from(COMMUTATIVE), sizes, strategies.seeds)
def test_swapped_order_scores_one_where_binding_commutes(name, d, seed):
    binder, codes = drawn(name, d, seed)
    assert binder.commutative
    orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    paths = binders.encode_paths(binder, codes, orders)
    assert np.abs(binder.similarity(paths[0], paths) - 1).max() < 1e-5


@pytest.mark.parametrize("m", [2, 3, 4])
def test_swapped_order_scores_one_over_m_squared_in_ghrr(m):
    """Tolerance: five standard deviations; a block's Re tr of a commutator, over m, is below 1."""
    binder = binders.get("ghrr", 2000 * m * m, block_size=m)
    a, b = binder.random(["a", "b"])
    assert not binder.commutative
    value = binder.similarity(binder.bind(a, b), binder.bind(b, a))
    assert abs(value - 1 / m**2) < 5 / np.sqrt(2000)
    assert value < 0.5


def test_blocks_that_commute_say_so():
    for binder in (
        binders.get("ghrr", 64, family="diagonal"),
        binders.get("ghrr", 64, block_size=1),
    ):
        a, b = binder.random(["a", "b"])
        assert binder.commutative
        assert binder.similarity(binder.bind(a, b), binder.bind(b, a)) > 1 - 1e-5


@given(names, sizes, strategies.seeds)
def test_unbinding_a_pair(name, d, seed):
    binder, (a, b, _) = drawn(name, d, seed)
    back = binder.unbind(binder.bind(a, b), b)
    if binder.exact:
        assert close(back, a)
    else:
        assert not close(back, a)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("bipolar", 0.5), ("mix", 0.5), ("fhrr", 0.5), ("ghrr", 0.5), ("hrr", 5**-0.5)],
)
def test_unbinding_a_bundle(name, expected):
    """sim(unbind(sum of four bound pairs, key), x).

    Keys of modulus 1 turn the other three pairs into noise as large as x: 1 / sqrt(4). The spectrum
    of HRR: E|X K^2|^2 = 2, each other pair 1, so 1 / sqrt(2 + 3). Five standard deviations, each
    below 2 / sqrt(d).
    """
    d = 4096
    binder, codes = drawn(name, d, seed=1, count=8)
    bundle = binder.bind(codes[:4], codes[4:]).sum(axis=0)
    value = binder.similarity(binder.unbind(bundle, codes[4]), codes[0])
    assert abs(value - expected) < 10 / np.sqrt(d)


def test_division_drowns_a_bundle():
    """Numbers near 0 in the key: what `real`'s docstring says of unbinding anything but a pair."""
    binder, codes = drawn("real", 4096, seed=1, count=8)
    bundle = binder.bind(codes[:4], codes[4:]).sum(axis=0)
    assert abs(binder.similarity(binder.unbind(bundle, codes[4]), codes[0])) < 0.2


@pytest.mark.parametrize(
    ("name", "expected"),
    [("bipolar", 1), ("real", 3**-0.5), ("mix", 0.5), ("fhrr", 0), ("hrr", 0), ("ghrr", 0)],
)
def test_a_relation_walked_twice(name, expected):
    """sim(r r s, s); the standard deviation is at most 2 / sqrt(d) for each."""
    d = 4096
    binder, codes = drawn(name, d, seed=2)
    twice = binders.encode_paths(binder, codes, [[0, 0, 1]])[0]
    assert abs(binder.similarity(twice, codes[1]) - expected) < 10 / np.sqrt(d)


@pytest.mark.parametrize(
    ("name", "variance"),
    [("bipolar", 1), ("real", 1), ("mix", 1.125), ("fhrr", 1), ("hrr", 1), ("ghrr", 1)],
)
def test_noise_at_equal_real_degrees_of_freedom(name, variance):
    """Variance of the similarity of unrelated codes, times real_dof (3/4 x 3/2 for `mix`).

    The variance of n normal samples is right within a relative sqrt(2 / n); five of those.
    """
    binder = binders.get(name, real_dof=128)
    assert 120 <= binder.real_dof <= 128
    n = 2000
    codes = binder.random([f"r{i}" for i in range(2 * n)], seed=3)
    values = binder.similarity(codes[:n], codes[n:]).astype(np.float64)
    measured = np.mean(values**2) * binder.real_dof / variance
    assert abs(measured - 1) < 5 * np.sqrt(2 / n)


@pytest.mark.parametrize(
    ("name", "factor"),
    [("bipolar", 1), ("real", 3), ("mix", 1), ("fhrr", 1), ("hrr", 2), ("ghrr", 1)],
)
def test_a_shared_relation_adds_noise_where_norms_vary(name, factor):
    """Var sim(a b, a c) / Var sim(b, c) = E|a|^4 / E(|a|^2)^2 = 3 for Gaussian numbers, 2 for a
    complex Gaussian spectrum, 1 for constant norms. Large d, so that this ratio is reached."""
    d, n = 1024, 1500
    binder = binders.get(name, d)
    a, b, c = binder.random([f"r{i}" for i in range(3 * n)], seed=4).reshape(3, n, *binder.shape)
    shared = binder.similarity(binder.bind(a, b), binder.bind(a, c)).astype(np.float64)
    unrelated = binder.similarity(b, c).astype(np.float64)
    ratio = np.mean(shared**2) / np.mean(unrelated**2)
    assert abs(ratio / factor - 1) < 5 * np.sqrt(4 / n)


def test_bipolar_is_xor():
    binder, codes = drawn("bipolar", 64, seed=5)
    bits = (codes < 0).astype(int)
    bound = binder.bind(codes[0], codes[1])
    assert np.array_equal(bound < 0, (bits[0] ^ bits[1]).astype(bool))
    assert set(np.unique(codes)) == {-1, 1}


def test_mix_is_half_signs_and_half_quarter_turns():
    binder, codes = drawn("mix", 65, seed=5)
    assert (binder.d, binder.real_dof) == (65, 97)
    assert np.array_equal(np.unique(codes[:, :33]), [-1, 1])
    assert set(np.unique(codes[:, 33:])) == {1, 1j, -1, -1j}


def test_fhrr_is_ghrr_with_blocks_of_one_number():
    flat, blocks = binders.get("fhrr", 64), binders.get("ghrr", 64, block_size=1)
    codes = flat.random(["a", "b"], seed=6)
    planes = np.stack([codes.real, codes.imag], axis=-2)[:, None, None]
    assert planes.shape[1:] == blocks.shape
    bound = blocks.bind(planes[0], planes[1])[0, 0]
    assert close(bound[0] + 1j * bound[1], flat.bind(codes[0], codes[1]))
    assert np.isclose(blocks.similarity(*planes), flat.similarity(*codes), atol=1e-6)


@given(names, st.data())
def test_encode_paths_is_the_left_fold(name, data):
    binder, codes = drawn(name, 64, seed=7, count=4)
    lists = data.draw(strategies.ragged_paths(4, max_paths=8))
    encoded = binders.encode_paths(binder, codes, hh.Paths.from_lists(lists))
    assert encoded.shape == (len(lists), *binder.shape)
    for path, code in zip(lists, encoded, strict=True):
        expected = codes[path[0]] if path else binder.identity()
        for symbol in path[1:]:
            expected = binder.bind(expected, codes[symbol])
        assert np.array_equal(code, expected)


def test_ghrr_paths_are_those_of_hyperhop_ghrr():
    binder = binders.get("ghrr", 64, family="householder")
    cb = ghrr.Codebook(["a", "b", "c"], 4, 4, "householder", seed=8)
    codes = binder.random(cb.names, seed=8)
    assert np.array_equal(codes, cb.planes)
    paths = hh.Paths.from_lists([[0, 1, 2], [2, 0], []])
    encoded = binders.encode_paths(binder, codes, paths)
    assert close(encoded, ghrr.encode_paths(cb, paths, planes=True))


@pytest.mark.parametrize("name", binders.NAMES)
def test_codes_depend_on_name_and_seed_alone(name):
    binder = binders.get(name, 64)
    few, many = binder.random(["b", "ü"], seed=1), binder.random(["a", "ü", "b"], seed=1)
    assert np.array_equal(few, many[[2, 1]])
    assert not np.array_equal(few, binder.random(["b", "ü"], seed=2))
    assert not np.array_equal(few[0], few[1])
    assert binder.random([]).shape == (0, *binder.shape)


@pytest.mark.parametrize("name", binders.NAMES)
def test_zero_scores_zero_and_nan_surfaces(name):
    binder, codes = drawn(name, 64, seed=9)
    assert binder.similarity(np.zeros_like(codes[0]), codes[0]) == 0
    assert np.isnan(binder.similarity(np.full_like(codes[0], np.nan), codes[0]))


@pytest.mark.parametrize("name", binders.NAMES)
def test_sizes(name):
    for real_dof in (32, 33, 95, 96, 8192):
        binder = binders.get(name, real_dof=real_dof)
        unit = 16 if name == "ghrr" else 1
        assert binder.real_dof == int(binder.d * binder.real_per_number) <= real_dof
        assert binders.get(name, binder.d + unit).real_dof > real_dof


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "xor", "d": 16}, "name must be one of bipolar, real"),
        ({"name": "ghrr", "d": 16, "family": "unitary"}, "family must be one of haar"),
        ({"name": "ghrr", "d": 17}, "d of ghrr must be a positive multiple of 16, got 17"),
        ({"name": "ghrr", "real_dof": 31}, "d of ghrr must be a positive multiple of 16, got 0"),
        ({"name": "hrr", "d": 0}, "d of hrr must be a positive multiple of 1, got 0"),
        ({"name": "ghrr", "d": 16, "block_size": 0}, "block_size must be 1 to 16, got 0"),
        ({"name": "hrr"}, "give d or real_dof, got d=None and real_dof=None"),
        ({"name": "hrr", "d": 8, "real_dof": 8}, "give d or real_dof"),
    ],
)
def test_wrong_sizes_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        binders.get(**arguments)


def test_wrong_paths_are_refused():
    binder, codes = drawn("fhrr", 16, seed=0)
    with pytest.raises(ValueError, match="paths hold symbol 3, but the codebook has 3"):
        binders.encode_paths(binder, codes, [[0, 3]])
    with pytest.raises(ValueError, match=r"codebook must have shape \(R, 16\), got \(3, 8\)"):
        binders.encode_paths(binder, codes[:, :8], [[0]])


def test_the_ablation_tells_the_operators_apart():
    """benchmarks/operators.py at a size where noise decides nothing."""
    task = operators.make_task(np.random.default_rng(0), questions=4)
    scores = {name: operators.hits(binders.get(name, 4096), task, 0) for name in binders.NAMES}
    chance = np.mean([1 / (1 + len(group)) for group in task.permuted])
    for name, score in scores.items():
        assert score["others"] == 1
        assert np.isclose(score["permuted"], 1 if name == "ghrr" else chance)
        assert score["repeated"] == 1 or name in ("bipolar", "real")
    assert scores["bipolar"]["repeated"] < 0.2
    assert scores["ghrr"]["all"] == 1


@pytest.mark.needs("torchhd")
@pytest.mark.parametrize(
    ("name", "tensor"), [("bipolar", "MAPTensor"), ("fhrr", "FHRRTensor"), ("hrr", "HRRTensor")]
)
def test_definitions_are_those_of_torchhd(name, tensor):
    import torch
    import torchhd

    binder, codes = drawn(name, 256, seed=10, count=6)
    xs, ys = codes[:3], codes[3:]
    kind = getattr(torchhd, tensor)
    theirs = [torch.from_numpy(part.copy()).as_subclass(kind) for part in (xs, ys)]

    def plain(value):
        return value.as_subclass(torch.Tensor).numpy()

    bound = binder.bind(xs, ys)
    assert close(plain(theirs[0].bind(theirs[1])), bound)
    back = torch.from_numpy(bound).as_subclass(kind).bind(theirs[1].inverse())
    assert close(plain(back), binder.unbind(bound, ys))
    cosines = plain(theirs[0].cosine_similarity(theirs[1]))
    assert np.abs(cosines - binder.similarity(xs[:, None], ys[None])).max() < 1e-5
