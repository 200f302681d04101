"""Texts and passages in blocks of bytes, so that a saved corpus stays on disk until it is read."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import overload

import numpy as np
import numpy.typing as npt

from hyperhop.graph import DamagedStore
from hyperhop.help.passages import Passage


class TextTable(Sequence[str]):
    """Texts as one block of UTF-8, each decoded when it is asked for.

    Attributes:
        data: uint8, all texts one after another.
        offsets: int64 (n + 1,), where each begins, and the end.
    """

    def __init__(self, data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> None:
        """Takes arrays as they are; DamagedStore unless the offsets ascend from 0 to the end."""
        if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(data):
            raise DamagedStore("a table of texts is damaged: its offsets do not fit its bytes")
        if (offsets[1:] < offsets[:-1]).any():
            raise DamagedStore("a table of texts is damaged: its offsets do not ascend")
        self.data, self.offsets = data, offsets

    @classmethod
    def of(cls, texts: Iterable[str]) -> "TextTable":
        """The table of these texts, valid Unicode. O(bytes)."""
        parts = [text.encode("utf-8") for text in texts]
        offsets = np.zeros(len(parts) + 1, np.int64)
        np.cumsum([len(part) for part in parts], out=offsets[1:])
        return cls(np.frombuffer(b"".join(parts), np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        places = range(len(self))[index]
        if isinstance(places, range):
            return [self._text(place) for place in places]
        return self._text(places)

    def take(self, places: npt.NDArray[np.int64]) -> "TextTable":
        """The table of the texts at `places`, in that order. O(bytes taken)."""
        sizes = np.diff(self.offsets)[places]
        offsets = np.zeros(len(places) + 1, np.int64)
        np.cumsum(sizes, out=offsets[1:])
        data = np.empty(offsets[-1], np.uint8)
        for place, start, stop in zip(places, offsets[:-1], offsets[1:], strict=True):
            begin = self.offsets[place]
            data[start:stop] = self.data[begin : begin + stop - start]
        return TextTable(data, offsets)

    def then(self, other: "TextTable") -> "TextTable":
        """These texts, followed by the other ones."""
        offsets = np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:]])
        return TextTable(np.concatenate([self.data, other.data]), offsets)

    def _text(self, place: int) -> str:
        part = self.data[self.offsets[place] : self.offsets[place + 1]]
        try:
            return part.tobytes().decode("utf-8")
        except UnicodeDecodeError:
            raise DamagedStore(
                f"a table of texts is damaged: text {place} is no longer UTF-8"
            ) from None


class PassageTable(Sequence[Passage]):
    """Passages by their position, made when they are asked for.

    Attributes:
        ids, titles, texts: of all passages; a missing title is "" here.
        titled: bool (n,), whether there is a title.
    """

    def __init__(
        self, ids: TextTable, titles: TextTable, texts: TextTable, titled: npt.NDArray[np.bool_]
    ) -> None:
        """DamagedStore unless all are of one length."""
        if not len(ids) == len(titles) == len(texts) == len(titled):
            raise DamagedStore("a table of passages is damaged: its parts differ in length")
        self.ids, self.titles, self.texts, self.titled = ids, titles, texts, titled

    @classmethod
    def of(cls, passages: Sequence[Passage]) -> "PassageTable":
        """The table of passages that `as_passages` let through."""
        return cls(
            TextTable.of(passage.id for passage in passages),
            TextTable.of(passage.title or "" for passage in passages),
            TextTable.of(passage.text for passage in passages),
            np.array([passage.title is not None for passage in passages], np.bool_),
        )

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> Passage: ...
    @overload
    def __getitem__(self, index: slice) -> list[Passage]: ...
    def __getitem__(self, index: int | slice) -> Passage | list[Passage]:
        places = range(len(self))[index]
        if isinstance(places, range):
            return [self._passage(place) for place in places]
        return self._passage(places)

    def take(self, places: npt.NDArray[np.int64]) -> "PassageTable":
        """The table of the passages at `places`, in that order. O(bytes taken)."""
        ids, titles, texts = (table.take(places) for table in (self.ids, self.titles, self.texts))
        return PassageTable(ids, titles, texts, self.titled[places])

    def then(self, other: "PassageTable") -> "PassageTable":
        """These passages, followed by the other ones."""
        return PassageTable(
            self.ids.then(other.ids),
            self.titles.then(other.titles),
            self.texts.then(other.texts),
            np.concatenate([self.titled, other.titled]),
        )

    @cached_property
    def positions(self) -> dict[str, int]:
        """Where each passage stands, by its id. O(passages), once."""
        return {name: place for place, name in enumerate(self.ids)}

    def _passage(self, place: int) -> Passage:
        title = self.titles[place] if self.titled[place] else None
        return Passage(self.ids[place], self.texts[place], title)
