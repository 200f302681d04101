"""Float64 references of the GHRR kernels, in plain NumPy on complex (..., D, m, m) arrays."""

import numpy as np


def bind(x, y):
    return np.asarray(x, np.complex128) @ np.asarray(y, np.complex128)


def adjoint(x):
    return np.asarray(x, np.complex128).conj().swapaxes(-1, -2)


def frobenius(x):
    return np.sqrt((np.abs(np.asarray(x, np.complex128)) ** 2).sum(axis=(-1, -2)))


def similarity(x, y):
    """Eq. 4, a zero block counting 0."""
    x, y = np.asarray(x, np.complex128), np.asarray(y, np.complex128)
    dots = (x.conj() * y).sum(axis=(-1, -2)).real
    norms = frobenius(x) * frobenius(y)
    return np.divide(dots, norms, out=np.zeros_like(dots), where=norms > 0).mean(axis=-1)


def encode(array, sequence):
    """Eq. 3 for one sequence of rows of `array` (R, D, m, m)."""
    result = np.broadcast_to(np.eye(array.shape[-1]), array.shape[1:]).astype(np.complex128)
    for symbol in sequence:
        result = result @ array[symbol].astype(np.complex128)
    return result


def normalize(x):
    norms = frobenius(x)[..., None, None]
    scale = np.sqrt(x.shape[-1])
    return np.divide(x * scale, norms, out=np.zeros(x.shape, np.complex128), where=norms > 0)


def unitarize(x):
    """Polar factor by the singular value decomposition, zero where the singular value is."""
    u, s, vh = np.linalg.svd(np.asarray(x, np.complex128))
    kept = s > 1e-6 * s.max(axis=-1, keepdims=True)
    return (u * kept[..., None, :]) @ vh


def topk(scores, k, largest=True):
    """Indices in the total order: better first, then lower index, NaN last."""
    key = np.where(np.isnan(scores), np.inf, -scores if largest else scores)
    order = sorted(range(len(scores)), key=lambda i: (np.isnan(scores[i]), key[i], i))
    return np.array(order[:k], np.int64)


def to_planes(array):
    """Complex (..., D, m, m) to planes float32 (..., m, m, 2, D)."""
    stacked = np.stack([array.real, array.imag], axis=-1)  # (..., D, m, m, 2)
    return np.ascontiguousarray(np.moveaxis(stacked, -4, -1), np.float32)


def from_planes(planes):
    moved = np.moveaxis(planes, -1, -4)  # (..., D, m, m, 2)
    return (moved[..., 0] + 1j * moved[..., 1]).astype(np.complex64)
