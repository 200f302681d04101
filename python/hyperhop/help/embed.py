"""Rows for the texts of an index: those there are already are copied, the others encoded."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop.text import TextEncoder, encode_all
from hyperhop.text.batches import Progress

_BATCH = 1024  # texts in memory at a time
_log = logging.getLogger(__name__)

Rows = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Known:
    """Rows of an older index: int64 (n,) `places` of texts there, -1 for new ones."""

    places: npt.NDArray[np.int64]
    rows: Rows


@dataclass(frozen=True, eq=False)
class Wanted:
    """Texts that need rows.

    Attributes:
        what: they are, in the plural.
        count: how many there are.
        text: the text at a place; asked for a batch at a time.
        known: rows of some of them.
    """

    what: str
    count: int
    text: Callable[[int], str]
    known: Known | None = None


def embed(
    encoder: TextEncoder, wanted: Sequence[Wanted], dtype: str, progress: Progress | None
) -> list[Rows]:
    """One array (n, dim) of `dtype` for each of `wanted`.

    A row with a number that is not finite becomes NaN throughout, which is logged. `progress` is
    told (texts encoded, in all). Memory beside the results: one batch.
    """
    new = [_new(one) for one in wanted]
    total, done = sum(map(len, new)), 0
    results = []
    if progress is not None:
        progress(0, total)
    for one, places in zip(wanted, new, strict=True):
        rows = np.empty((one.count, encoder.dim), dtype)
        if one.known is not None:
            kept = one.known.places >= 0
            rows[kept] = one.known.rows[one.known.places[kept]]
        bad = 0
        for start in range(0, len(places), _BATCH):
            batch = places[start : start + _BATCH]
            encoded = encode_all(encoder, [one.text(place) for place in batch])
            unusable = ~np.isfinite(encoded).all(axis=1)
            encoded[unusable] = np.nan
            bad += int(unusable.sum())
            rows[batch] = encoded
            done += len(batch)
            if progress is not None:
                progress(done, total)
        if bad:
            _log.warning("%s gave NaN or infinity for %d %s", encoder.name, bad, one.what)
        results.append(rows)
    return results


def _new(wanted: Wanted) -> npt.NDArray[np.int64]:
    if wanted.known is None:
        return np.arange(wanted.count)
    return np.flatnonzero(wanted.known.places < 0)
