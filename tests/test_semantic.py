"""Semantic codebooks: unitary blocks that follow the embeddings of their symbols."""

import pickle

import numpy as np
import pytest

import reference
from hyperhop import _core, ghrr

MAPS = ["exp", "cayley"]


def hermitian(shape, size=1.0, seed=0):
    """Random Hermitian blocks (..., m, m, D) in the packing of the kernel, and unpacked."""
    packed = (size * np.random.default_rng(seed).normal(size=shape)).astype(np.float32)
    upper = np.triu(np.ones(shape[-3:-1], bool), 1)[..., None]
    swapped = np.swapaxes(packed, -3, -2)
    re = np.where(upper, packed, swapped)
    im = np.where(upper, swapped, -packed)
    diagonal = np.eye(shape[-2], dtype=bool)[..., None]
    re, im = np.where(diagonal, packed, re), np.where(diagonal, 0, im)
    return packed, np.moveaxis(re.astype(np.float64) + 1j * im, -1, -3)


def mapped(matrix, name):
    """The same function by eigenvalues, in float64."""
    values, vectors = np.linalg.eigh(matrix)
    phases = np.exp(1j * values) if name == "exp" else (1 + 1j * values) / (1 - 1j * values)
    return (vectors * phases[..., None, :]) @ reference.adjoint(vectors)


def at_cosine(cosine, count, dim=64):
    """Pairs of unit vectors at this cosine, one row below the other."""
    rng = np.random.default_rng(7)
    pairs = np.empty((2 * count, dim))
    for i in range(count):
        x, y = np.linalg.qr(rng.normal(size=(dim, 2)))[0].T
        pairs[2 * i], pairs[2 * i + 1] = x, cosine * x + np.sqrt(1 - cosine**2) * y
    return pairs.astype(np.float32)


def semantic(embeddings, **options):
    return ghrr.Codebook.from_embeddings(
        [f"r{i}" for i in range(len(embeddings))], embeddings, **options
    )


# --- the kernel -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize(("m", "d"), [(1, 5), (2, 16), (3, 17), (4, 33), (5, 8), (8, 9), (16, 3)])
@pytest.mark.parametrize("size", [0.0, 1e-6, 0.1, 1.0, 30.0])
def test_unitary_map_matches_the_eigenvalues(isa, name, m, d, size):
    packed, matrix = hermitian((2, m, m, d), size)
    unitary = reference.from_planes(_core.unitary_map(packed, name, None, 1))
    norm = reference.frobenius(matrix).max()
    assert np.abs(unitary - mapped(matrix, name)).max() <= 2e-7 + 1e-10 * norm
    assert np.abs(reference.adjoint(unitary) @ unitary - np.eye(m)).max() < 1e-5


@pytest.mark.parametrize("name", MAPS)
def test_bits_do_not_depend_on_isa_threads_or_neighbours(name):
    packed, _ = hermitian((9, 4, 4, 37))
    packed[3] *= 50  # many more squarings than its neighbours
    packed[:, :, :, 5] *= 20
    before, planes = _core.isa(), []
    for isa in _core.isas():
        _core.select_isa(isa)
        planes.append(_core.unitary_map(packed, name, None, 1))
    _core.select_isa(before)
    for other in planes[1:]:
        assert planes[0].tobytes() == other.tobytes()
    assert np.array_equal(planes[0], _core.unitary_map(packed, name, None, 2))
    alone = _core.unitary_map(np.ascontiguousarray(packed[3:4, ..., :6]), name, None, 1)
    assert np.array_equal(alone[0], planes[0][3][..., :6])


@pytest.mark.parametrize("name", MAPS)
def test_a_nan_or_infinity_keeps_to_its_block(isa, name):
    packed, _ = hermitian((1, 4, 4, 20))
    clean = _core.unitary_map(packed, name, None, 1)
    packed[0, 1, 2, 3], packed[0, 0, 0, 9] = np.nan, np.inf
    planes = _core.unitary_map(packed, name, None, 1)
    assert np.isnan(planes[..., [3, 9]]).any(axis=(0, 1, 2, 3)).all()
    rest = [b for b in range(20) if b not in (3, 9)]
    assert np.array_equal(planes[..., rest], clean[..., rest])


