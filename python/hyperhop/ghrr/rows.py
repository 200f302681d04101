"""Rows of a codebook that are made when they are first needed."""

from collections.abc import Callable
from threading import Lock

import numpy as np
import numpy.typing as npt

from hyperhop._core import rows_of
from hyperhop.ghrr.layout import Planes

Ids = npt.NDArray[np.int32]
Make = Callable[[Ids], Planes]


class RowsOnDemand:
    """Rows by symbol, in one array that grows up to a bound; safe between threads.

    When the array is full a new one is begun, and who still reads the old one keeps it. A request
    for more rows than the bound allows gets an array of its own size.
    """

    def __init__(self, symbols: int, most: int) -> None:
        """Of so many symbols `most` rows are kept."""
        self._symbols, self._most = symbols, max(most, 1)
        self._lock = Lock()
        # array and places, always read together: row of a symbol in the array, -1 if not made
        self._state: tuple[Planes, npt.NDArray[np.int32]] | None = None
        self._used = 0

    def take(self, symbols: Ids, make: Make) -> tuple[Planes, npt.NDArray[np.int32]]:
        """An array that holds these symbols' rows, and where: int32, in the shape of `symbols`.

        `make` gives the rows of distinct symbols. IndexError for a symbol that there is not.
        """
        state = self._state
        if state is not None:
            rows = rows_of(state[1], symbols)
            if rows is not None:
                return state[0], rows
        elif symbols.size and not 0 <= symbols.min() <= symbols.max() < self._symbols:
            raise IndexError(f"Codebook: a symbol is none of 0 to {self._symbols - 1}")
        with self._lock:
            array, places = self._with(np.unique(symbols), make)
            return array, places[symbols]

    def _with(self, wanted: Ids, make: Make) -> tuple[Planes, npt.NDArray[np.int32]]:
        state = self._state
        missing = wanted if state is None else wanted[state[1][wanted] < 0]
        if state is None or self._used + len(missing) > len(state[0]):
            missing = wanted
            made = make(missing)
            room = min(max(self._most, len(wanted)), self._symbols)
            # memory is taken page by page, as rows are written
            state = np.empty((room, *made.shape[1:]), made.dtype), np.full(self._symbols, -1, "i4")
            self._used = 0
        else:
            made = make(missing)
        array, places = state
        end = self._used + len(missing)
        array[self._used : end] = made
        places[missing] = np.arange(self._used, end)  # after the rows: other threads look here
        self._used, self._state = end, state
        return state
