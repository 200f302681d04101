"""The planner that remembers: questions with their relation paths, nothing is trained."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners.examples import Example, Examples, Path
from hyperhop.pathhd.planners.features import ORDER, QuestionFeatures, masked
from hyperhop.pathhd.planners.protocol import Plans, Span, ranked
from hyperhop.text.protocol import TextEncoder

# Chosen on the dev parts of PathQuestion (`disjoint`, seed 0) and MetaQA (the tenth that is not
# remembered), all seven sets together, with WordLlama and an EmbeddingPlanner beside at 2 to 1.
_NEIGHBOURS = 10
_SHARPNESS = 24.0
_KEPT = 4096  # questions, their topics aside, whose votes are kept: many are asked again


class MemoryPlanner:
    """The nearest remembered questions vote for their paths.

    Questions are compared without their topic: by the cosine of their encoded texts and by which
    words come before which, at most 5 on, which tells "the father of the spouse" from "the spouse
    of the father" where the encoder knows no order. Equal questions are one memory, with a share
    for each of their paths. Examples are added and forgotten at any time, in any order: the same
    examples give the same plans.
    """

    def __init__(
        self,
        encoder: TextEncoder,
        examples: Iterable[Example] = (),
        *,
        neighbours: int = _NEIGHBOURS,
        sharpness: float = _SHARPNESS,
        order: float = ORDER,
    ) -> None:
        """`neighbours` questions vote, each with its similarity to the power `sharpness`.

        `order`: see `QuestionFeatures`.
        """
        if neighbours < 1:
            raise ValueError(f"MemoryPlanner: neighbours must be 1 or more, got {neighbours}")
        if not sharpness >= 0:
            raise ValueError(f"MemoryPlanner: sharpness must be 0 or more, got {sharpness}")
        self._features_of = QuestionFeatures(encoder, order)
        self._neighbours, self._sharpness = neighbours, sharpness
        self._examples = Examples()
        self._texts: list[str] = []  # of each row of features
        self._rows: dict[str, int] = {}  # of each text
        self._voted: dict[str, dict[Path, float]] = {}  # by masked question, until examples change
        self._features: npt.NDArray[np.float32] = self._features_of([])
        self.add(examples)

    @property
    def name(self) -> str:
        """Recorded with every result."""
        return "memory"

    def __len__(self) -> int:
        """Examples remembered."""
        return len(self._examples)

    def add(self, examples: Iterable[Example]) -> None:
        """Remember examples; one that is remembered already counts once more."""
        new = [text for text, before in self._examples.add(examples).items() if not before]
        self._texts += new
        self._features = np.concatenate([self._features, self._features_of(new)])
        self._number()

    def forget(self, examples: Iterable[Example]) -> None:
        """Take back examples. LookupError, and nothing is forgotten, if one is not remembered."""
        self._examples.forget(examples)
        kept = [row for row, text in enumerate(self._texts) if text in self._examples.paths]
        self._texts = [self._texts[row] for row in kept]
        self._features = self._features[kept]
        self._number()

    def plan(self, question: str, mention: Span | None, candidates: Candidates) -> Plans:
        """All candidates; a path that no neighbour votes for weighs 0. O(rows * dim + N)."""
        scores = np.zeros(len(candidates))
        for path, vote in self.votes(question, mention).items():
            index = candidates.find(path)
            if index is not None:
                scores[index] = vote
        return ranked(scores, candidates)

    def votes(self, question: str, mention: Span | None) -> dict[Path, float]:
        """Shares of the nearest questions' paths, each question counting similarity^sharpness.

        Their sum is the nearest one's similarity^sharpness: how sure the memory is. An equal
        question gives 1, one that has little in common next to nothing.
        """
        if not self._texts:
            return {}
        text = masked(question, mention)
        found = self._voted.get(text)
        if found is None:
            found = self._votes(text)
            if len(self._voted) >= _KEPT:
                self._voted = {}
            self._voted[text] = found
        return dict(found)

    def _votes(self, text: str) -> dict[Path, float]:
        row = self._rows.get(text)  # what is remembered was encoded before
        query = self._features_of([text])[0] if row is None else self._features[row]
        similar = np.round(self._features @ query, 6)
        k = min(self._neighbours, len(similar))
        least = np.partition(similar, len(similar) - k)[len(similar) - k]
        rows = np.flatnonzero((similar >= least) & (similar > 0))
        # in an order that does not depend on when an example came
        nearest = sorted(
            (-value, self._texts[row])
            for value, row in zip(similar[rows].tolist(), rows.tolist(), strict=True)
        )[:k]
        votes: dict[Path, float] = {}
        powers = [(-value) ** self._sharpness for value, _ in nearest]
        for (_, text), power in zip(nearest, powers, strict=True):
            for path, share in self._examples.shares(text).items():
                votes[path] = votes.get(path, 0.0) + power * share
        return {path: vote * powers[0] / sum(powers) for path, vote in votes.items()}

    def _number(self) -> None:
        self._voted = {}
        self._rows = {text: row for row, text in enumerate(self._texts)}
