"""The algebra of GHRR and the accuracy of its kernels, on every instruction set."""

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyperhop as hh
import reference
from hyperhop import _core, ghrr
from strategies import block_sizes, blocks, hypervectors, seeds

EPS = np.finfo(np.float32).eps


def codebook(names=6, **options):
    return ghrr.Codebook([f"r{i}" for i in range(names)], **options)


def noise(cb):
    """Eight standard deviations of the similarity of independent hypervectors."""
    return 8 / math.sqrt(2 * cb.blocks * cb.block_size**2)


# --- codebook -------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["haar", "householder", "diagonal"])
@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 8, 16])
def test_blocks_are_unitary(isa, family, m):
    array = codebook(3, blocks=37, block_size=m, family=family).array
    product = reference.adjoint(array) @ array
    assert np.abs(product - np.eye(m)).max() < 1e-6


@pytest.mark.parametrize("family", ["haar", "householder", "diagonal"])
@pytest.mark.parametrize(("d", "m"), [(1, 1), (37, 3), (64, 4), (20, 8)])
def test_codebook_has_the_same_bits_on_every_isa(family, d, m):
    planes = []
    before = _core.isa()
    for name in _core.isas():
        _core.select_isa(name)
        planes.append(codebook(5, blocks=d, block_size=m, family=family).planes)
    _core.select_isa(before)
    for other in planes[1:]:
        assert planes[0].tobytes() == other.tobytes()


# Written down once: a change of these bits changes every stored index and every published number.
@pytest.mark.parametrize(
    ("family", "checksum"),
    [
        ("haar", "05d14edabe3bbd09"),
        ("householder", "503b91d33cd84ad4"),
        ("diagonal", "e6a7cd4de4e5f347"),
    ],
)
def test_codebook_bits_are_pinned(isa, family, checksum):
    import hashlib

    cb = ghrr.Codebook(["born in", "^capital", "日本"], blocks=48, family=family, seed=7)
    assert hashlib.sha256(cb.planes.tobytes()).hexdigest()[:16] == checksum


def test_codebook_depends_on_name_and_seed_alone():
    cb = ghrr.Codebook(["a", "b", "c"], blocks=40)
    again = ghrr.Codebook(["c", "x", "a"], blocks=64, threads=2)
    assert np.array_equal(cb.planes[0], again.planes[2][..., :40])
    assert np.array_equal(cb.planes[2], again.planes[0][..., :40])
    assert not np.array_equal(cb.planes, ghrr.Codebook(["a", "b", "c"], blocks=40, seed=1).planes)


def test_haar_blocks_have_the_moments_of_haar():
    # For Haar U(m): E[U] = 0, E|u_ij|^2 = 1/m, E|tr U|^2 = 1, E|tr U|^4 = 2 (m >= 2).
    array = codebook(8, blocks=4096, block_size=4).array.reshape(-1, 4, 4).astype(np.complex128)
    traces = np.trace(array, axis1=1, axis2=2)
    assert np.abs(array.mean(axis=0)).max() < 5 / math.sqrt(4 * len(array))
    assert np.abs((np.abs(array) ** 2).mean(axis=0) - 0.25).max() < 0.01
    assert abs((np.abs(traces) ** 2).mean() - 1) < 0.04
    assert abs((np.abs(traces) ** 4).mean() - 2) < 0.25


def test_names_are_looked_up_and_must_differ():
    cb = ghrr.Codebook(["a", "b"], blocks=2)
    assert cb.id("b") == 1
    with pytest.raises(LookupError, match="no symbol 'z'"):
        cb.id("z")
    with pytest.raises(ValueError, match="'a' twice"):
        ghrr.Codebook(["a", "b", "a"], blocks=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"blocks": 0}, "blocks must be 1"),
        ({"block_size": 0}, "block_size must be 1 to 16"),
        ({"block_size": 17}, "block_size must be 1 to 16"),
        ({"family": "orthogonal"}, "family must be haar, householder or diagonal"),
    ],
)
def test_codebook_refuses_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        codebook(2, **options)


