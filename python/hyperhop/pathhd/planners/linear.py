"""The planner that is trained: a ridge regression from questions to relation paths."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners.examples import Example, Examples, Path
from hyperhop.pathhd.planners.features import ORDER, QuestionFeatures, masked
from hyperhop.pathhd.planners.protocol import Plans, Span, ranked
from hyperhop.text.protocol import TextEncoder

# Chosen by cross-validation in the training questions of WebQSP, with MiniLM.
_RIDGE = 0.5
_SHARED = 0.3

Floats = npt.NDArray[np.float64]


class LinearPlanner:
    """Ridge regression from a question's features to which paths and relations it asks for.

    Each path of the training examples has a column of weights, and so has each relation, which
    lets paths be told that no example had. The score of a path estimates how likely it is among
    those of the question; what is not seen in training scores near 0.

    Training solves one linear system in closed form, O(n dim^2 + dim^3 + n dim (P + R)) for n
    distinct questions, P paths and R relations: seconds for thousands of questions.
    """

    def __init__(
        self,
        encoder: TextEncoder,
        examples: Iterable[Example],
        *,
        order: float = ORDER,
        ridge: float = _RIDGE,
        shared: float = _SHARED,
    ) -> None:
        """Trains on the examples; the same ones give the same weights in any order.

        `order`: see `QuestionFeatures`. `ridge`: more of it trusts common paths more. `shared`: the
        weight of relations beside whole paths. ValueError unless `ridge` is positive and `shared`
        is 0 or more.
        """
        if not 0 < ridge < float("inf"):
            raise ValueError(f"LinearPlanner: ridge must be positive, got {ridge}")
        if not 0 <= shared < float("inf"):
            raise ValueError(f"LinearPlanner: shared must be 0 or more, got {shared}")
        self._features = QuestionFeatures(encoder, order)
        self._shared = shared
        known = Examples()
        known.add(examples)
        texts = sorted(known.paths)
        self._paths = _numbered(path for text in texts for path in known.paths[text])
        self._relations = _numbered((name,) for path in self._paths for name in path)
        targets = np.zeros((len(texts), len(self._paths) + len(self._relations)))
        for row, text in enumerate(texts):
            for path in known.paths[text]:
                targets[row, self._paths[path]] = 1
                for name in path:
                    targets[row, len(self._paths) + self._relations[name,]] = 1
        self._weights = _solve(self._inputs(texts), targets, ridge)
        self._placed: tuple[Candidates, npt.NDArray[np.int64], npt.NDArray[np.int64]] | None = None

    @property
    def name(self) -> str:
        """Recorded with every result."""
        return "linear"

    def plan(self, question: str, mention: Span | None, candidates: Candidates) -> Plans:
        """All candidates, best first. O(dim (P + R) + N)."""
        found = self._inputs([masked(question, mention)])[0] @ self._weights
        # the last entry is that of a path, and of a relation, which training has not seen
        of_paths = np.append(found[: len(self._paths)], 0.0)
        of_relations = np.append(found[len(self._paths) :], 0.0)
        paths, relations = self._places(candidates)
        inside = candidates.table >= 0
        sums = np.where(inside, of_relations[relations][candidates.table], 0.0).sum(axis=1)
        scores = of_paths[paths] + self._shared * sums / np.maximum(candidates.lengths, 1)
        return ranked(scores, candidates)

    def _inputs(self, texts: list[str]) -> Floats:
        """Float64 (len(texts), dim + 1): a constant beside the features stands for the prior."""
        rows = self._features(texts).astype(np.float64)
        return np.hstack([rows, np.ones((len(rows), 1))])

    def _places(
        self, candidates: Candidates
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Column of each candidate and of each of their symbols; those of the last call are kept.

        A long list that is ranked for question after question is looked up once.
        """
        kept = self._placed
        if kept is None or kept[0] is not candidates:
            kept = candidates, *self._look_up(candidates)
            self._placed = kept
        return kept[1:]

    def _look_up(self, candidates: Candidates) -> tuple[npt.NDArray[np.int64], ...]:
        names = [candidates.names[symbol] for symbol in candidates.symbols]
        relations = [self._relations.get((name,), len(self._relations)) for name in names]
        unknown = len(self._paths)
        paths = [
            self._paths.get(tuple(names[i] for i in row[:length]), unknown)
            for row, length in zip(
                candidates.table.tolist(), candidates.lengths.tolist(), strict=True
            )
        ]
        return np.array(paths, np.int64), np.array(relations, np.int64)


def _numbered(paths: Iterable[Path]) -> dict[Path, int]:
    return {path: i for i, path in enumerate(sorted(set(paths)))}


def _solve(inputs: Floats, targets: Floats, ridge: float) -> Floats:
    """Weights (dim, columns) with the least |inputs weights - targets|^2 + ridge |weights|^2."""
    gram = inputs.T @ inputs
    gram[np.diag_indices_from(gram)] += ridge
    weights: Floats = np.linalg.solve(gram, inputs.T @ targets)
    return weights
