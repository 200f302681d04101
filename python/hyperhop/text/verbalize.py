"""Wording of relations and paths: the one place of it. Stored names are never altered."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from hyperhop.text.relations import INVERSE_MARK, relation_words, split_symbol

Mediators = Literal["keep", "skip", "join"]

# Freebase ids (m.0abc, /m/0abc, g.11abc, also at the end of a URI) and blank nodes
_OPAQUE = re.compile(r"(?:\S*/)?(?:m[./]0|g[./]1)[0-9a-z_]+|_:\S+")


@dataclass(frozen=True)
class Template:
    """How one step of a path looks, along its stored edge and against it."""

    forward: str = "-{relation}->"
    inverse: str = "<-{relation}-"
    joined: str = ", "  # between relations that are joined into one step


def is_opaque(name: str) -> bool:
    """Whether a name is an id that tells a reader nothing: `m.0abc`, `/g/11b7`, `_:b0`."""
    return _OPAQUE.fullmatch(name) is not None


@dataclass(frozen=True)
class Verbalizer:
    """Puts relations and paths into words, for prompts, planners and print alike.

    Args:
        labels, relation_labels: what to call an entity or a relation (not a symbol), by its name in
            the graph. Where there is none, an entity's name is printed verbatim and a relation's is
            split into words.
        mediators: what becomes of a mediator (a node that only ties the parts of one fact, such as
            Freebase's CVT nodes) between two entities. "keep": it is printed like any entity.
            "skip": only its two relations are. "join": they become one step. The first and last
            entity of a path are always printed.
        is_mediator: which entities are mediators, by name: a function or a collection. None: those
            without a label whose name is an opaque id (`is_opaque`).
        context: whether the words of `people.person.place_of_birth` that say what kind of thing has
            the relation are printed too.
        template: how a step looks.

    ValueError for an unknown policy.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    relation_labels: Mapping[str, str] = field(default_factory=dict)
    mediators: Mediators = "keep"
    is_mediator: Callable[[str], bool] | Collection[str] | None = None
    context: bool = True
    template: Template = Template()

    def __post_init__(self) -> None:
        if self.mediators not in get_args(Mediators):
            raise ValueError(
                f"Verbalizer: mediators must be keep, skip or join, got {self.mediators!r}"
            )

    def entity(self, name: str) -> str:
        """What an entity is called."""
        return self.labels.get(name, name)

    def relation(self, symbol: str) -> str:
        """A symbol in words: "place_of_birth" -> "place of birth", "^capital" -> "capital of"."""
        name, inverse = split_symbol(symbol)
        return f"{self._phrase(name)} of" if inverse else self._phrase(name)

    def symbol(self, symbol: str) -> str:
        """The symbol with its relation's label for a name, so that planners read the label."""
        name, inverse = split_symbol(symbol)
        if name not in self.relation_labels:
            return symbol
        label = self.relation_labels[name]
        escape = "\\" if label.startswith((INVERSE_MARK, "\\")) else ""
        return f"{INVERSE_MARK if inverse else ''}{escape}{label}"

    def path(
        self, entities: Sequence[str], symbols: Sequence[str], quote: Callable[[str], str] = str
    ) -> str:
        """One path on one line, arrows along the stored edges.

        "Lima <-capital- Peru -border-> Chile". `quote` is applied to every name and relation.
        ValueError unless there is one more entity than symbols.
        """
        if len(entities) != len(symbols) + 1:
            raise ValueError(
                f"verbalize_path: {len(symbols)} relations need {len(symbols) + 1} entities, "
                f"got {len(entities)}"
            )
        parts = [quote(self.entity(entities[0]))]
        since: list[str] = []  # relations since the last entity that was printed
        for i, symbol in enumerate(symbols, start=1):
            since.append(symbol)
            if i < len(symbols) and self.mediators != "keep" and self._mediates(entities[i]):
                continue
            parts += [*self._steps(since, quote), quote(self.entity(entities[i]))]
            since = []
        return " ".join(parts)

    def share_unnamed(self, paths: Iterable[Sequence[str]]) -> float:
        """Share of the distinct entities of paths that have no label and an opaque id; 0 of none.

        A prompt that mostly shows such ids cannot be answered: give `labels`.
        """
        names = {name for entities in paths for name in entities}
        return sum(map(self._unnamed, names)) / len(names) if names else 0.0

    def _phrase(self, name: str) -> str:
        if name in self.relation_labels:
            return self.relation_labels[name]
        core, context = relation_words(name)
        return " ".join((*context, *core) if self.context else core)

    def _steps(self, symbols: Sequence[str], quote: Callable[[str], str]) -> list[str]:
        split = [split_symbol(symbol) for symbol in symbols]
        if self.mediators != "join" or len(symbols) == 1:
            return [self._step(self._phrase(name), inverse, quote) for name, inverse in split]
        directions = {inverse for _, inverse in split}
        if len(directions) == 1:
            names = [name for name, _ in split]
            backwards = directions == {True}
            phrases = map(self._phrase, reversed(names) if backwards else names)
            return [self._step(self.template.joined.join(phrases), backwards, quote)]
        phrases = map(self.relation, symbols)
        return [self._step(self.template.joined.join(phrases), False, quote)]

    def _step(self, phrase: str, inverse: bool, quote: Callable[[str], str]) -> str:
        form = self.template.inverse if inverse else self.template.forward
        return form.format(relation=quote(phrase))

    def _unnamed(self, name: str) -> bool:
        return name not in self.labels and is_opaque(name)

    def _mediates(self, name: str) -> bool:
        if self.is_mediator is None:
            return self._unnamed(name)
        return self.is_mediator(name) if callable(self.is_mediator) else name in self.is_mediator


_PLAIN = Verbalizer()


def verbalize_relation(symbol: str) -> str:
    """`Verbalizer.relation` without labels."""
    return _PLAIN.relation(symbol)


def verbalize_path(entities: Sequence[str], symbols: Sequence[str]) -> str:
    """`Verbalizer.path` without labels; every entity is printed."""
    return _PLAIN.path(entities, symbols)