def test_codebook_pickles_and_may_be_empty():
    cb = codebook(3, blocks=5)
    copy = pickle.loads(pickle.dumps(cb, protocol=5))
    assert np.array_equal(copy.planes, cb.planes)
    assert copy.names == cb.names
    empty = ghrr.Codebook([], blocks=4)
    assert empty.planes.shape == (0, 4, 4, 2, 4)
    assert ghrr.score_paths(empty, cb.array[0][:4], hh.Paths.from_lists([[]])).shape == (1,)


def test_array_is_planes_transposed():
    cb = codebook(3, blocks=19, block_size=3)
    assert np.array_equal(cb.array, reference.from_planes(cb.planes))
    assert np.array_equal(reference.to_planes(cb.array), cb.planes)


# --- binding --------------------------------------------------------------------------------------


@given(hypervectors(3))
def test_products_match_the_reference(x):
    a, b, _ = x
    for result, exact in [
        (ghrr.bind(a, b), reference.bind(a, b)),
        (ghrr.unbind_left(a, b), reference.adjoint(a) @ b.astype(np.complex128)),
        (ghrr.unbind_right(a, b), a.astype(np.complex128) @ reference.adjoint(b)),
    ]:
        assert result.dtype == np.complex64
        naive = np.abs(reference.bind(a, b) - a @ b).max()
        bound = 2 * max(naive, EPS * reference.frobenius(a).max() * reference.frobenius(b).max())
        assert np.abs(result - exact).max() <= bound


@pytest.mark.parametrize("m", range(1, 17))
@pytest.mark.parametrize("d", [1, 15, 16, 17, 40])
def test_products_on_every_isa_and_block_size(isa, m, d):
    rng = np.random.default_rng(m * 100 + d)
    a, b = (rng.normal(size=(2, d, m, m)) + 1j * rng.normal(size=(2, d, m, m))).astype("c8")
    for product, exact in [
        (ghrr.bind, reference.bind(a, b)),
        (ghrr.unbind_left, reference.bind(reference.adjoint(a), b)),
        (ghrr.unbind_right, reference.bind(a, reference.adjoint(b))),
    ]:
        assert np.abs(product(a, b) - exact).max() < 1e-5 * m
        planes = product(reference.to_planes(a), reference.to_planes(b))
        assert np.array_equal(reference.from_planes(planes), product(a, b))


@pytest.mark.parametrize("product", [ghrr.bind, ghrr.unbind_left, ghrr.unbind_right])
@pytest.mark.parametrize(("d", "m"), [(16, 2), (48, 4), (50, 4), (13, 6), (32, 3), (20, 5)])
def test_large_products_have_the_bits_of_small_ones(isa, product, d, m):
    rng = np.random.default_rng(d)
    x = (rng.normal(size=(40, d, m, m)) + 1j * rng.normal(size=(40, d, m, m))).astype("c8")
    count = 1 + (9 << 20) // x[0].nbytes  # more than 8 MiB of output: written past the caches
    rows = rng.integers(0, 40, count)
    for y in (x, reference.to_planes(x)):
        whole = product(y[rows], y[:1])
        assert np.array_equal(whole, product(y, y[:1])[rows])
        # No multiple of 64 bytes past a page, as NumPy's own large arrays lie.
        out = np.empty(whole.size + 2, whole.dtype)[2:].reshape(whole.shape)
        assert np.array_equal(product(y[rows], y[:1], out=out), whole)


@given(hypervectors(3))
def test_binding_is_associative(x):
    a, b, c = ghrr.unitarize(x)
    left, right = ghrr.bind(ghrr.bind(a, b), c), ghrr.bind(a, ghrr.bind(b, c))
    assert np.abs(left - right).max() < 1e-5


