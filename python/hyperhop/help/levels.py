"""Iterative HyperNode expansion (HELP, algorithm 1)."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hyperhop.help.scorers import Beam, Scorer, Spent, joined


def expand_levels(
    scorer: Scorer,
    seeds: Sequence[npt.NDArray[np.int64]],
    queries: npt.NDArray[np.float32],
    levels: int,
    k: int,
    keep_parents: bool,
    threads: int | None,
) -> tuple[Beam, list[Spent]]:
    """The last beam of each question, and what scoring it took.

    Level 1 are the seeds (triple ids, best first); every further level adds one triple to each
    HyperNode and keeps the k best. So a HyperNode has at most `levels` triples.
    """
    beam = joined([found[:, None] for found in seeds], 1)
    spent = [Spent()] * len(queries)
    for _ in range(1, levels):
        beam, took = scorer.step(beam, queries, k, keep_parents, threads)
        spent = [before.plus(more) for before, more in zip(spent, took, strict=True)]
    return beam, spent
