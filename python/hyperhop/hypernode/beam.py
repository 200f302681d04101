"""Composition scores of HyperNodes, and one step of beam search by them."""

from typing import Any

from hyperhop import _core
from hyperhop._arrays import output, restorer, threads_argument
from hyperhop.hypernode._inputs import (
    adjacency_of,
    beam_offsets,
    embedding_rows,
    hypernode_rows,
    query_rows,
)
from hyperhop.hypernode.index import TripleIndex


def beam_step(
    index: TripleIndex,
    hypernodes: Any,
    triple_embeddings: Any,
    queries: Any,
    k: int,
    offsets: Any = None,
    keep_parents: bool = False,
    *,
    threads: int | None = None,
) -> Any:
    """The k candidates of one step that are most similar to the query.

    What `expand` makes, ranked by what `score` gives, without storing either: cosine descending, a
    NaN after every number, then canonical order. The same bits for any number of threads, and for
    a query alone or among others.

    Args:
        index, hypernodes, keep_parents, offsets: as in `expand`.
        triple_embeddings: float32 or float16 (T, d), a row for each triple of the index. Copied
            where it is not contiguous.
        queries: floats (d,) or (1, d) for one query; (Q, d) with `offsets`.
        k: how many for each query; fewer where there are fewer candidates.
        threads: None for the default.

    Returns:
        (HyperNodes int64 (M, n + 1), cosines float32 (M,)), best first; with `offsets` also
        int64 (Q + 1,) where each query's rows start.

    Raises:
        TypeError: for a dtype. ValueError: for a shape, k < 0, ids that are no triples or come
            twice in a row, offsets that do not ascend.

    O(C n d) time at most for C candidates of HyperNodes of n triples; each place where triples
    meet HyperNodes reads its rows once. Memory: O(k + B n) a query beside the inputs (with float16
    embeddings, O(B n d)), whatever the number of candidates.
    """
    name = "beam_step"
    rows = hypernode_rows(hypernodes, name)
    starts = beam_offsets(offsets, len(rows), name)
    embeddings = embedding_rows(triple_embeddings, index, name)
    result = _core.beam_step(
        adjacency_of(index, name),
        rows,
        embeddings,
        query_rows(queries, len(starts) - 1, embeddings.shape[1], offsets is None, name),
        starts,
        k,
        bool(keep_parents),
        threads_argument(threads, name),
    )
    restore = restorer(hypernodes, triple_embeddings, queries)
    best = tuple(restore(array) for array in result)
    return best[:2] if offsets is None else best


def score(
    index: TripleIndex,
    hypernodes: Any,
    triple_embeddings: Any,
    queries: Any,
    offsets: Any = None,
    *,
    threads: int | None = None,
    out: Any = None,
) -> Any:
    """The cosine of each HyperNode with its query, by composition: no encoder is called.

        score(H) = q . s / (|q| |s|),  s = the sum of the embeddings of H's triples

    A sum or query of zeros scores 0, and so does an empty HyperNode; a NaN surfaces. The score of a
    set depends on its triples and the query alone: not on their order, on other rows, on `threads`.

    Args:
        index, hypernodes, triple_embeddings, queries, offsets, threads: as in `beam_step`.
        out: float32 (B,), receives the result.

    Returns:
        float32 (B,), in -1..1.

    Raises TypeError and ValueError as `beam_step`.

    It is computed from dot products of the rows (float32) that are added in canonical order in
    float64, and within 1e-5 of the exact cosine for up to 4,096 numbers a row and 4 triples. Where
    the rows cancel each other or their sizes leave float32's range, the sum itself is made, in
    float64. O(B n (n + 1) d) time.
    """
    name = "score"
    rows = hypernode_rows(hypernodes, name)
    starts = beam_offsets(offsets, len(rows), name)
    embeddings = embedding_rows(triple_embeddings, index, name)
    result = _core.score(
        adjacency_of(index, name),
        rows,
        embeddings,
        query_rows(queries, len(starts) - 1, embeddings.shape[1], offsets is None, name),
        starts,
        output(out, name),
        threads_argument(threads, name),
    )
    return out if out is not None else restorer(hypernodes, triple_embeddings, queries)(result)