@pytest.mark.parametrize(("d", "m"), [(256, 4), (512, 2), (100, 3), (64, 8)])
def test_haar_binding_keeps_order(isa, d, m):
    cb = codebook(8, blocks=d, block_size=m)
    expected = 1 / m**2
    for a, b in itertools.combinations(range(8), 2):
        ab, ba = ghrr.encode_paths(cb, np.array([[a, b], [b, a]]))
        assert abs(ghrr.similarity(ab, ba) - expected) < noise(cb)
    for a, b, c in itertools.permutations(range(4), 3):
        forward, backward, palindrome = ghrr.encode_paths(
            cb, np.array([[a, b, c], [c, b, a], [a, b, a]])
        )
        assert abs(ghrr.similarity(forward, backward) - expected) < noise(cb)
        assert ghrr.similarity(palindrome, ghrr.encode_paths(cb, [[a, b, a]])[0]) == pytest.approx(
            1, abs=1e-5
        )


def test_diagonal_binding_commutes(isa):
    x, y = codebook(2, family="diagonal").array
    assert np.abs(ghrr.bind(x, y) - ghrr.bind(y, x)).max() < 1e-6
    assert ghrr.similarity(ghrr.bind(x, y), ghrr.bind(y, x)) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("family", ["haar", "householder"])
def test_unrelated_symbols_are_nearly_orthogonal(family):
    cb = codebook(12, family=family)
    scores = ghrr.pairwise(cb.array, cb.array)
    assert np.abs(np.diag(scores) - 1).max() < 1e-6
    assert np.abs(scores - np.diag(np.diag(scores))).max() < noise(cb)


@pytest.mark.parametrize("m", [1, 2, 3, 4, 8])
def test_blocks_stay_unitary_after_ten_binds(isa, m):
    cb = codebook(11, blocks=33, block_size=m)
    z = cb.array[0]
    for i in range(1, 11):
        z = ghrr.bind(z, cb.array[i])
    assert np.abs(reference.adjoint(z) @ z - np.eye(m)).max() < 1e-5


@given(blocks, block_sizes, seeds)
def test_unbinding_inverts(d, m, seed):
    x, y = codebook(2, blocks=d, block_size=m, seed=seed).array
    z = ghrr.bind(x, y)
    assert np.abs(ghrr.unbind_left(x, z) - y).max() < 1e-5
    assert np.abs(ghrr.unbind_right(z, y) - x).max() < 1e-5


def test_leading_axes_broadcast():
    cb = codebook(5, blocks=9, block_size=2)
    x, y = cb.array[:3][:, None], cb.array[1:5][None]
    z = ghrr.bind(x, y)
    assert z.shape == (3, 4, 9, 2, 2)
    for i, j in itertools.product(range(3), range(4)):
        assert np.array_equal(z[i, j], ghrr.bind(cb.array[i], cb.array[1 + j]))
    assert ghrr.bind(cb.array[0], cb.array[:0]).shape == (0, 9, 2, 2)
    with pytest.raises(ValueError, match=r"leading shapes \(3,\) and \(4,\)"):
        ghrr.bind(cb.array[:3], cb.array[:4])


# --- bundle, normalize, unitarize, similarity -----------------------------------------------------


@given(hypervectors(4), st.lists(st.floats(-2, 2, width=32), min_size=4, max_size=4))
def test_bundle_is_the_weighted_sum(xs, weights):
    exact = np.tensordot(np.array(weights), xs.astype(np.complex128), axes=1)
    assert np.abs(ghrr.bundle(xs, weights) - exact).max() < 1e-5
    assert np.abs(ghrr.bundle(xs) - xs.astype(np.complex128).sum(axis=0)).max() < 1e-5


def test_bundle_of_nothing_is_zero_and_needs_an_axis():
    cb = codebook(2, blocks=3)
    assert not ghrr.bundle(cb.array[:0]).any()
    with pytest.raises(ValueError, match="leading axis"):
        ghrr.bundle(cb.array[0])
    with pytest.raises(ValueError, match=r"weights must have shape \(2,\), got \(3,\)"):
        ghrr.bundle(cb.array, [1, 2, 3])


@given(hypervectors(2))
def test_normalize_and_unitarize_match_the_reference(x):
    assert np.abs(ghrr.normalize(x) - reference.normalize(x)).max() < 1e-5
    # The polar factor is as well determined as the smallest singular value is large.
    smallest = np.linalg.svd(x.astype(np.complex128), compute_uv=False).min(axis=-1)
    error = np.abs(ghrr.unitarize(x) - reference.unitarize(x)).max(axis=(-1, -2))
    assert (error < 1e-5 + 1e-6 / smallest).all()