# --- the codebook ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("m", [1, 2, 3, 4, 8])
def test_blocks_are_unitary(isa, name, m):
    cb = semantic(np.random.default_rng(0).normal(size=(5, 24)), map=name, block_size=m, blocks=37)
    assert cb.planes.shape == (5, m, m, 2, 37)
    assert np.abs(reference.adjoint(cb.array) @ cb.array - np.eye(m)).max() < 1e-5


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("m", [2, 4, 8])
def test_similarity_falls_as_embeddings_move_apart(isa, name, m):
    cosines = [1.0, 0.95, 0.9, 0.8, 0.6, 0.4, 0.2, 0.0]
    means = []
    for cosine in cosines:
        cb = semantic(at_cosine(cosine, 8), map=name, block_size=m, blocks=1024 // m**2)
        x, y = cb.array[::2], cb.array[1::2]
        means.append(ghrr.similarity(x, y).mean())
    assert means[0] == pytest.approx(1, abs=1e-5)
    assert (np.diff(means) < -0.01).all()


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("m", [2, 3, 4, 8, 16])
def test_unrelated_symbols_score_near_zero(name, m):
    cb = semantic(np.eye(24, dtype=np.float32), map=name, block_size=m, blocks=4096 // m**2)
    scores = ghrr.pairwise(cb.array, cb.array)[~np.eye(24, dtype=bool)]
    assert abs(scores.mean()) < 0.01
    assert np.abs(scores).max() < 0.1


def test_the_scale_decides_what_is_left_between_unrelated_symbols():
    eye = np.eye(24, dtype=np.float32)
    cb = semantic(eye, map="cayley", scale=2.0)
    scores = ghrr.pairwise(cb.array, cb.array)[~np.eye(24, dtype=bool)]
    assert scores.mean() == pytest.approx(0.32, abs=0.02)


# E sim(ab, ba) of independent symbols at m = 4, from a million random blocks in float64.
@pytest.mark.parametrize(("name", "two", "three"), [("exp", 0.09, 0.065), ("cayley", 0.05, 0.065)])
def test_order_is_kept(isa, name, two, three):
    cb = semantic(np.eye(18, dtype=np.float32), map=name, blocks=128)
    a, b, c = (list(range(i, 18, 3)) for i in range(3))
    for forward, expected in ((np.array([a, b]), two), (np.array([a, b, c]), three)):
        x = ghrr.encode_paths(cb, forward.T)
        y = ghrr.encode_paths(cb, forward[::-1].T)
        assert ghrr.similarity(x, y).mean() == pytest.approx(expected, abs=0.03)
        assert np.array_equal(ghrr.score_paths(cb, x, forward.T).argmax(axis=1), np.arange(6))


def test_a_row_depends_on_its_embedding_and_the_options_alone():
    rows = np.random.default_rng(2).normal(size=(5, 32)).astype(np.float32)
    cb = semantic(rows, blocks=40)
    assert (
        np.abs(semantic(3 * rows[2:3], blocks=64).planes[0, ..., :40] - cb.planes[2]).max() < 1e-5
    )
    again = ghrr.Codebook.from_embeddings("edcba", rows.astype(np.float64), 40, threads=2)
    assert np.abs(again.planes - cb.planes).max() < 1e-5
    for options in ({"seed": 1}, {"map": "cayley"}, {"scale": 0.5}):
        assert np.abs(semantic(rows, blocks=40, **options).planes - cb.planes).max() > 0.1


# Written down once: the first draws of the random map are part of every stored index.
def test_the_random_map_is_pinned():
    cb = ghrr.Codebook.from_embeddings(["a"], [[1.0, 0.0]], blocks=2, block_size=2, seed=7)
    expected = [
        [[0.31735075, 0.08397367], [0.83530337, 0.44102746]],
        [[0.9430523, 0.05375218], [-0.31511927, -0.09199411]],
    ]
    assert np.abs(cb.planes[0, ..., 0] - expected).max() < 1e-5


def test_it_is_a_codebook_like_any_other():
    rows = np.random.default_rng(3).normal(size=(4, 16)).astype(np.float32)
    cb = ghrr.Codebook.from_embeddings(["a", "b", "c", "d"], rows, blocks=20, seed=5)
    assert (len(cb), cb.id("c"), cb.family, cb.seed) == (4, 2, "semantic-exp", 5)
    assert "family='semantic-exp'" in repr(cb)
    copy = pickle.loads(pickle.dumps(cb))
    assert np.array_equal(copy.planes, cb.planes)
    assert (copy.names, repr(copy)) == (cb.names, repr(cb))
    query = ghrr.encode_paths(cb, [[1, 2]])[0]
    assert ghrr.top_paths(cb, query, [[2, 1], [1, 2]], 1)[0].tolist() == [1]
    half = ghrr.Codebook.from_embeddings(["a", "b", "c", "d"], rows, 20, seed=5, storage="float16")
    assert np.array_equal(half.planes, cb.planes.astype(np.float16))
    assert ghrr.Codebook.from_embeddings([], np.empty((0, 3))).planes.shape == (0, 4, 4, 2, 256)


@pytest.mark.needs("torch")
def test_embeddings_may_be_a_tensor():
    import torch

    rows = np.random.default_rng(3).normal(size=(4, 16)).astype(np.float32)
    assert np.array_equal(semantic(torch.from_numpy(rows)).planes, semantic(rows).planes)


@pytest.mark.needs("text")
def test_meaning_decides_with_a_real_encoder():
    from hyperhop.text import WordLlamaEncoder

    names = ["place of birth", "born in", "spouse", "official currency"]
    cb = ghrr.Codebook.from_embeddings(names, WordLlamaEncoder().encode(names))
    scores = ghrr.pairwise(cb.array, cb.array)
    assert scores[0, 1] > scores[0, 2] + 0.05
    assert scores[0, 1] > scores[0, 3] + 0.05


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"embeddings": np.eye(2, dtype=np.int64)}, TypeError, "must be floats, got dtype int64"),
        ({"embeddings": np.eye(3)}, ValueError, r"shape \(2, dim\), one row a name, got \(3, 3\)"),
        ({"embeddings": np.zeros(2)}, ValueError, r"shape \(2, dim\)"),
        ({"embeddings": np.empty((2, 0))}, ValueError, r"shape \(2, dim\)"),
        (
            {"embeddings": [[1.0, 0], [0, 0]]},
            ValueError,
            r"not zero, got norm 0.0 in row 1 \('b'\)",
        ),
        ({"embeddings": [[np.nan, 0], [1, 0]]}, ValueError, r"got norm nan in row 0 \('a'\)"),
        ({"map": "log"}, ValueError, "map must be 'exp' or 'cayley', got 'log'"),
        ({"scale": 0.0}, ValueError, "scale must be above 0, at most 1000, got 0.0"),
        ({"scale": np.nan}, ValueError, "scale must be above 0"),
        ({"block_size": 17}, ValueError, "block_size must be 1 to 16, got 17"),
        ({"blocks": 0}, ValueError, "blocks must be 1 or more, got 0"),
        ({"names": "aa"}, ValueError, "names must be distinct, got 'a' twice"),
        ({"storage": "int8"}, ValueError, "storage must be 'float32' or 'float16'"),
        ({"threads": 0}, ValueError, "threads must be at least 1"),
    ],
)
def test_bad_arguments_get_one_clear_sentence(change, error, message):
    given = {"names": "ab", "embeddings": np.eye(2), "blocks": 4} | change
    with pytest.raises(error, match=message) as caught:
        ghrr.Codebook.from_embeddings(**given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("shape", "name", "message"),
    [
        ((2, 3, 4, 5), "exp", r"hermitian must be \(R, m, m, D\)"),
        ((2, 17, 17, 5), "exp", "m 1 to 16"),
        ((2, 3, 3, 5), "sin", "map must be exp or cayley, got 'sin'"),
    ],
)
def test_the_kernel_refuses_what_it_cannot_read(shape, name, message):
    with pytest.raises(ValueError, match=message):
        _core.unitary_map(np.zeros(shape, np.float32), name, None, 1)
