"""The hybrid quota: some passages by HyperNodes, the others by their own embedding."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperhop.help.dense import Nearest
from hyperhop.help.localize import Localized


class Chosen(NamedTuple):
    """Passages to show, in order: the first `by_path` of them by HyperNodes."""

    passages: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]
    by_path: int


def choose(localized: Localized, dense: Nearest, quota: int, count: int) -> Chosen:
    """At most `quota` passages of `localized`, then those of `dense` that are not among them.

    `count` in all, and none twice: `dense` holds the `count` nearest passages, or all there are,
    so that what HyperNodes do not fill is filled. O(count squared).
    """
    by_path = min(quota, count, len(localized.passages))
    first = localized.passages[:by_path]
    fresh = np.flatnonzero(~np.isin(dense.rows, first))[: count - by_path]
    return Chosen(
        np.concatenate([first, dense.rows[fresh]]),
        np.concatenate([localized.scores[:by_path], dense.scores[fresh]]),
        by_path,
    )
