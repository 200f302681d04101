"""Finding the graph's entities in running text."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hyperhop.graph.arguments import at_least
from hyperhop.graph.knowledge_graph import KnowledgeGraph
from hyperhop.graph.linking.aliases import Aliases, AliasTable
from hyperhop.graph.linking.dense import DenseTexts
from hyperhop.graph.linking.fuzzy import FuzzyKeys, rapidfuzz
from hyperhop.graph.linking.lexicon import How, Lexicon, Meaning, Meanings
from hyperhop.graph.linking.spans import Span, free_spans, is_suffix, words
from hyperhop.graph.names import fold
from hyperhop.text import TextEncoder, get_encoder

_FUZZY = 0.5  # a fuzzy score lies between 0.5 and 0.7, a dense one between 0 and 0.5
_FUZZY_RANGE = 0.2
_DENSE_RANGE = 0.5


@dataclass(frozen=True)
class EntityMatch:
    """An entity that a text mentions.

    Attributes:
        entity: its id.
        name: its name, verbatim.
        span: (start, end) of the mention in the text, in characters.
        score: 1.0 where the text spells the name exactly, 0.9 where both only have the same key;
            0.8 and 0.75 for an alias alike; 0.5 + 0.2 * ratio / 100 for a fuzzy match; 0.5 * cosine
            for a dense one. So a kind never outdoes one that stands before it in this list.
        how: which of these it is: "exact", "folded", "alias", "fuzzy" or "dense".
    """

    entity: int
    name: str
    span: Span
    score: float
    how: How = "exact"


class EntityLinker:
    """Finds mentions of entities: by name, and where asked by alias, likeness or meaning.

    Args:
        kg: the graph. Its keys are indexed when first needed; those of the default `normalize`
            are kept with the graph, and hold only names that are not their own key.
        aliases: other texts for entities: a mapping from alias to entity name (or names), or the
            path of a UTF-8 table of lines "alias TAB entity name".
        alias_relations: names of relations whose tails are aliases of their heads, as "name" or
            "alternate_name" in many graphs. The graph's own edges are read: nothing is built.
        normalize: text to key, for names, aliases and questions; names with one key are the same
            name. Default: NFKC, case folded, "_" and white space as one space. It is called for
            every name once. An empty key never matches.
        fuzzy: None, or the least ratio (above 0, at most 100) by which a key may differ:
            100 * (1 - insertions and deletions / sum of lengths). Looked for in what is left of the
            text. Up to 4,000 names all are compared; of more, the 256 that share most trigrams with
            the mention (see `link`). Needs the extra `link`.
        encoder: None, or a TextEncoder (or its name) for matches by meaning in what is then left.
            All names are encoded once, when first needed: 4 * dim bytes a name.
        min_score: least cosine of a dense match.
        top: entities kept of a fuzzy or dense mention.
        max_words: longest mention in words (an ideograph is one), where keys cannot tell that no
            longer one exists: fuzzy, dense, and all with a `normalize` of one's own.
        stop_words: words that are no mention by themselves, by their key; a fuzzy or dense mention
            does not start or end with one. None by default.

    Raises TypeError and ValueError for arguments of a wrong kind, UnknownRelation for
    `alias_relations`, ValueError naming the line for an alias of an entity the graph does not have,
    ImportError naming the extra `link`.
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        *,
        aliases: Aliases | None = None,
        alias_relations: Iterable[str] = (),
        normalize: Callable[[str], str] | None = None,
        fuzzy: float | None = None,
        encoder: str | TextEncoder | None = None,
        min_score: float = 0.5,
        top: int = 5,
        max_words: int = 8,
        stop_words: Iterable[str] = (),
    ) -> None:
        if not isinstance(kg, KnowledgeGraph):
            raise TypeError(f"EntityLinker: kg must be a KnowledgeGraph, got {type(kg).__name__}")
        if normalize is not None and not callable(normalize):
            raise TypeError(
                f"EntityLinker: normalize must be callable, got {type(normalize).__name__}"
            )
        self.kg = kg
        self._relations = [kg.relation_id(r) for r in _strings("alias_relations", alias_relations)]
        self._normalize = fold if normalize is None else normalize
        self._fuzzy = None if fuzzy is None else _number("fuzzy", fuzzy, 100.0)
        self._min_score = _number("min_score", min_score, 1.0)
        self._encoder = get_encoder(encoder) if isinstance(encoder, str) else encoder
        self._top = at_least("EntityLinker", "top", top, 1)
        self._max_words = at_least("EntityLinker", "max_words", max_words, 1)
        self._stop_words = frozenset(map(self._normalize, _strings("stop_words", stop_words)))
        self._aliases = None if aliases is None else AliasTable(kg, aliases)
        if self._fuzzy is not None:
            rapidfuzz()  # a missing extra is an error now

    def __getstate__(self) -> dict[str, Any]:
        built = ("_lexicon", "_fuzzy_keys", "_dense_texts")  # again when needed
        return {name: value for name, value in self.__dict__.items() if name not in built}

    def link(self, text: str) -> list[EntityMatch]:
        """Mentions that do not overlap, longest first, then leftmost.

        A mention starts and ends at the edge of a word or punctuation mark, so quotes, a question
        mark or a possessive 's around a name do not hide it. A shorter mention that overlaps a
        longer one is dropped. Several entities that a mention may mean are all returned, by score,
        then by name.

        After the mentions found by key (exact, folded, alias) come fuzzy ones in words that are
        left, those of the best ratio first, then longest, then leftmost; then dense ones likewise
        by cosine. O(words * words of the longest name * log V) by key; of V > 4,000 names a fuzzy
        span reads some 16,384 places of its rarest trigrams; dense is O(spans * V * dim).
        """
        _check_text("link", "text", text)
        taken = bytearray(len(text))
        matches: list[EntityMatch] = []
        mentions = sorted(self._by_key(text), key=lambda m: (m[0][0] - m[0][1], m[0][0]))
        for span, key in mentions:
            if _take(span, taken):
                matches += self._matches(span, self._lexicon.meanings(key, text[slice(*span)]))
        for finder in (self._by_likeness, self._by_meaning):
            spans = self._free_spans(text, taken)
            found = zip(spans, finder([text[start:end] for start, end in spans]), strict=True)
            likely = [(span, meanings) for span, meanings in found if meanings]
            for span, meanings in sorted(likely, key=_best_first):
                if _take(span, taken):
                    matches += self._matches(span, meanings)[: self._top]
        return matches

    def candidates(self, mention: str, k: int = 10) -> list[EntityMatch]:
        """The k best entities that a given mention may mean, by score, then by name.

        All ways in their order, each entity once with its best score; `stop_words` do not apply.
        The span is the whole mention.
        """
        _check_text("candidates", "mention", mention)
        count = at_least("candidates", "k", k, 1)
        meanings = self._lexicon.meanings(self._lexicon.key(mention), mention)
        for finder in (self._by_likeness, self._by_meaning):
            if len(meanings) >= count:
                break
            for entity, meaning in finder([mention], count)[0].items():
                meanings.add([entity], meaning)
        return self._matches((0, len(mention)), meanings)[:count]

    @cached_property
    def _lexicon(self) -> Lexicon:
        return Lexicon(self.kg, self._aliases, self._relations, self._normalize)

    @cached_property
    def _fuzzy_keys(self) -> list[FuzzyKeys]:
        if self._fuzzy is None:
            return []
        return [FuzzyKeys(texts, self._fuzzy) for texts in self._lexicon.texts]

    @cached_property
    def _dense_texts(self) -> list[DenseTexts]:
        if self._encoder is None:
            return []
        return [DenseTexts(texts, self._encoder) for texts in self._lexicon.texts]

    def _by_key(self, text: str) -> Iterator[tuple[Span, str]]:
        """Spans with the key of a name or alias, and that key."""
        lexicon = self._lexicon
        built_in = self._normalize is fold
        spans = words(text)
        for first, span in enumerate(spans):
            if is_suffix(text, span):
                continue
            start = span[0]
            last = len(spans) if built_in else first + self._max_words
            for place in range(first, min(last, len(spans))):
                end = spans[place][1]
                key = lexicon.key(text[start:end])
                if lexicon.knows(key):
                    if key not in self._stop_words:
                        yield (start, end), key
                # Underscores alone fold to themselves, before a word they fold to nothing.
                elif built_in and key.strip("_") and not lexicon.has_prefix(key):
                    break

    def _free_spans(self, text: str, taken: bytearray) -> list[Span]:
        """Spans that a fuzzy or dense match may have."""
        if self._fuzzy is None and self._encoder is None:
            return []
        return list(free_spans(text, taken, self._max_words, self._is_stop_word))

    def _is_stop_word(self, word: str) -> bool:
        return self._lexicon.key(word) in self._stop_words

    def _by_likeness(self, mentions: list[str], count: int | None = None) -> list[Meanings]:
        """Entities with a key like a mention's: the best `count`, and those as good as the last."""
        found = [Meanings() for _ in mentions]
        keys = [self._lexicon.key(mention) for mention in mentions]
        close = [(texts, texts.closest(keys)) for texts in self._fuzzy_keys]
        for i, meanings in enumerate(found):
            hits = [(ratio, key, texts) for texts, of in close for key, ratio in of[i]]
            hits.sort(key=lambda hit: (-hit[0], hit[1]))
            last = 0.0
            for ratio, key, texts in hits:
                if len(meanings) >= (count or self._top) and ratio != last:
                    break
                last = ratio
                meaning = Meaning(_FUZZY + _FUZZY_RANGE * ratio / 100, "fuzzy")
                meanings.add(texts.entities(key), meaning)
        return found

    def _by_meaning(self, mentions: list[str], count: int | None = None) -> list[Meanings]:
        """Entities with a name or alias close in meaning."""
        found = [Meanings() for _ in mentions]
        for texts in self._dense_texts:
            near = texts.closest(mentions, count or self._top, self._min_score)
            for meanings, hits in zip(found, near, strict=True):
                for entities, cosine in hits:
                    meanings.add(entities, Meaning(_DENSE_RANGE * cosine, "dense"))
        return found

    def _matches(self, span: Span, meanings: Meanings) -> list[EntityMatch]:
        names = self.kg.entity_names(meanings)
        matches = [
            EntityMatch(entity, name, span, meaning.score, meaning.how)
            for (entity, meaning), name in zip(meanings.items(), names, strict=True)
        ]
        return sorted(matches, key=lambda match: (-match.score, match.name))


def _take(span: Span, taken: bytearray) -> bool:
    """Takes a span of the text; False if some of it was taken before."""
    start, end = span
    free = not any(taken[start:end])
    if free:
        taken[start:end] = b"\1" * (end - start)
    return free


def _best_first(mention: tuple[Span, Meanings]) -> tuple[float, int, int]:
    (start, end), meanings = mention
    return -max(meaning.score for meaning in meanings.values()), start - end, start


def _check_text(function: str, argument: str, text: Any) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{function}: {argument} must be str, got {type(text).__name__}")


def _strings(argument: str, values: Iterable[str]) -> list[str]:
    listed = None if isinstance(values, str) else list(values)
    if listed is None or not all(isinstance(value, str) for value in listed):
        raise TypeError(f"EntityLinker: {argument} must be several str, got {values!r}")
    return listed


def _number(argument: str, value: Any, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"EntityLinker: {argument} must be a number, got {type(value).__name__}")
    if not 0 < value <= most:
        raise ValueError(
            f"EntityLinker: {argument} must be above 0 and at most {most:g}, got {value}"
        )
    return float(value)
