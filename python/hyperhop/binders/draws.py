"""Randomness by name, and the cosine that the flat operators share."""

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from hyperhop.binders.protocol import Array


def by_name(
    operator: str,
    names: Iterable[str],
    seed: int,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    draw: Callable[[np.random.Generator], Array],
) -> Array:
    """(R, *shape): row i drawn from a generator seeded by (operator, seed, name i) alone."""
    listed = list(names)
    rows = np.empty((len(listed), *shape), dtype)
    for row, name in zip(rows, listed, strict=True):
        text = f"{operator}\0{seed}\0{name}".encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(text, digest_size=16, person=b"hyperhop").digest()
        row[:] = draw(np.random.default_rng(int.from_bytes(digest, "little")))
    return rows


def cosine(x: Array, y: Array) -> Array:
    """Re <x, y> / (|x| |y|) over the last axis, sums in float64; 0 for a zero vector."""
    wide = np.complex128 if np.iscomplexobj(x) or np.iscomplexobj(y) else np.float64
    x, y = np.asarray(x, wide), np.asarray(y, wide)
    dots = np.einsum("...i,...i->...", x.conj(), y).real
    norms = np.linalg.norm(x, axis=-1) * np.linalg.norm(y, axis=-1)
    # A NaN norm is not 0: it stays and surfaces.
    cosines: Array = np.divide(dots, norms, out=np.zeros_like(dots), where=norms != 0)
    return cosines.astype(np.float32)
