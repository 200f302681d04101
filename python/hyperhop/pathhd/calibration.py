"""Calibrated scores of relation sequences (PathHD eq. 5 and 6)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Schema = tuple[str, ...]

# (alpha, beta, lambda) of the paper's table 11
PRESETS = {"webqsp": (0.2, 0.1, 0.8), "cwq": (0.3, 0.1, 0.8), "grailqa": (0.2, 0.2, 0.8)}


@dataclass(frozen=True)
class Frequencies:
    """In how many of `questions` training questions a schema is among the candidates.

    ValueError for a number below 0.
    """

    questions: int
    counts: Mapping[Schema, int]

    def __post_init__(self) -> None:
        if min(self.questions, *self.counts.values(), 0) < 0:
            raise ValueError("Frequencies: expected counts of 0 or more, got one below")

    @classmethod
    def count(cls, candidate_sets: Iterable[Iterable[Sequence[str]]]) -> "Frequencies":
        """From the candidates (symbol names) of each training question. O(total candidates)."""
        counts: Counter[Schema] = Counter()
        questions = 0
        for candidates in candidate_sets:
            questions += 1
            counts.update({tuple(sequence) for sequence in candidates})
        return cls(questions, counts)


@dataclass(frozen=True)
class Calibration:
    """s(z) = similarity + alpha * IDF(z) - beta * lam ** |z|  (eq. 5).

    IDF(z) = log(1 + questions / (1 + freq(z)))  (eq. 6) is not bounded by 1 as the similarity is;
    `idf="normalized"` divides it by its largest value, log(1 + questions), so that it is in [0, 1].
    Without `frequencies` there are no training questions and eq. 6 is 0 for every z. As the paper
    writes it, the length term costs a *short* path more: beta = 0 switches it off.

    ValueError unless alpha, beta >= 0 are finite and 0 < lam <= 1, and for another idf.
    """

    alpha: float
    beta: float
    lam: float
    idf: Literal["paper", "normalized"] = "paper"
    frequencies: Frequencies | None = None

    def __post_init__(self) -> None:
        if not (0 <= self.alpha < np.inf and 0 <= self.beta < np.inf and 0 < self.lam <= 1):
            raise ValueError(
                "Calibration: expected finite alpha >= 0, beta >= 0 and 0 < lam <= 1, "
                f"got {self.alpha}, {self.beta}, {self.lam}"
            )
        if self.idf not in ("paper", "normalized"):
            raise ValueError(f"Calibration: idf must be paper or normalized, got {self.idf!r}")

    @classmethod
    def preset(
        cls,
        name: str,
        frequencies: Frequencies | None = None,
        idf: Literal["paper", "normalized"] = "paper",
    ) -> "Calibration":
        """Table 11's values for "webqsp", "cwq" or "grailqa". ValueError for another name."""
        if name not in PRESETS:
            raise ValueError(f"Calibration: expected one of {', '.join(PRESETS)}, got {name!r}")
        return cls(*PRESETS[name], idf=idf, frequencies=frequencies)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; `from_dict` reads them."""
        frequencies = self.frequencies
        return {
            **{name: getattr(self, name) for name in ("alpha", "beta", "lam", "idf")},
            "frequencies": None
            if frequencies is None
            else {
                "questions": frequencies.questions,
                "counts": [[list(key), n] for key, n in sorted(frequencies.counts.items())],
            },
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Calibration":
        """What `to_dict` gave. ValueError for other keys or kinds of values."""
        try:
            known = values["frequencies"]
            frequencies = None
            if known is not None:
                counts = {tuple(map(str, key)): int(n) for key, n in known["counts"]}
                frequencies = Frequencies(int(known["questions"]), counts)
            alpha, beta, lam = (float(values[name]) for name in ("alpha", "beta", "lam"))
            idf = values["idf"]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                "Calibration: expected alpha, beta, lam, idf and frequencies as to_dict gives "
                f"them, got {type(error).__name__}: {error}"
            ) from None
        return cls(alpha, beta, lam, idf, frequencies)

    def inverse_frequency(self, schema: Sequence[str]) -> float:
        """IDF of one schema (eq. 6), scaled as `idf` says."""
        if self.frequencies is None or self.frequencies.questions == 0:
            return 0.0
        questions = self.frequencies.questions
        value = np.log1p(questions / (1 + self.frequencies.counts.get(tuple(schema), 0)))
        return float(value / np.log1p(questions) if self.idf == "normalized" else value)

    def apply(
        self, similarities: npt.ArrayLike, schemas: Sequence[Sequence[str]]
    ) -> npt.NDArray[np.float64]:
        """Calibrated scores of N schemas (symbol names) from their similarities, both (N,)."""
        rarity = np.array([self.inverse_frequency(schema) for schema in schemas], np.float64)
        lengths = np.array([len(schema) for schema in schemas], np.float64)
        scores = np.asarray(similarities, np.float64) + self.alpha * rarity
        return scores - self.beta * self.lam**lengths
