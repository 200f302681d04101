"""A memory of questions in one hypervector: nothing is searched, nothing is trained."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from hyperhop import ghrr
from hyperhop.ghrr.semantic import SemanticMap
from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners.examples import Example, Examples, Path
from hyperhop.pathhd.planners.features import ORDER, QuestionFeatures, masked
from hyperhop.pathhd.planners.protocol import Plans, Span, ranked
from hyperhop.paths import Paths
from hyperhop.text.protocol import TextEncoder

_BATCH = 64  # questions bound at once

# On the part of MetaQA dev that is not remembered 1.5 to 3 plan every path right, with WordLlama.
_SCALE = 2.0


class AssociativePlanner:
    """Recalls the path of a question from the sum of all pairs of question and path.

    A question is a unitary hypervector U(q) that falls with the distance of two questions, as in
    semantic codebooks; a path is the product of its relations, as everywhere. The memory is
    M = sum of U(q_i) P_i over the distinct questions, P_i the mean of q_i's paths; recall is
    U(q)^H M, which holds each path with the similarity of q to the questions that ask for it. Its
    size and the time of a recall do not grow with the examples; noise does, as the square root of
    distinct questions over 2 D m^2. `MemoryPlanner` compares with each question and has none.
    """

    def __init__(
        self,
        encoder: TextEncoder,
        examples: Iterable[Example] = (),
        *,
        order: float = ORDER,
        scale: float = _SCALE,
        blocks: int = 256,
        block_size: int = 4,
        seed: int = 0,
    ) -> None:
        """`order`: see `QuestionFeatures`; `scale` of U: more of it recalls only near questions."""
        self._features = QuestionFeatures(encoder, order)
        self._map = SemanticMap(self._features.dim, blocks, block_size, "exp", scale, seed)
        self._drawn = (blocks, block_size, seed)
        self._examples = Examples()
        # float64: what is forgotten leaves nothing behind that a score would show
        self._memory = np.zeros((block_size, block_size, 2, blocks))
        self.add(examples)

    @property
    def name(self) -> str:
        """Recorded with every result."""
        return "associative"

    def __len__(self) -> int:
        """Examples remembered."""
        return len(self._examples)

    def add(self, examples: Iterable[Example]) -> None:
        """Remember examples; one that is remembered already counts once more."""
        self._bind(self._examples.add(examples))

    def forget(self, examples: Iterable[Example]) -> None:
        """Take back examples. LookupError, and nothing is forgotten, if one is not remembered."""
        self._bind(self._examples.forget(examples))

    def plan(self, question: str, mention: Span | None, candidates: Candidates) -> Plans:
        """All candidates by their similarity to what is recalled. O(dim D m^2), and scoring."""
        if not len(self._examples) or not len(candidates):
            return ranked(np.zeros(len(candidates)), candidates)
        recalled = self.recall(question, mention)
        used = tuple(candidates.names[symbol] for symbol in candidates.symbols)
        positions = candidates.table[candidates.table >= 0].astype(np.int32)
        paths = Paths(positions, candidates.paths.offsets)
        scores = ghrr.score_paths(_codebook(used, *self._drawn), recalled, paths)
        return ranked(np.asarray(scores, np.float64), candidates)

    def recall(self, question: str, mention: Span | None) -> npt.NDArray[np.float32]:
        """What the memory holds for a question: a query hypervector, planes (m, m, 2, D)."""
        key = self._map.planes(self._features([masked(question, mention)]))[0]
        recalled: npt.NDArray[np.float32] = ghrr.unbind_left(key, self._memory.astype(np.float32))
        return recalled

    def _bind(self, before: Mapping[str, Mapping[Path, float]]) -> None:
        """Bring the memory from the shares of paths before to those of now."""
        changes: dict[str, dict[Path, float]] = {}
        for text, old in before.items():
            new = self._examples.shares(text)
            change = {path: new.get(path, 0.0) - old.get(path, 0.0) for path in {**old, **new}}
            if any(change.values()):
                changes[text] = change
        paths = sorted({path for change in changes.values() for path in change})
        names = tuple(sorted({name for path in paths for name in path}))
        encoded = ghrr.encode_paths(
            _codebook(names, *self._drawn), Paths.from_lists(paths, names=names), planes=True
        )
        listed = sorted(changes)
        for start in range(0, len(listed), _BATCH):
            batch = listed[start : start + _BATCH]
            weights = np.array(
                [[changes[text].get(path, 0.0) for path in paths] for text in batch], np.float32
            )
            sums = np.tensordot(weights, encoded, axes=1)
            bound = ghrr.bind(self._map.planes(self._features(batch)), sums)
            self._memory += bound.sum(axis=0, dtype=np.float64)


@lru_cache(maxsize=64)
def _codebook(names: tuple[str, ...], blocks: int, block_size: int, seed: int) -> ghrr.Codebook:
    return ghrr.Codebook(names, blocks, block_size, seed=seed)
