"""Table 12: how a question becomes a hypervector, by its plans or by its text."""

from time import perf_counter
from typing import Any, get_args

import numpy as np

from hyperhop import ghrr
from hyperhop.evaluate.plots import Figure
from hyperhop.evaluate.studies.context import Asked, Context
from hyperhop.evaluate.studies.hypervectors import BUNDLED, QuestionTexts, make_codebook
from hyperhop.evaluate.studies.outcome import mean, outcome, shares
from hyperhop.evaluate.studies.study import Study
from hyperhop.evaluate.tables import Column, Table
from hyperhop.pathhd import encode_query
from hyperhop.pathhd.codebooks import CodebookKind
from hyperhop.pathhd.query import Planes, QueryKind

_QUERIES: tuple[QueryKind, ...] = ("best", "bundle", "weighted", "mixture", "text")

_COLUMNS = (
    Column("query", "query"),
    Column("codebook", "codebook"),
    Column("hits_at_1", "hits@1", ".3f"),
    Column("path_hit_at_1", "path@1", ".3f"),
    Column("path_hit_at_3", "path@3", ".3f"),
    Column("set_exact", "sets", ".3f"),
    Column("milliseconds", "ms", ".2f"),
)


def run(context: Context) -> Study:
    """Every query of PathHD against every codebook of PathHD, the same candidates for all.

    A codebook of texts needs an encoder that says something about relation names. The last row
    draws from all candidates alike: what a query at chance comes to.
    """
    settings = [(query, kind) for query in _QUERIES for kind in get_args(CodebookKind)]
    rows = [_measure(context, query, kind) for query, kind in context.track(settings)]
    rows.append(_chance(context))
    notes = (
        f"best: one plan; bundle, weighted, mixture: of the {BUNDLED} best; text: no plan, eq. 2 "
        "(random, projected codebook) or the semantic map. Codebooks semantic and projected are "
        "made of the relations' texts. ms: median to encode and score. A tie of n counts 1/n in "
        "all but path@3.",
    )
    title = f"Query encoding on {context.title}"
    table = Table(title, _COLUMNS, rows, notes)
    figure = Figure(
        *(title, rows[:-1], "bars", "query", "path_hit_at_1", "query", "gold path first"),
        by="codebook",
    )
    return Study("query-encoding", "table 12", context.about, table, figure)


def _measure(context: Context, query: QueryKind, kind: CodebookKind) -> dict[str, Any]:
    codebook = make_codebook(context, kind)
    texts = QuestionTexts(context, kind) if query == "text" else None

    def encode(asked: Asked) -> Planes:
        if texts is not None:
            return texts(asked)
        return encode_query(codebook, asked.candidates, asked.plans, query, BUNDLED)

    outcomes, third, times = [], [], []
    for asked in context.asked:
        start = perf_counter()
        scores = ghrr.score_paths(codebook, encode(asked), asked.candidates.paths)
        times.append(1e3 * (perf_counter() - start))
        outcomes.append(outcome(context, asked, scores))
        first = asked.candidates.order(scores)[:3].tolist()
        names = {tuple(asked.candidates.relations(index)) for index in first}
        third.append(float(not asked.question.paths.isdisjoint(names)))
    return {
        "query": query,
        "codebook": kind,
        **shares(context, outcomes),
        "path_hit_at_3": mean([*third, *[0.0] * context.unanswerable]),
        "milliseconds": float(np.median(times)),
    }


def _chance(context: Context) -> dict[str, Any]:
    outcomes = [outcome(context, one, np.zeros(len(one.candidates))) for one in context.asked]
    return {"query": "chance", "codebook": "any", **shares(context, outcomes)}
