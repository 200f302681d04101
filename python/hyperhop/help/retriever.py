"""HELP: evidence for questions over passages, and a corpus that may change."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from functools import cached_property, partial
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from hyperhop.evidence import Evidence, Reader
from hyperhop.help import change, store
from hyperhop.help.build import Triples, build_index
from hyperhop.help.index import PassageIndex, Storage, Weighting
from hyperhop.help.passages import Passage
from hyperhop.help.scorers import CACHED, ScorerName
from hyperhop.help.search import Search
from hyperhop.help.settings import RetrievalSettings
from hyperhop.llm.reader import VectorReader
from hyperhop.retrieval.answering import Answering
from hyperhop.retrieval.batch import Progress, in_chunks
from hyperhop.retrieval.clock import Clock
from hyperhop.retrieval.topics import Topic, Topics, check_question, topics_by_question
from hyperhop.text import TextEncoder, encode_queries, encoder_for
from hyperhop.text.settings import check_encoder_name

Result = TypeVar("Result")


class HELP(Answering):
    """Answers questions over passages, by HyperNodes of the triples that they state.

    Args:
        index: what `build_index` made or `load` opened; `HELP.build` and `HELP.open` do both.
        encoder: None for the one the index was made with; another one is refused, see
            `encoder_for`. It is made where it is first needed.
        scorer: how near a HyperNode is to the question. "composition" (default): by the normalised
            sum of its triples' embeddings, so that only the question is encoded; "encoder" (the
            paper): by the embedding of its text, every candidate encoded; "cascade": the encoder
            picks from a `shortlist` made by composition.
        levels: N of algorithm 1, triples of a HyperNode at most. Seeds are level 1.
        n: seeds, the triples nearest to the question.
        k: HyperNodes kept at each level.
        quota: M, how many of the passages shown are found by HyperNodes, where there are so many; 0
            is dense retrieval alone, from `passages` on all are.
        passages: K, passages shown, or all there are.
        keep_parents: HyperNodes also compete with the larger ones made of them (algorithm 1 to the
            letter).
        reader: what `answer` reads with; a VectorReader if None.
        weighting: w of a passage in eq. 4, see `PassageIndex.source_weights`.
        sharpness: a of e^(-a dist) in eq. 4; 1 is the paper's, more lets near HyperNodes decide.
        context: how far the row of a triple is drawn towards those of its passages, for seeds and
            composition, see `contextual_rows`; 0 is the paper's. A second array of rows is made.
        lexical: how much dense retrieval heeds words, 0 (the paper) to 1: this times the share of
            the question's words that a passage holds, rare ones counting most, is added to its
            cosine, see `Wording`.
        named: what is added, 0 (the paper) to 1, to the cosine of a passage whose title stands in
            the question, see `Titles`, and, where seeds are chosen, to that of its triples.
        relevance: b of the factor e^(b (s - 1)) on the score of eq. 4, where s is the passage's
            score in dense retrieval; 0 is the paper's.
        shortlist: HyperNodes that "cascade" has encoded at each level; never fewer than k.
        cached: HyperNode texts whose vectors are kept for later questions.

    With `named` and `relevance` at 0 it is the method as the paper has it.

    There is no topic: ValueError where one is given. `explain` changes nothing.

    Evidence holds passages, each with how it was found, the HyperNodes of the last level, nearest
    first, and what scoring took. Passages found by HyperNodes come first, by the score of eq. 4;
    then those by their own cosine. Equal scores go by passage id, equal HyperNodes by their text,
    so that a corpus answers alike in any order. What has an embedding that is not finite comes
    after everything else, and never seeds a HyperNode; a question whose embedding is not finite is
    refused (ValueError).

    A question alone and in a batch give the same bits, as far as its encoder does (with "encoder"
    and "cascade" of HyperNodes too).
    """

    system = "HELP"

    def __init__(
        self,
        index: PassageIndex,
        encoder: str | TextEncoder | None = None,
        scorer: ScorerName = "composition",
        levels: int = 2,
        n: int = 5,
        k: int = 50,
        quota: int = 4,
        passages: int = 5,
        keep_parents: bool = False,
        reader: Reader | None = None,
        *,
        weighting: Weighting = "inverse",
        sharpness: float = 1.0,
        context: float = 0.0,
        lexical: float = 0.0,
        named: float = 0.2,
        relevance: float = 10.0,
        shortlist: int = 200,
        cached: int = CACHED,
    ) -> None:
        self.settings = RetrievalSettings(
            scorer,
            levels,
            n,
            k,
            quota,
            passages,
            keep_parents,
            weighting,
            sharpness,
            context,
            lexical,
            named,
            relevance,
            shortlist,
            cached,
        )
        check_encoder_name(index.encoder, encoder)
        self.reader = VectorReader() if reader is None else reader
        self._encoder = encoder
        self._made_with = index.encoder
        self._changing = Lock()
        self._search = self._searching(index)

    def __reduce__(self) -> tuple[Any, ...]:
        settings = {"reader": self.reader, **asdict(self.settings)}
        return partial(type(self), **settings), (self.index, self._encoder)

    @classmethod
    def build(
        cls,
        corpus: Iterable[Passage | str | Mapping[str, Any]] | None,
        /,
        triples: Triples | None = None,
        encoder: str | TextEncoder = "hashing",
        *,
        storage: Storage = "float32",
        synonyms: float | None = None,
        progress: Progress | None = None,
        **settings: Any,
    ) -> "HELP":
        """Index passages, see `build_index`; `settings` are the arguments of HELP."""
        index = build_index(
            corpus, triples, encoder, storage=storage, synonyms=synonyms, progress=progress
        )
        return cls(index, None if isinstance(encoder, str) else encoder, **settings)

    @classmethod
    def open(
        cls, directory: str | os.PathLike[str], *, verify: bool = False, **settings: Any
    ) -> "HELP":
        """Open what `save` wrote; `settings` are arguments of HELP and win over those saved.

        Raises DamagedStore, FileNotFoundError, see `load`.
        """
        index, stored = store.load(directory, verify)
        names = {one.name for one in fields(RetrievalSettings)}
        saved = {name: value for name, value in stored.items() if name in names}
        return cls(index, **{**saved, **settings})

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Write index and settings to a directory; see `help.store.save`."""
        store.save(directory, self.index, asdict(self.settings))

    @property
    def index(self) -> PassageIndex:
        """What is searched now."""
        return self._search.index

    @cached_property
    def encoder(self) -> TextEncoder:
        """The encoder; made when it is first needed, with the errors of `encoder_for`."""
        return encoder_for(self._made_with, self._encoder)

    def add(
        self,
        passages: Iterable[Passage | str | Mapping[str, Any]],
        triples: Triples | None = None,
        *,
        progress: Progress | None = None,
    ) -> None:
        """Add passages after those there are; see `help.change.add`.

        Retrieval under way in other threads goes on over the index as it was.
        """
        self._change(change.add, passages, triples, progress=progress)

    def remove(self, ids: Iterable[str], *, progress: Progress | None = None) -> None:
        """Remove passages by id; see `help.change.remove`."""
        self._change(change.remove, ids, progress=progress)

    def update(
        self,
        passages: Iterable[Passage | str | Mapping[str, Any]],
        triples: Triples | None = None,
        *,
        progress: Progress | None = None,
    ) -> None:
        """Replace passages of the same ids, where they stand; see `help.change.update`."""
        self._change(change.update, passages, triples, progress=progress)

    def retrieve(
        self,
        question: str,
        topic: Topic = None,
        *,
        explain: bool = False,
        threads: int | None = None,
    ) -> Evidence:
        """Evidence for one question, with timings in ms.

        Stages timed: encode (the question), seeds, expand (all further levels), dense, locate
        (eq. 4, the quota).
        """
        self._refuse([topic])
        return self._retrieve([question], threads)[0]

    def _each(
        self,
        questions: Sequence[str],
        topics: Topics | None,
        finish: Callable[[str, Evidence], Result],
        threads: int | None,
        progress: Progress | None,
    ) -> list[Result]:
        self._refuse(topics_by_question(self.system, topics, len(questions)))

        def work(places: Sequence[int]) -> list[Result]:
            asked = [questions[place] for place in places]
            return list(map(finish, asked, self._retrieve(asked, 1)))

        return in_chunks(range(len(questions)), work, threads, progress, self.system)

    def _retrieve(self, questions: Sequence[str], threads: int | None) -> list[Evidence]:
        """Evidence for some questions; each is told an equal share of the time they took."""
        for question in questions:
            check_question(self.system, question)
        search, clock = self._search, Clock()
        queries = encode_queries(self.encoder, questions)
        if not np.isfinite(queries).all():
            raise ValueError(f"HELP: {self.encoder.name!r} gave NaN or infinity for a question")
        clock.lap("encode")
        found = search.find(questions, queries, clock, threads)
        share = {stage: lap / len(questions) for stage, lap in clock.laps.items()}
        return [replace(evidence, timings=share) for evidence in found]

    def _searching(self, index: PassageIndex) -> Search:
        return Search(index, self.settings, lambda: self.encoder)

    def _change(
        self, change: Callable[..., PassageIndex], *given: Any, progress: Progress | None
    ) -> None:
        """One change after another; readers see the old index or the new one."""
        with self._changing:
            index = change(self.index, *given, encoder=self.encoder, progress=progress)
            self._search = self._searching(index)

    def _refuse(self, topics: Sequence[Topic]) -> None:
        given = next((topic for topic in topics if topic is not None), None)
        if given is not None:
            raise ValueError(f"HELP: it takes no topic, the question alone is read, got {given!r}")
