"""Which entities a text means: by its own spelling, by its key, by an alias."""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from hyperhop._core import FoldedNames, NameIndex
from hyperhop.graph.knowledge_graph import KnowledgeGraph
from hyperhop.graph.linking.aliases import AliasTable
from hyperhop.graph.names import fold

How = Literal["exact", "folded", "alias", "fuzzy", "dense"]

_EXACT, _FOLDED = 1.0, 0.9
_ALIAS, _FOLDED_ALIAS = 0.8, 0.75


class Meaning(NamedTuple):
    """How sure it is that a mention means an entity."""

    score: float
    how: How


class Meanings(dict[int, Meaning]):
    """The best meaning of each entity; of equals the first."""

    def add(self, entities: Iterable[int], meaning: Meaning) -> None:
        """Offers one meaning for some entities."""
        for entity in entities:
            if entity not in self or self[entity].score < meaning.score:
                self[entity] = meaning


class Texts(NamedTuple):
    """Texts by id and by key, and the entities that each of them means."""

    names: NameIndex
    keys: FoldedNames
    entities: Callable[[int], Iterable[int]]


class Lexicon:
    """Entity names and aliases of a graph, and what they mean."""

    def __init__(
        self,
        kg: KnowledgeGraph,
        aliases: AliasTable | None,
        alias_relations: Sequence[int],
        normalize: Callable[[str], str],
    ) -> None:
        self._normalize = normalize
        self._kg = kg
        self._alias_relations = alias_relations
        built_in = normalize is fold
        keys = kg.folded_names if built_in else FoldedNames(kg._entities, normalize, ascii=False)
        self._entities = Texts(kg._entities, keys, self._with_heads)
        self._aliases = None
        self.texts = [self._entities]
        if aliases is not None:
            keys = FoldedNames(aliases.names, normalize, ascii=built_in)
            self._aliases = Texts(aliases.names, keys, aliases.entities)
            self.texts.append(self._aliases)

    def key(self, text: str) -> str:
        """What texts are compared by."""
        key = self._normalize(text)
        if not isinstance(key, str):
            raise TypeError(f"EntityLinker: normalize must return str, got {type(key).__name__}")
        return key

    def knows(self, key: str) -> bool:
        """Has a name or alias this key?"""
        return any(texts.keys.find(key) for texts in self.texts)

    def has_prefix(self, key: str) -> bool:
        """False: no key begins so."""
        return any(texts.keys.has_prefix(key) for texts in self.texts)

    def meanings(self, key: str, mention: str) -> Meanings:
        """Entities whose name or alias has this key, spelled as the mention or not."""
        found = Meanings()
        for text in self._entities.keys.find(key):
            same = self._entities.names.name(text) == mention
            found.add([text], Meaning(_EXACT, "exact") if same else Meaning(_FOLDED, "folded"))
            found.add(self._heads(text), _alias(same))
        if self._aliases is not None:
            for text in self._aliases.keys.find(key):
                same = self._aliases.names.name(text) == mention
                found.add(self._aliases.entities(text), _alias(same))
        return found

    def _with_heads(self, entity: int) -> list[int]:
        return [entity, *self._heads(entity)]

    def _heads(self, entity: int) -> list[int]:
        """Entities that have this one as an alias by a relation of the graph."""
        heads: list[int] = []
        for relation in self._alias_relations:
            heads += self._kg.neighbors(entity, "in", relation)[1].tolist()
        return heads


def _alias(same: bool) -> Meaning:
    return Meaning(_ALIAS if same else _FOLDED_ALIAS, "alias")
