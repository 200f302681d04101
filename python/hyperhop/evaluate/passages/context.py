"""A set with its vectors: what systems are made over, once for all of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from hyperhop.evaluate.baselines import BM25, PPR, Dense
from hyperhop.evaluate.passages.passage_set import PassageSet
from hyperhop.evaluate.passages.sets import load
from hyperhop.evaluate.question import Question
from hyperhop.evidence import Retriever
from hyperhop.help import HELP, PassageIndex, build_index
from hyperhop.help.index import Storage
from hyperhop.help.settings import RetrievalSettings
from hyperhop.text import TextEncoder, get_encoder
from hyperhop.text.batches import Progress

Item = TypeVar("Item")

SYSTEMS = ("help", "ppr", "dense", "bm25")
WITH_TRIPLES = ("help", "ppr")
DEEPEST = 10  # passages that baselines return
PPR_SYNONYMS = 0.8  # HippoRAG's least similarity of two names that are linked
INDEX_OPTIONS: dict[str, Any] = {"synonyms": None}  # of `build_index`, and their defaults
INDEX_EXAMPLES: dict[str, Any] = {"synonyms": 0.8}  # a value of the kind that each takes
HELP_OPTIONS = (*(one.name for one in fields(RetrievalSettings)), *INDEX_OPTIONS)


class PassageContext:
    """Questions, and systems over the same passages, triples and vectors.

    Attributes:
        set: the set.
        questions: those that are asked.
        encoder: of passages, triples, names and questions.
        options: of HELP, where nothing else is said: see `HELP_OPTIONS`.
        studied: told (settings done, of) by studies; None for nobody.
        about: what all results over it have in common, as plain values.
    """

    def __init__(
        self,
        name: str,
        data_dir: str | Path,
        *,
        encoder: str | TextEncoder = "hashing",
        storage: Storage = "float32",
        limit: int | None = None,
        options: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Reads the set; nothing is encoded before a system is made.

        Args:
            name, data_dir: see `sets.load`.
            encoder: name or TextEncoder; a `CachedEncoder` encodes each text once in all runs.
            storage: of the index's rows.
            limit: ask the first questions only; the passages remain.
            options: of HELP.
            progress: told (texts encoded, of), for each index anew.

        ValueError for an option that is not known.
        """
        self.options = dict(options or {})
        unknown = self.options.keys() - set(HELP_OPTIONS)
        if unknown:
            raise ValueError(
                f"evaluate: options of help are {', '.join(HELP_OPTIONS)}, got {min(unknown)!r}"
            )
        self.set: PassageSet = load(name, data_dir)
        self.questions: Sequence[Question] = self.set.questions[:limit]
        self.encoder = get_encoder(encoder) if isinstance(encoder, str) else encoder
        self.about: dict[str, Any] = {
            "set": self.set.name,
            "benchmark": self.set.title,
            "oracle": self.set.oracle,
            "notes": list(self.set.said),
            "encoder": self.encoder.name,
            "storage": storage,
            "limit": limit,
        }
        self._storage: Storage = storage
        self._progress = progress
        self.studied: Progress | None = None
        self._indexes: dict[tuple[Any, ...], PassageIndex] = {}

    def track(self, settings: Sequence[Item]) -> Iterator[Item]:
        """The settings of a study one by one, telling how far it is."""
        for done, setting in enumerate(settings, 1):
            yield setting
            if self.studied is not None:
                self.studied(done, len(settings))

    @property
    def systems(self) -> tuple[str, ...]:
        """Those that can run: without triples, dense and BM25."""
        has_triples = self.set.triples is not None
        return tuple(name for name in SYSTEMS if has_triples or name not in WITH_TRIPLES)

    def index(self, **options: Any) -> PassageIndex:
        """The index with some of `INDEX_OPTIONS` replaced; made once for each choice of them."""
        chosen = {**INDEX_OPTIONS, **options}
        key = tuple(chosen.values())
        if key not in self._indexes:
            self._indexes[key] = build_index(
                self.set.passages,
                self.set.triples,
                self.encoder,
                storage=self._storage,
                progress=self._progress,
                **chosen,
            )
        return self._indexes[key]

    def index_of(self, system: str) -> PassageIndex:
        """The index that a system searches. Raises what `check` raises."""
        self.check(system)
        if system == "ppr":
            return self.index(synonyms=PPR_SYNONYMS)
        if system != "help":
            return self.index()
        chosen = {name: self.options[name] for name in INDEX_OPTIONS if name in self.options}
        return self.index(**chosen)

    def check(self, system: str) -> None:
        """ValueError for a system that is not known, or that needs triples which the set lacks."""
        if system not in SYSTEMS:
            raise ValueError(f"evaluate: system must be {', '.join(SYSTEMS)}, got {system!r}")
        if system not in self.systems:
            raise ValueError(
                f"evaluate: {system} needs triples, and nobody extracted any for "
                f"{self.set.title}: {', '.join(self.systems)} can run"
            )

    def system(self, name: str) -> Retriever:
        """A system of `SYSTEMS`. Raises what `check` raises, ImportError without the extra."""
        index = self.index_of(name)
        if name == "help":
            return self.help()
        if name == "ppr":
            return PPR(index, self.encoder, DEEPEST)
        if name == "dense":
            return Dense(index, self.encoder, DEEPEST)
        return BM25(index, DEEPEST)

    def help(self, encoder: TextEncoder | None = None, **options: Any) -> HELP:
        """HELP with the context's options, some of them replaced.

        `encoder` reads questions and HyperNodes in place of the context's: another instance of it.
        """
        self.check("help")
        chosen = {**self.options, **options}
        of_index = {name: chosen.pop(name) for name in INDEX_OPTIONS if name in chosen}
        return HELP(self.index(**of_index), encoder or self.encoder, **chosen)
