"""Figure 4: how many numbers a hypervector has."""

from time import perf_counter
from typing import Any

import numpy as np

from hyperhop import ghrr
from hyperhop.evaluate.plots import Figure
from hyperhop.evaluate.studies.context import Context
from hyperhop.evaluate.studies.hypervectors import BUNDLED, plan_scores
from hyperhop.evaluate.studies.outcome import mean, outcome, shares
from hyperhop.evaluate.studies.study import Study
from hyperhop.evaluate.tables import Column, Table

_DIMENSIONS = (512, 1024, 2048, 3072, 4096, 6144, 8192)
_BLOCK_SIZES = (1, 2, 4)
_CROWDED = 10

_COLUMNS = (
    Column("block_size", "m", "d"),
    Column("d", "d", "d"),
    Column("hits_at_1", "hits@1", ".3f"),
    Column("path_hit_at_1", "path@1", ".3f"),
    Column("set_exact", "sets", ".3f"),
    Column("crowded", "of 10", ".3f"),
    Column("gap", "gap", ".3f"),
    Column("milliseconds", "ms", ".3f"),
    Column("codebook_megabytes", "MB", ".2f"),
)


def run(context: Context) -> Study:
    """PathHD's own kernels and query (a bundle of 3 plans) for each d and block size m.

    "gap" is the mean difference between the best candidate and the next one; "ms" the median time
    to encode the query and to score all candidates of one question. Three plans hardly disturb each
    other at any d; "of 10" is path@1 of a bundle of ten, where the noise of a small d shows.
    """
    settings = [(m, d) for m in _BLOCK_SIZES for d in _DIMENSIONS]
    rows = [_measure(context, m, d) for m, d in context.track(settings)]
    notes = (
        f"Query: the {BUNDLED} best plans bundled; of {_CROWDED}: path@1 of the {_CROWDED} best. "
        "gap: best less next similarity, mean. ms: median to encode the query and score all "
        "candidates. MB: codebook. D = d/m^2; m = 1 commutes. A tie of n counts 1/n.",
    )
    title = f"Dimension on {context.title}"
    table = Table(title, _COLUMNS, rows, notes)
    figure = Figure(
        *(title, rows, "lines", "d", "crowded", "d, complex numbers in a hypervector"),
        f"gold path first, {_CROWDED} plans bundled",
        by="block_size",
        log_x=True,
    )
    return Study("dimension", "figure 4", context.about, table, figure)


def _measure(context: Context, m: int, d: int) -> dict[str, Any]:
    codebook = ghrr.Codebook(context.graph.symbols, d // m**2, m)
    outcomes, crowded, times, gaps = [], [], [], []
    for asked in context.asked:
        start = perf_counter()
        scores = plan_scores(codebook, asked)
        times.append(1e3 * (perf_counter() - start))
        outcomes.append(outcome(context, asked, scores))
        crowded.append(outcome(context, asked, plan_scores(codebook, asked, _CROWDED)))
        if len(scores) > 1:
            second, best = np.partition(scores, len(scores) - 2)[-2:]
            gaps.append(best - second)
    return {
        "block_size": m,
        "d": d,
        **shares(context, outcomes),
        "crowded": shares(context, crowded)["path_hit_at_1"],
        "gap": mean(gaps) if gaps else None,
        "milliseconds": float(np.median(times)),
        "codebook_megabytes": codebook.planes.nbytes / 1e6,
    }
