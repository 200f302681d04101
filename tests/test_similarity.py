"""Blockwise cosine and float16 storage, on every instruction set."""

import pickle

import numpy as np
import pytest

import hyperhop as hh
import reference
from hyperhop import _core, ghrr


def codebook(names=6, **options):
    return ghrr.Codebook([f"r{i}" for i in range(names)], **options)


def random_vectors(count, d, m, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(count, d, m, m)) + 1j * rng.normal(size=(count, d, m, m))
    return z.astype(np.complex64)


@pytest.mark.parametrize(
    ("d", "m"), [(1, 1), (300, 1), (37, 3), (600, 2), (64, 4), (33, 8), (17, 16)]
)
def test_a_pair_has_the_same_bits_in_every_call(isa, d, m):
    x, y = random_vectors(9, d, m), random_vectors(27, d, m, seed=1)
    y[3, 0] = 0
    y[4] *= np.float32(2.0**70)  # its squared norms overflow float32
    y[5, d // 2] *= np.float32(2.0**-80)  # and these underflow
    table = ghrr.pairwise(x, y)
    exact = reference.similarity(x[:, None], y[None])
    assert np.abs(table - exact).max() < 1e-6
    px, py = reference.to_planes(x), reference.to_planes(y)
    for a, b in ((x, y), (px, py)):
        for threads in (1, 2):
            assert np.array_equal(ghrr.pairwise(a, b, threads=threads), table)
            assert np.array_equal(ghrr.similarity(a[:, None], b, threads=threads), table)
        assert np.array_equal(ghrr.pairwise(b, a), table.T)
        assert np.array_equal(ghrr.similarity(b, a[2]), table[2])
        assert np.array_equal(ghrr.similarity(a, b[:9]), np.diagonal(table))
        for rows in (1, 2, 3, 6):
            for columns in (1, 5, 13):
                part = ghrr.pairwise(a[:rows], b[-columns:])
                assert np.array_equal(part, table[:rows, -columns:])


def test_more_rows_than_are_packed_at_once(isa):
    x = random_vectors(130, 16, 2)
    table = ghrr.pairwise(x, x)
    assert np.array_equal(table, ghrr.similarity(x[:, None], x[None]))
    assert np.array_equal(table, table.T)


def test_pairwise_shows_nans_and_counts_zero_blocks(isa):
    x = random_vectors(6, 40, 4)
    x[1, 39, 0, 0] = np.nan
    x[2, 0, 1, 1] = np.inf
    x[3, :20] = 0
    x[4] = 0
    table = ghrr.pairwise(x, x)
    broken = np.zeros((6, 6), bool)
    broken[1:3], broken[:, 1:3] = True, True
    assert np.array_equal(np.isnan(table), broken)
    assert table[3, 3] == pytest.approx(0.5, abs=1e-6)
    assert not table[4, [0, 3, 4, 5]].any()


def test_pairwise_takes_lists_and_may_be_empty():
    x = random_vectors(3, 8, 2)
    assert ghrr.pairwise(x[:0], x).shape == (0, 3)
    assert ghrr.pairwise(x, x[:0]).shape == (3, 0)
    out = np.empty((3, 6), np.float32)[:, ::2]
    assert ghrr.pairwise(x, x, out=out) is out
    assert np.array_equal(out, ghrr.pairwise(x, x))
    with pytest.raises(ValueError, match="pairwise: ys must be a list of hypervectors, got 0 lead"):
        ghrr.pairwise(x, x[0])
    with pytest.raises(ValueError, match="pairwise: xs and ys must have the same layout, D and m"):
        ghrr.pairwise(x, x[:, :4])


# --- float16 storage ------------------------------------------------------------------------------


def every_half():
    """All 65,536 float16 values as the planes of a codebook of 2 symbols, m = 16, D = 64."""
    return np.arange(2**16, dtype=np.uint16).view(np.float16).reshape(2, 16, 16, 2, 64)


def widened(planes):
    """What a kernel reads: a path of one symbol is its own encoding."""
    symbols, offsets = np.arange(len(planes), dtype=np.int32), np.arange(len(planes) + 1)
    return _core.encode_paths(planes, symbols, offsets, True, None, 1)


def test_every_float16_is_widened_exactly(isa):
    halves = every_half()
    wide, expected = widened(halves), halves.astype(np.float32)
    numbers = ~np.isnan(expected)
    assert np.array_equal(wide[numbers].view(np.uint32), expected[numbers].view(np.uint32))
    assert np.isnan(wide[~numbers]).all()


def test_float16_is_widened_to_the_same_bits_on_every_isa():
    before, bits = _core.isa(), set()
    for name in _core.isas():
        _core.select_isa(name)
        bits.add(widened(every_half()).tobytes())
    _core.select_isa(before)
    assert len(bits) == 1


@pytest.mark.parametrize(("d", "m"), [(1, 1), (37, 3), (64, 4), (20, 8)])
def test_float16_scores_are_those_of_the_widened_codebook(isa, d, m):
    half = codebook(12, blocks=d, block_size=m, storage="float16")
    assert half.planes.dtype == np.float16
    wide = codebook(12, blocks=d, block_size=m)
    assert np.array_equal(half.planes, wide.planes.astype(np.float16))
    wide.planes = half.planes.astype(np.float32)
    table = np.random.default_rng(0).integers(0, 12, (60, 3))
    table[::7, 1:] = -1
    queries = ghrr.encode_paths(wide, table[:3], planes=True)
    assert np.array_equal(half.array, wide.array)
    assert np.array_equal(ghrr.encode_paths(half, table), ghrr.encode_paths(wide, table))
    scores = ghrr.score_paths(half, queries, table)
    assert scores.dtype == np.float32
    assert np.array_equal(scores, ghrr.score_paths(wide, queries, table))
    for k in (1, 5):
        for got, expected in zip(
            ghrr.top_paths(half, queries, table, k),
            ghrr.top_paths(wide, queries, table, k),
            strict=True,
        ):
            assert np.array_equal(got, expected)
    short = queries.astype(np.float16)
    rounded = short.astype(np.float32)
    assert np.array_equal(
        ghrr.score_paths(half, short, table), ghrr.score_paths(wide, rounded, table)
    )
    for x, y in [(short, half.planes), (rounded, half.planes), (short, wide.planes)]:
        assert np.array_equal(ghrr.pairwise(x, y), ghrr.pairwise(rounded, wide.planes))


def test_other_functions_widen_float16_and_return_float32():
    half = codebook(4, blocks=19, block_size=3, storage="float16").planes
    wide = half.astype(np.float32)
    for call in (
        lambda x: ghrr.bind(x[:2], x[2:]),
        lambda x: ghrr.unbind_left(x[:2], x[2:]),
        lambda x: ghrr.unbind_right(x[:2], x[2:]),
        ghrr.bundle,
        ghrr.normalize,
        ghrr.unitarize,
    ):
        result = call(half)
        assert result.dtype == np.float32
        assert np.array_equal(result, call(wide))
    assert np.array_equal(ghrr.bind(half[0], wide[1]), ghrr.bind(wide[0], wide[1]))


def test_float16_storage_is_part_of_a_codebook():
    half = codebook(3, blocks=5, storage="float16")
    copy = pickle.loads(pickle.dumps(half))
    assert copy.storage == "float16"
    assert np.array_equal(copy.planes, half.planes)
    assert copy.planes.dtype == np.float16
    assert repr(half).endswith("seed=0, storage='float16')")
    with pytest.raises(ValueError, match="storage must be 'float32' or 'float16', got 'float64'"):
        codebook(3, storage="float64")


def test_float16_hardly_moves_a_ranking():
    """Rounding errors of 2^-12 a number average out over d numbers: 8 standard deviations."""
    wide, half = codebook(60), codebook(60, storage="float16")
    rng = np.random.default_rng(4)
    table = rng.integers(0, 60, (4000, 3))
    queries = ghrr.encode_paths(wide, table[:20], planes=True)
    exact, scores = (ghrr.score_paths(cb, queries, table) for cb in (wide, half))
    assert np.abs(scores - exact).max() < 1e-4
    top, kept = (hh.topk(s, 10)[0] for s in (exact, scores))
    assert np.array_equal(top[:, 0], kept[:, 0])
    shared = [len(set(a) & set(b)) for a, b in zip(top.tolist(), kept.tolist(), strict=True)]
    assert np.mean(shared) >= 9.5


def test_float16_planes_of_a_wrong_shape_are_named():
    half = codebook(2, blocks=5, storage="float16").planes
    with pytest.raises(ValueError, match=r"planes \(float16\) must have shape \(\.\.\., m, m, 2"):
        ghrr.similarity(half[..., :1, :], half)
    with pytest.raises(ValueError, match=r"\(float16\) D = 4, m = 4 and planes \(float32\)"):
        ghrr.similarity(half[..., :4], half.astype(np.float32))
