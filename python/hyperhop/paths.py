"""Ragged lists of symbol sequences."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._core import take_paths


class Paths:
    """An immutable list of N sequences of symbol ids (relation paths), stored end to end.

    Attributes:
        symbols: int32 (total,), all sequences one after another.
        offsets: int64 (N + 1,), where each sequence starts; `offsets[0] == 0`.
        truncated: whether the enumeration that made the list was cut short.

    Raises TypeError where a part is not made of integers and ValueError where offsets fall, do not
    start at 0 or do not end at the number of symbols. O(N) to build, arrays are shared, not copied.
    """

    __slots__ = ("offsets", "symbols", "truncated")

    symbols: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    truncated: bool

    def __init__(
        self, symbols: npt.ArrayLike, offsets: npt.ArrayLike, truncated: bool = False
    ) -> None:
        self.symbols = _integers(symbols, "symbols", np.int32)
        self.offsets = _integers(offsets, "offsets", np.int64)
        self.truncated = bool(truncated)
        if self.offsets.size == 0 or self.offsets[0] != 0:
            raise ValueError("Paths: offsets must have N + 1 entries and start at 0")
        if self.offsets[-1] != self.symbols.size:
            raise ValueError(
                f"Paths: offsets must end at {self.symbols.size}, the number of symbols, "
                f"got {self.offsets[-1]}"
            )
        falls = np.flatnonzero(np.diff(self.offsets) < 0)
        if falls.size:
            raise ValueError(f"Paths: offsets fall after entry {falls[0]}")

    @classmethod
    def of_valid(cls, symbols: npt.NDArray[np.int32], offsets: npt.NDArray[np.int64]) -> "Paths":
        """Of arrays that compiled code made: checking them would take longer than making them."""
        made = cls.__new__(cls)
        made.symbols, made.offsets, made.truncated = symbols, offsets, False
        return made

    @classmethod
    def from_lists(
        cls, sequences: Iterable[Sequence[int] | Sequence[str]], names: Sequence[str] | None = None
    ) -> "Paths":
        """From sequences of ids, or of names to be looked up in `names` (id = position).

        Raises LookupError for a name that `names` does not hold.
        """
        lists = [list(sequence) for sequence in sequences]
        if names is not None:
            ids = {name: i for i, name in enumerate(names)}
            for number, sequence in enumerate(lists):
                for symbol in sequence:
                    if symbol not in ids:
                        raise LookupError(f"Paths: path {number} holds {symbol!r}, not in names")
            lists = [[ids[str(symbol)] for symbol in sequence] for sequence in lists]
        offsets = np.zeros(len(lists) + 1, np.int64)
        np.cumsum([len(sequence) for sequence in lists], out=offsets[1:])
        flat = [symbol for sequence in lists for symbol in sequence]
        return cls(np.array(flat) if flat else np.zeros(0, np.int32), offsets)

    @classmethod
    def from_padded(cls, array: npt.ArrayLike, fill: int = -1) -> "Paths":
        """From a 2-D integer array (N, L) whose rows end in `fill`.

        Raises ValueError where a symbol follows a fill.
        """
        table = np.asarray(array)
        if table.ndim != 2 or not np.issubdtype(table.dtype, np.integer):
            raise TypeError(
                f"Paths: a padded array must be 2-D and of integers, "
                f"got {table.dtype} with shape {table.shape}"
            )
        kept = table != fill
        lengths = kept.sum(axis=1)
        gaps = np.flatnonzero((kept != (np.arange(table.shape[1]) < lengths[:, None])).any(axis=1))
        if gaps.size:
            raise ValueError(f"Paths: row {gaps[0]} has a symbol after the fill value {fill}")
        offsets = np.zeros(len(table) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return cls(table[kept], offsets)

    def __len__(self) -> int:
        return self.offsets.size - 1

    def __getitem__(self, index: int) -> npt.NDArray[np.int32]:
        if not -len(self) <= index < len(self):
            raise IndexError(f"Paths: index {index} of a list of {len(self)}")
        index %= len(self)
        return self.symbols[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[npt.NDArray[np.int32]]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Paths):
            return NotImplemented
        return np.array_equal(self.symbols, other.symbols) and np.array_equal(
            self.offsets, other.offsets
        )

    __hash__ = None  # type: ignore[assignment]  # equal by content, like an array

    def __repr__(self) -> str:
        cut = ", truncated" if self.truncated else ""
        return f"Paths({len(self)} sequences, {self.symbols.size} symbols{cut})"

    def __reduce__(self) -> tuple[type["Paths"], tuple[Any, ...]]:
        return Paths, (self.symbols, self.offsets, self.truncated)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """int64 (N,), symbols in each sequence."""
        return self.offsets[1:] - self.offsets[:-1]

    def take(self, indices: npt.ArrayLike) -> "Paths":
        """The sequences at `indices`, in that order. IndexError for one that is not there."""
        chosen = np.ascontiguousarray(indices, np.int64).reshape(-1)
        return Paths.of_valid(*take_paths(self.symbols, self.offsets, chosen))


def _integers(values: npt.ArrayLike, name: str, dtype: type[np.signedinteger]) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.integer)):
        raise TypeError(
            f"Paths: {name} must be a 1-D array of integers, got {array.dtype} "
            f"with shape {array.shape}"
        )
    limits = np.iinfo(dtype)
    if array.size and (array.min() < limits.min or array.max() > limits.max):
        raise ValueError(f"Paths: {name} must fit {np.dtype(dtype).name}")
    return np.ascontiguousarray(array, dtype)


def as_paths(paths: "Paths | npt.ArrayLike", function: str) -> Paths:
    """`paths` as Paths: itself, or a padded 2-D integer array (fill -1)."""
    if isinstance(paths, Paths):
        return paths
    array = np.asarray(paths)
    if array.ndim != 2:
        raise TypeError(
            f"{function}: paths must be hyperhop.Paths or a padded 2-D integer array, "
            f"got {type(paths).__name__}"
        )
    return Paths.from_padded(array)