def test_zero_singular_and_nan_blocks(isa):
    x = codebook(1, blocks=20).array[0].copy()
    x[3] = 0
    x[4, :, 0] = x[4, :, 1]  # rank 3
    x[5, 0, 0] = np.nan
    x[6, 0, 0] = np.inf
    normal, polar = ghrr.normalize(x), ghrr.unitarize(x)
    for result in (normal, polar):
        assert not result[3].any()
        assert np.isnan(result[5]).all()
        assert np.isnan(result[6]).all()
        assert np.isfinite(np.delete(result, [5, 6], axis=0)).all()
    assert np.abs(polar[4] - reference.unitarize(x[4])).max() < 1e-5
    clean = np.delete(x, [5, 6], axis=0)
    expected = (len(clean) - 1) / len(clean)
    assert ghrr.similarity(clean, clean) == pytest.approx(expected, abs=1e-6)
    assert np.isnan(ghrr.similarity(x, x))


@given(hypervectors(2))
def test_similarity_matches_the_reference(x):
    a, b = x
    assert abs(ghrr.similarity(a, b) - reference.similarity(a, b)) < 1e-6
    assert ghrr.similarity(a, a) == pytest.approx(1, abs=1e-6)
    assert ghrr.similarity(a, b).dtype == np.float32


