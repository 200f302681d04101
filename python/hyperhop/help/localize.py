"""Evidence localisation: from HyperNodes to the passages that state their triples (HELP, eq. 4)."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperhop.help.index import Sources

Ids = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Localized(NamedTuple):
    """Passages that a HyperNode leads to, by score, best first; equal ones by rank."""

    passages: Ids
    scores: Floats


def distances(vectors: Floats, query: Floats) -> Floats:
    """Euclidean distance of unit rows (n, d) from a unit query (d,), taken from the difference.

    (sqrt(2 - 2 cos) loses half the digits of a small one.) A zero vector has cosine 0 with
    everything, so its distance is sqrt(2). O(n d).
    """
    apart = np.sqrt(np.square(vectors - query).sum(axis=1))
    blank = ~vectors.any(axis=1) | (not query.any())
    found: Floats = np.where(blank, np.sqrt(2.0), apart)
    return found


def localize(
    sources: Sources,
    weights: npt.NDArray[np.float32],
    ranks: Ids,
    hypernodes: Ids,
    distances: Floats,
) -> Localized:
    """Score(p) = sum over HyperNodes H and their triples of [p states it] e^-dist(H) w, in float64.

    Args:
        sources: which passages state a triple.
        weights: float32, w of each entry of `sources.passages`.
        ranks: int64 (P,), what ties are broken by.
        hypernodes: int64 (n, levels), padded with -1.
        distances: (n,), without NaN.

    Sums go HyperNode by HyperNode, in their order. O(m log m) for m entries met.
    """
    real = hypernodes >= 0
    triples = hypernodes[real]
    near = np.repeat(np.exp(-distances), real.sum(axis=1))
    starts = sources.offsets[triples]
    counts = sources.offsets[triples + 1] - starts
    places = np.repeat(starts - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
    terms = np.repeat(near, counts) * weights[places]
    passages, found = np.unique(sources.passages[places], return_inverse=True)
    scores = np.asarray(np.bincount(found, terms, len(passages)), np.float64)
    return ranked(passages, scores, ranks)


def ranked(passages: Ids, scores: Floats, ranks: Ids) -> Localized:
    """Passages by score, best first; equal ones by rank."""
    order = np.lexsort((ranks[passages], -scores))
    return Localized(passages[order], scores[order])
