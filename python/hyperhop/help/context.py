"""Triples in the light of the passages that state them (beyond the paper)."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop.help.index import PassageIndex

_BLOCK = 4096  # triples at a time


def contextual_rows(
    index: PassageIndex, context: float, ranks: npt.NDArray[np.int64]
) -> npt.NDArray[Any]:
    """Unit rows of the triples, each drawn towards its passages; of the index's dtype.

    unit(e + context unit(mean of p)), where e is the triple's row and p are those of its passages.
    A passage whose row is not finite counts as zero. Sums go by `ranks` of the passages, so that
    their order in the corpus does not matter. O(entries of `index.sources` x dim) time; one array
    as large as the index's.
    """
    rows, sources = index.triple_embeddings, index.sources
    entries = np.repeat(np.arange(len(rows)), np.diff(sources.offsets))
    passages = sources.passages[np.lexsort((ranks[sources.passages], entries))]
    out = np.empty_like(rows)
    for start in range(0, len(rows), _BLOCK):
        stop = min(start + _BLOCK, len(rows))
        first, last = sources.offsets[start], sources.offsets[stop]
        around = np.nan_to_num(index.passage_embeddings[passages[first:last]].astype(np.float64))
        total = np.add.reduceat(around, sources.offsets[start:stop] - first, axis=0)
        out[start:stop] = unit(rows[start:stop] + context * unit(total))
    return out


def unit(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Rows scaled to unit length; zero rows stay."""
    norms = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
    scaled: npt.NDArray[np.float64] = np.divide(
        vectors, norms, out=np.zeros_like(vectors), where=norms != 0
    )
    return scaled
