"""Texts with a key close to another key (extra `link`: rapidfuzz)."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from hyperhop._core import GramIndex
from hyperhop._extras import optional
from hyperhop.graph.linking.lexicon import Texts

_SMALL = 4_000  # of so few names all are compared
_CANDIDATES = 256
_SHORTEST = 3  # code points; what is shorter is like too much


class FuzzyKeys:
    """Keys of some texts by their ratio: 100 * (1 - indels / sum of lengths)."""

    def __init__(self, texts: Texts, cutoff: float) -> None:
        """ImportError if the extra `link` is not installed."""
        self._rapidfuzz = rapidfuzz()
        self._texts = texts
        self._cutoff = cutoff

    def entities(self, key: str) -> set[int]:
        """Entities that the texts with this key mean."""
        return {entity for i in self._texts.keys.find(key) for entity in self._texts.entities(i)}

    def closest(self, keys: Sequence[str]) -> list[list[tuple[str, float]]]:
        """For each key, those of the texts whose ratio reaches the cutoff, unordered.

        All are compared if the texts are few; else the 256 that share most trigrams with it.
        """
        fit = [key for key in dict.fromkeys(keys) if len(key) >= _SHORTEST]
        found = self._of_all(fit) if len(self._texts.names) <= _SMALL else self._of_candidates(fit)
        return [found.get(key, []) for key in keys]

    def _of_all(self, keys: list[str]) -> dict[str, list[tuple[str, float]]]:
        if not keys or not self._all:
            return {}
        ratios = self._rapidfuzz.process.cdist(
            keys,
            self._all,
            scorer=self._rapidfuzz.fuzz.ratio,
            score_cutoff=self._cutoff,
            dtype=np.float64,
        )
        return {
            key: [(self._all[i], float(row[i])) for i in np.flatnonzero(row >= self._cutoff)]
            for key, row in zip(keys, ratios, strict=True)
        }

    def _of_candidates(self, keys: list[str]) -> dict[str, list[tuple[str, float]]]:
        candidates = self._grams.closest(keys, self._cutoff / 100, _CANDIDATES)
        extract, ratio = self._rapidfuzz.process.extract, self._rapidfuzz.fuzz.ratio
        return {
            key: [
                (close, score)
                for close, score, _ in extract(
                    key, some, scorer=ratio, score_cutoff=self._cutoff, limit=None
                )
            ]
            for key, some in zip(keys, candidates, strict=True)
        }

    @cached_property
    def _all(self) -> list[str]:
        return self._texts.keys.keys()

    @cached_property
    def _grams(self) -> GramIndex:
        return GramIndex(self._texts.keys)


def rapidfuzz() -> Any:
    """The module with what is used of it."""
    for part in ("rapidfuzz.fuzz", "rapidfuzz.process"):
        optional(part, "EntityLinker: fuzzy", "link")
    return optional("rapidfuzz", "EntityLinker: fuzzy", "link")
