"""Questions with their relation paths, as memories keep them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from hyperhop.pathhd.planners.features import masked
from hyperhop.pathhd.planners.protocol import Span

Path = tuple[str, ...]


class Example(NamedTuple):
    """A question, where it names its topic (characters, or None), and its relation path.

    A path is symbol names, "^" before a relation that is walked backwards. A question with several
    paths is several examples.
    """

    question: str
    mention: Span | None
    relations: Sequence[str]


def checked(examples: Iterable[Example]) -> Iterator[Example]:
    """These examples. TypeError for what is none, and for one name in place of a path."""
    for example in examples:
        if not isinstance(example, Example):
            kind = type(example).__name__
            raise TypeError(f"examples must be a list of Example, got {kind} in it")
        if isinstance(example.relations, str):
            raise TypeError(
                f"Example: relations must be a list of names, got one: {example.relations!r}"
            )
        yield example


class Examples:
    """How often each question, its topic left out, came with which path.

    Attributes:
        paths: by masked question, never empty.
    """

    def __init__(self) -> None:
        self.paths: dict[str, Counter[Path]] = {}

    def __len__(self) -> int:
        return sum(paths.total() for paths in self.paths.values())

    def shares(self, text: str) -> dict[Path, float]:
        """Of each path in what a masked question came with, ascending; they sum to 1."""
        paths = self.paths.get(text, Counter())
        total = paths.total()
        return {path: paths[path] / total for path in sorted(paths)}

    def add(self, examples: Iterable[Example]) -> dict[str, dict[Path, float]]:
        """Count examples up; returns the shares before, of every masked question among them."""
        return self._change(_counted(examples), 1)

    def forget(self, examples: Iterable[Example]) -> dict[str, dict[Path, float]]:
        """Count examples down, as `add`. LookupError, and nothing changes, if one is not here."""
        counted = _counted(examples)
        for (text, path), count in counted.items():
            if self.paths.get(text, Counter())[path] < count:
                raise LookupError(f"no such example to forget: {text!r} with {list(path)}")
        return self._change(counted, -1)

    def _change(
        self, counted: Counter[tuple[str, Path]], sign: int
    ) -> dict[str, dict[Path, float]]:
        before = {text: self.shares(text) for text, _ in counted}
        for (text, path), count in counted.items():
            self.paths.setdefault(text, Counter())[path] += sign * count
        for text in before:
            self.paths[text] = +self.paths[text]  # drops what reached 0
            if not self.paths[text]:
                del self.paths[text]
        return before


def _counted(examples: Iterable[Example]) -> Counter[tuple[str, Path]]:
    return Counter((masked(e.question, e.mention), tuple(e.relations)) for e in checked(examples))