@pytest.mark.parametrize("power", [-60, -40, -20, 20, 40, 60])
def test_similarity_does_not_depend_on_scale(isa, power):
    x, y = codebook(2, blocks=21).array
    scaled = x * np.float32(2.0**power)
    assert ghrr.similarity(scaled, y) == pytest.approx(ghrr.similarity(x, y), abs=1e-6)
    assert ghrr.similarity(scaled, scaled) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda cb: ghrr.encode_paths(cb, [[0], [9]]), ValueError, "path 1 holds symbol 9"),
        (lambda cb: ghrr.encode_paths(cb, [0, 1]), TypeError, "Paths or a padded 2-D"),
        (lambda cb: ghrr.encode_paths(cb, [["a"]]), TypeError, "2-D and of integers"),
        (
            lambda cb: ghrr.encode_paths(cb, hh.Paths.from_lists([[0] * 1025])),
            ValueError,
            "path 0 has 1025 symbols, at most 1024",
        ),
        (lambda cb: ghrr.score_paths(cb, cb.array[0][:3], [[0]]), ValueError, "D = 8, m = 4, got"),
        (lambda cb: ghrr.top_paths(cb, cb.array[0], [[0]], -1), ValueError, "k must be at least 0"),
        (
            lambda cb: ghrr.bind(cb.array.astype(np.complex128), cb.array),
            TypeError,
            "bind: x must be complex64 .* got dtype complex128",
        ),
        (
            lambda cb: ghrr.unbind_right(cb.array, cb.planes),
            ValueError,
            "unbind_right: z and key must have the same layout",
        ),
        (lambda cb: ghrr.bind(cb.array[..., :3], cb.array), ValueError, r"\(..., D, m, m\)"),
        (
            lambda cb: ghrr.normalize(np.zeros((2, 17, 17), np.complex64)),
            ValueError,
            "m from 1 to 16",
        ),
        (lambda cb: ghrr.similarity(cb.array, 3.0), TypeError, "y must be complex64"),
        (lambda cb: ghrr.bind(cb.array, cb.array, threads=0), ValueError, "threads must be at"),
        (
            lambda cb: ghrr.bind(cb.array, cb.array, threads=1.5),
            TypeError,
            "threads must be an int",
        ),
        (
            lambda cb: ghrr.bind(cb.array, cb.array, out=np.zeros(3, np.complex64)),
            ValueError,
            "out must be writeable with shape",
        ),
        (
            lambda cb: ghrr.bind(cb.array, cb.array, out=np.zeros(cb.array.shape)),
            TypeError,
            "out must have dtype complex64, got float64",
        ),
    ],
)
def test_bad_arguments_get_one_clear_sentence(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call(codebook(3, blocks=8))
    assert "\n" not in str(caught.value)


# --- arrays of any kind ---------------------------------------------------------------------------


def strided(x, pattern):
    """An array equal to `x` with other strides."""
    if pattern == "fortran":
        return np.asfortranarray(x)
    if pattern == "reversed":
        return x[..., ::-1].copy()[..., ::-1]
    if pattern == "sliced":
        wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
        wide[..., ::2] = x
        return wide[..., ::2]
    if pattern == "offset":
        return np.concatenate([x[:1], x])[1:]
    view = x.view()
    view.flags.writeable = False
    return view


@pytest.mark.parametrize("pattern", ["fortran", "reversed", "sliced", "offset", "read-only"])
def test_any_strides_are_accepted(pattern):
    cb = codebook(4, blocks=18)
    x, y = cb.array[:2], cb.array[2:]
    sx, sy = strided(x, pattern), strided(y, pattern)
    assert np.array_equal(ghrr.bind(sx, sy), ghrr.bind(x, y))
    assert np.array_equal(ghrr.similarity(sx, sy), ghrr.similarity(x, y))
    assert np.array_equal(ghrr.normalize(sx), ghrr.normalize(x))
    assert np.array_equal(ghrr.bundle(sx), ghrr.bundle(x))
    assert np.array_equal(ghrr.score_paths(cb, sx, [[0, 1]]), ghrr.score_paths(cb, x, [[0, 1]]))


def test_out_is_filled_and_returned_even_where_it_is_strided_or_an_input():
    cb = codebook(3, blocks=18)
    x, y = cb.array[:2], cb.array[1:]
    expected = ghrr.bind(x, y)
    for out in (np.empty_like(expected), np.empty((4, 18, 4, 4), np.complex64)[::2]):
        assert ghrr.bind(x, y, out=out) is out
        assert np.array_equal(out, expected)
    aliased = x.copy()
    assert ghrr.bind(aliased, y, out=aliased) is aliased
    assert np.array_equal(aliased, expected)
    scores = np.empty(2, np.float32)
    assert ghrr.score_paths(cb, x[0], [[0], [1]], out=scores) is scores
    assert scores[0] == pytest.approx(1, abs=1e-5)


@pytest.mark.needs("torch")
def test_torch_tensors_in_torch_tensors_out():
    import torch

    cb = codebook(3, blocks=18)
    x, y = torch.from_numpy(cb.array[0].copy()), torch.from_numpy(cb.array[1].copy())
    z = ghrr.bind(x, y)
    assert isinstance(z, torch.Tensor)
    assert np.array_equal(z.numpy(), ghrr.bind(cb.array[0], cb.array[1]))
    assert np.array_equal(
        ghrr.bind(x.conj(), y).numpy(), ghrr.bind(cb.array[0].conj(), cb.array[1])
    )
    assert isinstance(ghrr.similarity(x, y), torch.Tensor)
    indices, scores = ghrr.top_paths(cb, x, [[0], [1]], 1)
    assert isinstance(indices, torch.Tensor)
    assert isinstance(scores, torch.Tensor)
    out = torch.empty(18, 4, 4, dtype=torch.complex64)
    assert ghrr.bind(x, y, out=out) is out
    assert torch.equal(out, z)
    with pytest.raises(TypeError, match=r"x requires grad.*hyperhop\.rsf"):
        ghrr.bind(x.requires_grad_(), y)
    with pytest.raises(TypeError, match="x is on meta"):
        ghrr.bind(torch.empty(18, 4, 4, dtype=torch.complex64, device="meta"), y)
    scores, ids = torch.tensor([1.0, 3.0, 3.0]), torch.tensor([1, 2])
    assert torch.equal(hh.topk(scores, 2)[0], ids)


def test_a_gpu_array_is_refused_by_name():
    class Device:
        @property
        def __cuda_array_interface__(self):
            return {"shape": (1,), "typestr": "<f4", "data": (0, False), "version": 3}

    with pytest.raises(TypeError, match="x is an array on a GPU"):
        ghrr.bind(Device(), Device())
