"""The planner that is trained: a linear classifier from questions to relation paths."""

from collections.abc import Iterable

import numpy as np

from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners.examples import Example, Examples, Path
from hyperhop.pathhd.planners.features import masked
from hyperhop.pathhd.planners.protocol import Plans, Span, ranked
from hyperhop.pathhd.planners.softmax import fit_softmax, probabilities
from hyperhop.pathhd.planners.wording import WordingFeatures
from hyperhop.text.protocol import TextEncoder

# Chosen with MiniLM on WebQSP: by two fifths of train that were held out, and validation.
_PENALTY = 3e-4
_SCALE = np.float32(3.0)
_EPOCHS = 8
_RATE = 0.03


class LinearPlanner:
    """A multinomial logistic regression from a question's wording to the paths of its examples.

    Unlike `MemoryPlanner` it learns which words matter, and that of several gold paths of a
    question it is enough to plan one. It knows the paths of its training examples only: beside it
    another planner may rank the others, as in `MixturePlanner([(LinearPlanner(...), 1.0),
    (EmbeddingPlanner(...), 1.0)])`.

    Training takes seconds for thousands of questions on one core, and numpy only:
    O(epochs * n * dim * P) for n distinct questions and P paths, with dim at most 300.
    """

    def __init__(
        self, encoder: TextEncoder, examples: Iterable[Example], *, penalty: float = _PENALTY
    ) -> None:
        """Trains on the examples, of which equal ones count once, in any order.

        `penalty` of large weights: more of it trusts common paths more. ValueError unless it is
        positive.
        """
        if not 0 < penalty < float("inf"):
            raise ValueError(f"LinearPlanner: penalty must be positive, got {penalty}")
        known = Examples()
        known.add(examples)
        texts = sorted(known.paths)
        self._paths: list[Path] = sorted({p for text in texts for p in known.paths[text]})
        columns = {path: column for column, path in enumerate(self._paths)}
        targets = np.zeros((len(texts), len(self._paths)), np.float32)
        for row, text in enumerate(texts):
            targets[row, [columns[path] for path in known.paths[text]]] = 1
        self._wording = WordingFeatures(encoder, texts)
        self._weights = fit_softmax(
            _SCALE * self._wording(texts), targets, penalty=penalty, epochs=_EPOCHS, rate=_RATE
        )

    @property
    def name(self) -> str:
        """Recorded with every result."""
        return "linear"

    def plan(self, question: str, mention: Span | None, candidates: Candidates) -> Plans:
        """All candidates by their probability; that of a path which training lacks is 0.

        Paths of training that are no candidates keep theirs: what is left of 1 tells how sure
        the planner is, which a mixture needs to know. O(dim P + N log N).
        """
        weights = np.zeros(len(candidates))
        known = {
            index: column
            for column, path in enumerate(self._paths)
            if (index := candidates.find(path)) is not None
        }
        if known:
            row = _SCALE * self._wording([masked(question, mention)])[0]
            scores = np.append(row, np.float32(1)) @ self._weights
            weights[list(known)] = probabilities(scores)[list(known.values())]
        return ranked(weights, candidates)
