"""Lists whose items are made when somebody reads them."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, overload

Item = TypeVar("Item")


class LazyList(Sequence[Item], ABC):
    """Reads, compares, adds and prints like a list, and cannot be changed; pickles as a list.

    One item or a slice is made when it is asked for; going through all of them makes them once.
    """

    _items: list[Item] | None = None

    @abstractmethod
    def _make(self, start: int, stop: int) -> list[Item]:
        """Items start to stop, 0 <= start <= stop <= len(self)."""

    def _all(self) -> list[Item]:
        if self._items is None:
            self._items = self._make(0, len(self))
        return self._items

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        places = range(len(self))[index]
        if self._items is not None:
            return self._items[index]
        if isinstance(places, int):
            return self._make(places, places + 1)[0]
        if places.step == 1:
            return self._make(places.start, max(places.start, places.stop))
        return self._all()[index]

    def __iter__(self) -> Iterator[Item]:
        return iter(self._all())

    def __contains__(self, item: object) -> bool:
        return item in self._all()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, list | LazyList):
            return NotImplemented
        return len(self) == len(other) and self._all() == list(other)

    __hash__ = None  # type: ignore[assignment]  # equal by content, like a list

    def __add__(self, other: "list[Item] | LazyList[Item]") -> list[Item]:
        return self._all() + list(other)

    def __radd__(self, other: list[Item]) -> list[Item]:
        return other + self._all()

    def __repr__(self) -> str:
        return repr(self._all())

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)
