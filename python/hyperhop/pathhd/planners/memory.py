"""The planner that remembers: questions with their relation paths, nothing is trained."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners.protocol import Plans, Span, ranked
from hyperhop.text.protocol import TextEncoder
from hyperhop.text.words import words

Floats = npt.NDArray[np.float32]
Path = tuple[str, ...]

# Chosen on the dev parts of PathQuestion (`disjoint`, seed 0) and MetaQA (the tenth that is not
# remembered), all seven sets together, with WordLlama and an EmbeddingPlanner beside at 2 to 1.
_NEIGHBOURS = 10
_SHARPNESS = 24.0
_ORDER = 0.5

_PAIR_DIM = 512
_REACH = 5  # words
_TOPIC = "\0"  # no word of a question


class Example(NamedTuple):
    """A question, where it names its topic (characters, or None), and its relation path.

    A path is symbol names, "^" before a relation that is walked backwards. A question with several
    paths is several examples.
    """

    question: str
    mention: Span | None
    relations: Sequence[str]


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
        order: float = _ORDER,
    ) -> None:
        """`neighbours` questions vote, each with its similarity to the power `sharpness`.

        `order` in [0, 1] is the weight of word pairs in that similarity, 1 - `order` the encoder's.
        """
        if neighbours < 1:
            raise ValueError(f"MemoryPlanner: neighbours must be 1 or more, got {neighbours}")
        if not sharpness >= 0:
            raise ValueError(f"MemoryPlanner: sharpness must be 0 or more, got {sharpness}")
        if not 0 <= order <= 1:
            raise ValueError(f"MemoryPlanner: order must be in [0, 1], got {order}")
        self._encoder = encoder
        self._neighbours, self._sharpness, self._order = neighbours, sharpness, order
        self._texts: list[str] = []  # of row i
        self._rows: dict[str, int] = {}
        self._paths: list[Counter[Path]] = []
        self._features: Floats = np.empty((0, encoder.dim + _PAIR_DIM), np.float32)
        self.add(examples)

    @property
    def name(self) -> str:
        """Recorded with every result."""
        return "memory"

    def __len__(self) -> int:
        """Examples remembered."""
        return sum(paths.total() for paths in self._paths)

    def add(self, examples: Iterable[Example]) -> None:
        """Remember examples; one that is remembered already counts once more."""
        new: dict[str, None] = {}
        for example in examples:
            text = masked(example.question, example.mention)
            row = self._rows.setdefault(text, len(self._texts))
            if row == len(self._texts):
                self._texts.append(text)
                self._paths.append(Counter())
                new[text] = None
            self._paths[row][tuple(example.relations)] += 1
        if new:
            self._features = np.concatenate([self._features, self._encode(list(new))])

    def forget(self, examples: Iterable[Example]) -> None:
        """Take back examples. LookupError for one that is not remembered; those before it are."""
        emptied = False
        for example in examples:
            text, path = masked(example.question, example.mention), tuple(example.relations)
            row = self._rows.get(text)
            if row is None or not self._paths[row][path]:
                raise LookupError(f"MemoryPlanner: no such example: {example.question!r}")
            self._paths[row] -= Counter([path])  # drops what reaches 0
            emptied = emptied or not self._paths[row]
        if emptied:
            kept = [row for row, paths in enumerate(self._paths) if paths]
            self._texts = [self._texts[row] for row in kept]
            self._paths = [self._paths[row] for row in kept]
            self._features = self._features[kept]
            self._rows = {text: row for row, text in enumerate(self._texts)}

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
        query = self._encode([masked(question, mention)])[0]
        similar = np.round(self._features @ query, 6)
        k = min(self._neighbours, len(similar))
        least = np.partition(similar, len(similar) - k)[len(similar) - k]
        rows = np.flatnonzero((similar >= least) & (similar > 0)).tolist()
        # in an order that does not depend on when an example came
        rows.sort(key=lambda row: (-similar[row], self._texts[row]))
        votes: dict[Path, float] = {}
        powers = [float(similar[row]) ** self._sharpness for row in rows[:k]]
        for row, power in zip(rows, powers, strict=False):
            paths = self._paths[row]
            for path in sorted(paths):
                votes[path] = votes.get(path, 0.0) + power * paths[path] / paths.total()
        return {path: vote * powers[0] / sum(powers) for path, vote in votes.items()}

    def _encode(self, texts: list[str]) -> Floats:
        encoded = self._encoder.encode([text.replace(_TOPIC, " ") for text in texts])
        pairs = np.array([_pairs(text) for text in texts], np.float32)
        both = [np.sqrt(1 - self._order) * encoded, np.sqrt(self._order) * pairs]
        return np.concatenate(both, axis=1).astype(np.float32)


def masked(question: str, mention: Span | None) -> str:
    """A question's words, lower-cased, with one mark where it names its topic."""
    start, end = mention if mention is not None else (len(question), len(question))
    mark = [_TOPIC] if mention is not None else []
    return " ".join([*words(question[:start]), *mark, *words(question[end:])])


def _pairs(text: str) -> Floats:
    """Unit vector of pairs of words in their order, hashed with a sign; near ones weigh more."""
    row = np.zeros(_PAIR_DIM, np.float32)
    listed = ["", *text.split(" "), ""]
    for i, word in enumerate(listed):
        for distance, later in enumerate(listed[i + 1 : i + 1 + _REACH], 1):
            column, sign = _hashed(word, later)
            row[column] += sign / distance
    norm = float(np.sqrt(np.square(row).sum()))
    return row / np.float32(norm) if norm > 0 else row


@lru_cache(maxsize=65536)
def _hashed(word: str, later: str) -> tuple[int, int]:
    digest = blake2b(f"{word}\n{later}".encode(), digest_size=8).digest()
    number = int.from_bytes(digest, "little")
    return (number >> 1) % _PAIR_DIM, 1 if number & 1 else -1
