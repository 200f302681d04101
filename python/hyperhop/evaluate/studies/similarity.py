"""Figure 5: how two hypervectors are compared."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop import ghrr
from hyperhop.evaluate.plots import Figure
from hyperhop.evaluate.studies.context import Asked, Context
from hyperhop.evaluate.studies.hypervectors import BLOCKS, QuestionTexts, make_codebook
from hyperhop.evaluate.studies.outcome import mean, outcome, shares
from hyperhop.evaluate.studies.study import Study
from hyperhop.evaluate.tables import Column, Table
from hyperhop.pathhd import encode_query
from hyperhop.pathhd.codebooks import CodebookKind
from hyperhop.pathhd.query import Planes

Scores = npt.NDArray[np.float32]

_SMALL_BLOCKS = 16  # d = 256: noise shows
_PLAN_QUERIES = {"best plan": 1, "bundle of 3": 3, "bundle of 10": 10}
_TEXT_CODEBOOKS: tuple[CodebookKind, ...] = ("random", "projected", "semantic")

_COLUMNS = (
    Column("query", "query"),
    Column("similarity", "similarity"),
    Column("d", "d", "d"),
    Column("hits_at_1", "hits@1", ".3f"),
    Column("path_hit_at_1", "path@1", ".3f"),
    Column("set_exact", "sets", ".3f"),
    Column("gap", "gap", ".3f"),
)


def run(context: Context) -> Study:
    """Four ways to compare the same query with the same paths.

    "blockwise" is eq. 4. "flat" is the cosine of the whole vectors, "product" the real inner
    product divided by D m, "absolute" eq. 4 with the modulus of each block's inner product in place
    of its real part. The paper's text does not say what its figure compares.

    Where all blocks of query and paths are unitary the first three are one number. They can differ
    only for bundles, whose blocks have different norms, and for eq. 2's projection.
    """
    queries = [*_plan_queries(context), *_text_queries(context)]
    rows = [row for query in context.track(queries) for row in _measure(context, *query)]
    notes = (
        "blockwise: eq. 4. flat: cosine of the whole vectors. product: not normalised. absolute: "
        "eq. 4 with the modulus of each block's product. Queries of plans: random codebook; text: "
        "eq. 2, or the semantic map, against the codebook named. gap: best less next, mean, in "
        "units of the best. A tie of n counts 1/n.",
    )
    title = f"Similarities on {context.title}"
    table = Table(title, _COLUMNS, rows, notes)
    figure = Figure(
        *(title, [row for row in rows if row["blocks"] == BLOCKS], "bars"),
        *("query", "path_hit_at_1", "query", "gold path first"),
        by="similarity",
    )
    return Study("similarity", "figure 5", context.about, table, figure)


Encode = Callable[[Asked], Planes]


def _plan_queries(context: Context) -> Iterator[tuple[str, ghrr.Codebook, Encode]]:
    for blocks in (BLOCKS, _SMALL_BLOCKS):
        codebook = make_codebook(context, "random", blocks)
        for label, count in _PLAN_QUERIES.items():
            yield label, codebook, partial(_bundle, codebook, count)


def _bundle(codebook: ghrr.Codebook, count: int, asked: Asked) -> Planes:
    return encode_query(codebook, asked.candidates, asked.plans, "bundle", count)


def _text_queries(context: Context) -> Iterator[tuple[str, ghrr.Codebook, Encode]]:
    for kind in _TEXT_CODEBOOKS:
        yield f"text, {kind}", make_codebook(context, kind), QuestionTexts(context, kind)


def _measure(
    context: Context, label: str, codebook: ghrr.Codebook, encode: Encode
) -> list[dict[str, Any]]:
    paths = ghrr.encode_paths(codebook, context.distinct, planes=True)
    outcomes: dict[str, list[Any]] = {}
    gaps: dict[str, list[float]] = {}
    for asked in context.asked:
        for name, scores in _similarities(encode(asked), paths[asked.rows]).items():
            outcomes.setdefault(name, []).append(outcome(context, asked, scores))
            if len(scores) > 1:
                second, best = np.partition(scores, len(scores) - 2)[-2:]
                gaps.setdefault(name, []).append(float((best - second) / max(abs(best), 1e-9)))
    return [
        {
            "query": label,
            "similarity": name,
            "blocks": codebook.blocks,
            "d": codebook.blocks * codebook.block_size**2,
            **shares(context, found),
            "gap": mean(gaps[name]) if name in gaps else None,
        }
        for name, found in outcomes.items()
    ]


def _similarities(query: Planes, paths: Planes) -> dict[str, Scores]:
    """(N,) scores of one query, planes (m, m, 2, D), with paths (N, m, m, 2, D), by name."""
    real = np.einsum("abcx,nabcx->nx", query, paths)
    turned = np.stack([-query[:, :, 1], query[:, :, 0]], axis=2)  # i times the query
    imaginary = np.einsum("abcx,nabcx->nx", turned, paths)
    query_norms = np.sqrt(np.einsum("abcx,abcx->x", query, query))
    path_norms = np.sqrt(np.einsum("nabcx,nabcx->nx", paths, paths))
    whole = np.linalg.norm(query_norms) * np.linalg.norm(path_norms, axis=1)
    size = query.shape[0] * query.shape[-1]
    return {
        "blockwise": ghrr.similarity(query, paths),
        "flat": _ratio(real.sum(axis=1), whole),
        "product": real.sum(axis=1) / size,
        "absolute": _ratio(np.hypot(real, imaginary), query_norms * path_norms).mean(axis=1),
    }


def _ratio(above: Scores, below: Scores) -> Scores:
    """0 where the norm below is."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
