"""Why a relation sequence scores as it does, by unbinding (PathHD section 2.2)."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hyperhop import ghrr
from hyperhop.evidence import Explanation, RelationFit
from hyperhop.pathhd.candidates import Candidates
from hyperhop.paths import Paths

Planes = npt.NDArray[np.float32]


def explain(
    codebook: ghrr.Codebook,
    query: Planes,
    candidates: Candidates,
    scores: npt.NDArray[np.float64],
    chosen: Sequence[int],
) -> list[Explanation]:
    """One explanation for each of the `chosen` candidates.

    `query` is the query hypervector, planes (m, m, 2, D), `scores` (N,) what the candidates were
    ranked by. O(chosen * length * (symbols that occur) * D m^2).
    """
    order = candidates.order(scores)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    explanations = []
    for index in chosen:
        after = place[index] + 1
        margin = float(scores[index] - scores[order[after]]) if after < len(order) else None
        path = candidates.paths[index].tolist()
        explanations.append(
            Explanation(
                margin,
                _swapped(codebook, query, path),
                _fits(codebook, query, path, candidates),
            )
        )
    return explanations


def _swapped(codebook: ghrr.Codebook, query: Planes, path: list[int]) -> float | None:
    """The best similarity of the path with two unlike neighbours exchanged; None without any."""
    swaps = [
        [*path[:i], path[i + 1], path[i], *path[i + 2 :]]
        for i in range(len(path) - 1)
        if path[i] != path[i + 1]
    ]
    if not swaps:
        return None
    return float(ghrr.score_paths(codebook, query, Paths.from_lists(swaps)).max())


def _fits(
    codebook: ghrr.Codebook, query: Planes, path: list[int], candidates: Candidates
) -> list[RelationFit]:
    """For each relation what is left of the query when all others are unbound from it."""
    symbols = candidates.symbols
    names = [candidates.names[symbol] for symbol in symbols]
    by_name = np.array(sorted(range(len(names)), key=names.__getitem__))
    blocks = codebook.rows(symbols)
    of_path = codebook.rows(np.array(path))
    fits = []
    for i, symbol in enumerate(path):
        left = query
        for before in of_path[:i]:
            left = ghrr.unbind_left(before, left)
        for later in of_path[:i:-1]:
            left = ghrr.unbind_right(left, later)
        similar = np.asarray(ghrr.similarity(left, blocks), np.float64)
        own = int(np.searchsorted(symbols, symbol))
        best = int(by_name[np.argmax(np.round(similar[by_name], 6))])  # the first name of equals
        fits.append(RelationFit(names[own], float(similar[own]), names[best], float(similar[best])))
    return fits
