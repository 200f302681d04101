"""Errors against float64 are at most twice those of the same computation in NumPy's complex64."""

import numpy as np
import pytest

import hyperhop as hh
import reference
from hyperhop import ghrr


def rms(error):
    return float(np.sqrt(np.mean(np.abs(error) ** 2)))


def hypervectors(rng, count, d, m):
    parts = rng.normal(size=(2, count, d, m, m))
    return (parts[0] + 1j * parts[1]).astype(np.complex64)


@pytest.fixture(params=[2, 3, 4, 8, 11])
def m(request):
    return request.param


def naive_similarity(x, y):
    """Eq. 4 with every operation in float32."""
    dots = (x.conj() * y).sum(axis=(-1, -2)).real
    norms = np.sqrt((np.abs(x) ** 2).sum(axis=(-1, -2))) * np.sqrt(
        (np.abs(y) ** 2).sum(axis=(-1, -2))
    )
    return (dots / norms).mean(axis=-1)


def test_products(isa, m):
    x, y = hypervectors(np.random.default_rng(m), 2, 100, m)
    cases = [
        (ghrr.bind(x, y), x @ y, reference.bind(x, y)),
        (
            ghrr.unbind_left(x, y),
            x.conj().swapaxes(-1, -2) @ y,
            reference.bind(reference.adjoint(x), y),
        ),
        (
            ghrr.unbind_right(x, y),
            x @ y.conj().swapaxes(-1, -2),
            reference.bind(x, reference.adjoint(y)),
        ),
    ]
    for ours, naive, exact in cases:
        assert rms(ours - exact) <= 2 * rms(naive - exact)


def test_paths(isa, m):
    cb = ghrr.Codebook([f"r{i}" for i in range(20)], blocks=100, block_size=m)
    rng = np.random.default_rng(m)
    table = rng.integers(0, 20, (200, 4))
    array = cb.array
    naive = array[table[:, 0]]
    for column in table.T[1:]:
        naive = naive @ array[column]
    exact = np.stack([reference.encode(array, sequence) for sequence in table])
    encoded = ghrr.encode_paths(cb, table)
    assert rms(encoded - exact) <= 2 * rms(naive - exact)

    query = ghrr.normalize(ghrr.bundle(exact[:5].astype(np.complex64), [5, 4, 3, 2, 1]))
    expected = reference.similarity(query, exact)
    allowed = 2 * rms(naive_similarity(query[None], naive) - expected)
    assert rms(ghrr.score_paths(cb, query, table) - expected) <= allowed
    assert rms(ghrr.PathIndex(cb, hh.Paths.from_padded(table)).scores(query) - expected) <= allowed
    general = ghrr.Codebook.from_blocks(cb.names, array * np.float32(1.5))
    assert not general.unitary
    assert rms(ghrr.score_paths(general, query, table) - expected) <= allowed


def test_similarity(isa, m):
    x = hypervectors(np.random.default_rng(m), 300, 100, m)
    y = x[::-1] + np.float32(0.5) * x
    exact = reference.similarity(x, y)
    allowed = 2 * rms(naive_similarity(x, y) - exact)
    assert rms(ghrr.similarity(x, y) - exact) <= allowed
    assert rms(np.diagonal(ghrr.pairwise(x, y)) - exact) <= allowed


def test_normalize_and_bundle(isa, m):
    x = hypervectors(np.random.default_rng(m), 30, 100, m)
    scale = np.sqrt(np.float32(m)) / np.sqrt((np.abs(x) ** 2).sum(axis=(-1, -2)))
    exact = reference.normalize(x)
    naive = x * scale[..., None, None]
    assert rms(ghrr.normalize(x) - exact) <= 2 * rms(naive - exact)
    weights = np.linspace(0.1, 1, 30, dtype=np.float32)
    exact = np.einsum("k,kdij->dij", weights.astype(np.float64), x.astype(np.complex128))
    naive = (weights[:, None, None, None] * x).sum(axis=0)
    assert rms(ghrr.bundle(x, weights) - exact) <= 2 * rms(naive - exact)
