"""Rows in a quarter of their size, to tell quickly which of them may be near a query."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._core import code_rows, near_rows

_INT16 = 32_767
_MOST = 2**31 - 1  # of |codes| |query|, so that a product is a 32-bit number
_LARGEST_CODE = 127


class RowCodes:
    """Each number of a row as a whole number of -127..127, with a bound on what that loses."""

    def __init__(self, rows: npt.NDArray[np.floating[Any]]) -> None:
        """Codes for float32 or float16 rows (n, d), of unit length or zero. O(n d)."""
        self._codes, self._scales, self._errors = code_rows(rows, 0)

    def candidates(
        self,
        queries: npt.NDArray[np.float32],
        k: int,
        threads: int,
        extra: npt.NDArray[np.float64] | None = None,
    ) -> list[npt.NDArray[np.int64]]:
        """Rows among which each query's k of largest score are, ascending; unit queries (Q, d).

        The score is the cosine, to which `extra` (Q, n), of 0 to 1, is added.

        All rows where fewer than k are numbers. O(Q n d), reading a byte a number once for all
        queries.
        """
        codes, scales, lost = zip(*map(_coded, queries), strict=True)
        return near_rows(
            *(self._codes, self._scales, self._errors),
            *(np.stack(codes), np.array(scales, np.float32), np.array(lost, np.float32)),
            extra,
            k,
            threads,
        )


def _coded(query: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int16], float, float]:
    """Codes of a query, their scale, and what a product with a coded row of length 1 may miss."""
    exact = query.astype(np.float64)
    root = np.sqrt(len(exact))
    largest = float(np.abs(exact).max(initial=0.0))
    if largest == 0:
        return np.zeros(len(exact), np.int16), 0.0, 0.0
    length = np.sqrt(np.square(exact).sum())
    finest = min(_INT16 / largest, (_MOST / (_LARGEST_CODE * root) - root) / length)
    codes = np.rint(exact * finest).astype(np.int16)
    missed = np.sqrt(np.square(exact - codes / finest).sum())
    # Twice: a coded row is a little longer than 1. Then what float32 rounds off.
    return codes, 1 / finest, 2 * missed + 1e-6
