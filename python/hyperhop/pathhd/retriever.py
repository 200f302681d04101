"""PathHD: plan, encode, retrieve, read (algorithm 1 of the paper, vector-only)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from time import perf_counter
from typing import Literal, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from hyperhop import ghrr
from hyperhop.evidence import Answer, Evidence, EvidencePath, EvidenceSequence, Reader
from hyperhop.graph import EntityLinker, KnowledgeGraph
from hyperhop.graph.arguments import at_least, check_hubs
from hyperhop.graph.walks import Hubs, mediator_mask
from hyperhop.llm.reader import VectorReader
from hyperhop.pathhd.calibration import Calibration
from hyperhop.pathhd.candidates import Candidates, name_ranks
from hyperhop.pathhd.explain import explain as explain_sequences
from hyperhop.pathhd.planners import Planner, Plans, get_planner, needs_encoder
from hyperhop.pathhd.planners.question import find_mention
from hyperhop.pathhd.query import QueryKind, encode_query
from hyperhop.text import TextEncoder, Verbalizer, encoder_for
from hyperhop.text.settings import check_encoder_name

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_MOST_TOPICS = 3  # mentions planned from, where a question names several entities


class TopicNotFound(LookupError):
    """The question names no entity of the graph."""


class PathHD:
    """Answers questions by relation sequences that exist from the topic entity.

    Args:
        kg: the graph.
        encoder: what `get_encoder` accepts or a TextEncoder, used by the planner "embedding" on
            words and groups of words (so that its `query_prompt` plays no part); None for the one
            that `kg.settings` name, else "hashing". ValueError if the settings name another one.
            It is made, and checked against the settings, where it is first needed: with "embedding"
            here, with "lexical" not before `PathHD.encoder` is read.
        planner: "lexical", "embedding" or a Planner over `kg.symbols`.
        k: how many results to keep.
        k_unit: "sequence": the K best distinct relation sequences, each with its entity paths;
            "path": the K best entity paths (algorithm 1).
        max_hops: longest sequence; shorter ones are candidates too.
        inverse: also walk edges backwards.
        simple: no entity twice on a path.
        return_to_topic: whether a walk may come back to its topic.
        beam: sequences kept at each depth, see `KnowledgeGraph.sequences`.
        cap: sequences in all.
        path_cap: entity paths in all; every sequence keeps at least one. Ends of sequences are
            complete however small it is.
        calibration: None for plain similarities, a Calibration, or a preset's name (without
            training frequencies, see Calibration).
        query: "bundle" (default): the K best plans bundled, so that ranks 2..K follow the planner;
            "best": the paper's single plan, whose ranks 2..K are noise. See `encode_query`.
        reader: what `answer` reads with; a VectorReader if None.
        blocks, block_size, family, seed: the codebook over `kg.symbols`, built here once.
        max_degree, hubs, mediators: which edges walks follow, see `KnowledgeGraph.sequences`.
            Evidence names the hubs that were met.
        linker: what finds topics in a question; by name if None.
        verbalizer: labels for a planner given by name and for the VectorReader. A reader given here
            brings its own.

    Topic: `topic=` (name or id) wins. Otherwise the entities the question mentions are linked by
    name; of several, the first three (longest mention first) are planned from, and the best plan
    decides, the earlier one where plans weigh the same. TopicNotFound if there is none,
    UnknownEntity for a `topic` the graph does not have. A graph without entities gives evidence
    without paths.

    Ties are broken by relation names, then entity names, so a graph's answer does not depend on the
    order its file had. Every returned path has been looked up in the graph edge by edge.
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        encoder: str | TextEncoder | None = None,
        planner: str | Planner = "lexical",
        k: int = 3,
        k_unit: Literal["sequence", "path"] = "sequence",
        max_hops: int = 4,
        inverse: bool = True,
        simple: bool = False,
        return_to_topic: bool = True,
        beam: int | None = None,
        cap: int = 100_000,
        path_cap: int = 1_000,
        calibration: Calibration | str | None = None,
        query: QueryKind = "bundle",
        reader: Reader | None = None,
        blocks: int = 256,
        block_size: int = 4,
        family: ghrr.Family = "haar",
        seed: int = 0,
        *,
        max_degree: int | None = None,
        hubs: Hubs = "sample",
        mediators: npt.ArrayLike | None = None,
        linker: EntityLinker | None = None,
        verbalizer: Verbalizer | None = None,
    ) -> None:
        for name, value in (("k", k), ("max_hops", max_hops), ("path_cap", path_cap)):
            if value < 1:
                raise ValueError(f"PathHD: {name} must be at least 1, got {value}")
        if k_unit not in ("sequence", "path"):
            raise ValueError(f"PathHD: k_unit must be sequence or path, got {k_unit!r}")
        if query not in ("bundle", "best"):
            raise ValueError(f"PathHD: query must be bundle or best, got {query!r}")
        check_hubs("PathHD", hubs)
        if max_degree is not None:
            at_least("PathHD", "max_degree", max_degree, 1)
        self.kg = kg
        self.k, self.k_unit, self.query = k, k_unit, query
        self.max_hops, self.inverse = max_hops, inverse
        self.simple, self.return_to_topic = simple, return_to_topic
        self.beam, self.cap, self.path_cap = beam, cap, path_cap
        self.max_degree, self.hubs = max_degree, hubs
        self.mediators = None if mediators is None else mediator_mask("PathHD", kg, mediators)
        check_encoder_name(kg.settings, encoder)
        self._encoder = encoder
        symbols = kg.symbols
        words = Verbalizer() if verbalizer is None else verbalizer
        self.planner = (
            get_planner(
                planner,
                [words.symbol(name) for name in _spoken(kg)],
                self.encoder if needs_encoder(planner) else None,
            )
            if isinstance(planner, str)
            else planner
        )
        self.calibration = (
            Calibration.preset(calibration) if isinstance(calibration, str) else calibration
        )
        self.reader = VectorReader(words) if reader is None else reader
        self.codebook = ghrr.Codebook(symbols, blocks, block_size, family, seed)
        self._symbols, self._ranks = symbols, name_ranks(symbols)
        if linker is not None and linker.kg is not kg:
            raise ValueError("PathHD: linker must be one of the same graph")
        self._linker = EntityLinker(kg) if linker is None else linker

    @cached_property
    def encoder(self) -> TextEncoder:
        """The encoder; made when it is first needed, with the errors of `encoder_for`."""
        return encoder_for(self.kg.settings, self._encoder)

    def retrieve(
        self,
        question: str,
        topic: str | int | None = None,
        *,
        explain: bool = False,
        threads: int | None = None,
    ) -> Evidence:
        """Evidence for one question: the best sequences and their paths, scores and timings in ms.

        Stages timed: link, plan (enumerating sequences included), encode, score, expand, and
        explain, which fills in `EvidenceSequence.explanation`.
        """
        clock = _Clock()
        topics = self._topics(question, topic)
        clock.lap("link")
        if not topics:
            return Evidence(timings=clock.laps)
        entity, candidates, plans, hub_ids = self._plan(question, topics)
        clock.lap("plan")
        name = self.kg.entity_name(entity)
        hubs = self.kg.entity_names(hub_ids.tolist())
        truncated = candidates.paths.truncated
        if len(candidates) == 0:
            return Evidence(topic=name, timings=clock.laps, truncated=truncated, hubs=hubs)
        vector = encode_query(self.codebook, candidates, plans, self.query, self.k, threads)
        clock.lap("encode")
        scores = self._score(vector, candidates, threads)
        clock.lap("score")
        evidence = self._expand(entity, candidates, plans, scores)
        clock.lap("expand")
        if explain:
            evidence = self._explained(evidence, vector, candidates, scores)
            clock.lap("explain")
        return replace(
            evidence,
            topic=name,
            timings=clock.laps,
            truncated=truncated or evidence.truncated,
            hubs=hubs,
        )

    def answer(
        self, question: str, topic: str | int | None = None, *, threads: int | None = None
    ) -> Answer:
        """The reader's answer to the evidence retrieved; timings of both."""
        evidence = self.retrieve(question, topic, threads=threads)
        return _timed(self.reader.read(question, evidence), evidence)

    def retrieve_batch(
        self,
        questions: Sequence[str],
        topics: Sequence[str | int | None] | None = None,
        *,
        threads: int | None = None,
    ) -> list[Evidence]:
        """`retrieve` of each question: the same bits. ValueError unless topics are as many.

        (The planner "embedding" is as exact as its encoder, whose rows may depend on what else was
        encoded in the same call: see TextEncoder.)
        """
        given = [None] * len(questions) if topics is None else list(topics)
        if len(given) != len(questions):
            raise ValueError(f"PathHD: {len(questions)} questions, but {len(given)} topics")
        return [
            self.retrieve(question, topic, threads=threads)
            for question, topic in zip(questions, given, strict=True)
        ]

    def answer_batch(
        self,
        questions: Sequence[str],
        topics: Sequence[str | int | None] | None = None,
        *,
        threads: int | None = None,
    ) -> list[Answer]:
        """`answer` of each question: the same bits. A reader's `read_batch` reads them all.

        What it raises, for whichever question, is raised and no answer returned. To keep the others
        hand it the evidence of `retrieve_batch` yourself: see `LLMReader.read_batch`.
        """
        evidence = self.retrieve_batch(questions, topics, threads=threads)
        answers = self._read_batch(questions, evidence)
        return [_timed(answer, one) for answer, one in zip(answers, evidence, strict=True)]

    async def aanswer(
        self, question: str, topic: str | int | None = None, *, threads: int | None = None
    ) -> Answer:
        """`answer` for callers inside an event loop: retrieves in a thread, awaits the reader.

        A reader without `aread` reads in a thread too.
        """
        evidence = await _in_thread(self.retrieve, question, topic, threads=threads)
        aread = getattr(self.reader, "aread", None)
        answer = (
            await aread(question, evidence)
            if aread is not None
            else await _in_thread(self.reader.read, question, evidence)
        )
        return _timed(answer, evidence)

    async def aanswer_batch(
        self,
        questions: Sequence[str],
        topics: Sequence[str | int | None] | None = None,
        *,
        threads: int | None = None,
    ) -> list[Answer]:
        """`answer_batch` for callers inside an event loop, as `aanswer`."""
        evidence = await _in_thread(self.retrieve_batch, questions, topics, threads=threads)
        aread_batch = getattr(self.reader, "aread_batch", None)
        answers = (
            await aread_batch(questions, evidence)
            if aread_batch is not None
            else await _in_thread(self._read_batch, questions, evidence)
        )
        return [_timed(answer, one) for answer, one in zip(answers, evidence, strict=True)]

    def _read_batch(self, questions: Sequence[str], evidence: list[Evidence]) -> list[Answer]:
        read_batch = getattr(self.reader, "read_batch", None)
        if read_batch is None:
            return [self.reader.read(q, e) for q, e in zip(questions, evidence, strict=True)]
        answers: list[Answer] = read_batch(questions, evidence)
        return answers

    def _topics(
        self, question: str, topic: str | int | None
    ) -> list[tuple[int, tuple[int, int] | None]]:
        """(entity, mention) pairs to plan from; none where the graph is empty."""
        if topic is not None:
            entity = self.kg.entity_id(topic) if isinstance(topic, str) else int(topic)
            return [(entity, find_mention(question, self.kg.entity_name(entity)))]
        if self.kg.num_entities == 0:
            return []
        matches = self._linker.link(question)
        if not matches:
            raise TopicNotFound(
                f"the question names no entity of the graph; give one with topic=: {question!r}"
            )
        return [(match.entity, match.span) for match in matches[:_MOST_TOPICS]]

    def _plan(
        self, question: str, topics: list[tuple[int, tuple[int, int] | None]]
    ) -> tuple[int, Candidates, Plans, npt.NDArray[np.int32]]:
        """Topic, candidates, plans, and the hubs met (those on paths are among them)."""
        planned = []
        for entity, mention in topics:
            paths = self.kg.sequences(
                entity,
                self.max_hops,
                beam=self.beam,
                cap=self.cap,
                inverse=self.inverse,
                return_to_topic=self.return_to_topic,
                max_degree=self.max_degree,
                hubs=self.hubs,
                mediators=self.mediators,
            )
            candidates = Candidates(paths, self._symbols, self._ranks)
            plans = self.planner.plan(question, mention, candidates)
            planned.append((entity, candidates, plans, paths.hubs))
        # max keeps the first of equals
        return max(planned, key=lambda p: p[2].weights[0] if len(p[2]) else -np.inf)

    def _score(
        self, vector: npt.NDArray[np.float32], candidates: Candidates, threads: int | None
    ) -> npt.NDArray[np.float64]:
        similarities = ghrr.score_paths(self.codebook, vector, candidates.paths, threads=threads)
        if self.calibration is None:
            return np.asarray(similarities, np.float64)
        schemas = [candidates.relations(i) for i in range(len(candidates))]
        return self.calibration.apply(similarities, schemas)

    def _expand(
        self,
        entity: int,
        candidates: Candidates,
        plans: Plans,
        scores: npt.NDArray[np.float64],
    ) -> Evidence:
        """Entity paths of the best sequences, in order, until K are found."""
        planned = dict(zip(plans.sequences.tolist(), plans.weights.tolist(), strict=True))
        order = candidates.order(scores)
        paths: list[EvidencePath] = []
        sequences: list[EvidenceSequence] = []
        truncated = False
        # only `simple` leaves a sequence without paths and so needs a second round
        for start in range(0, len(order), self.k):
            room = self.k - (len(sequences) if self.k_unit == "sequence" else len(paths))
            if room <= 0 or len(paths) >= self.path_cap:
                break
            chosen = order[start : start + self.k]
            found = self.kg.paths(
                entity,
                self.max_hops,
                sequences=candidates.paths.take(chosen),
                cap=self.path_cap,
                simple=self.simple,
                return_to_topic=self.return_to_topic,
                max_degree=self.max_degree,
                hubs=self.hubs,
                mediators=self.mediators,
            )
            truncated = truncated or found.truncated or found.ends_truncated
            for row, index in enumerate(chosen.tolist()):
                ids = found.of_sequence(row)
                if len(ids) == 0 or room <= 0:
                    continue
                self._check(ids, candidates.paths[index])
                names, width = self.kg.entity_names(ids.ravel().tolist()), ids.shape[1]
                walks = [names[i : i + width] for i in range(0, len(names), width)]
                ends = self.kg.entity_names(found.ends_of(row).tolist())
                if not self.kg.ids_are_ranks:  # then order by id is not by name
                    walks.sort()
                    ends.sort()
                if self.k_unit == "path":
                    walks = walks[:room]
                room -= 1 if self.k_unit == "sequence" else len(walks)
                relations, score = candidates.relations(index), float(scores[index])
                paths += [EvidencePath(walk, relations, score) for walk in walks]
                weight = planned.get(index, float("-inf"))
                sequences.append(EvidenceSequence(relations, ends, score, weight))
        return Evidence(paths=paths, sequences=sequences, truncated=truncated)

    def _explained(
        self,
        evidence: Evidence,
        vector: npt.NDArray[np.float32],
        candidates: Candidates,
        scores: npt.NDArray[np.float64],
    ) -> Evidence:
        found = (candidates.find(sequence.relations) for sequence in evidence.sequences)
        chosen = [index for index in found if index is not None]
        explanations = explain_sequences(self.codebook, vector, candidates, scores, chosen)
        pairs = zip(evidence.sequences, explanations, strict=True)
        return replace(evidence, sequences=[replace(one, explanation=why) for one, why in pairs])

    def _check(self, walks: npt.NDArray[np.int32], symbols: npt.NDArray[np.int32]) -> None:
        """Every step of every path, int32 (n, L + 1), must be a fact of the graph."""
        relations = self.kg.num_relation_ids
        inverse = symbols >= relations
        before, after = walks[:, :-1], walks[:, 1:]
        heads, tails = np.where(inverse, after, before), np.where(inverse, before, after)
        labels = np.broadcast_to(np.where(inverse, symbols - relations, symbols), heads.shape)
        wrong = np.argwhere(~self.kg.has_triples(heads, labels, tails))
        if len(wrong):
            place = tuple(wrong[0])
            fact = tuple(int(part[place]) for part in (heads, labels, tails))
            raise RuntimeError(f"PathHD: a path holds {fact}, which is no fact of the graph")


def _spoken(kg: KnowledgeGraph) -> list[str]:
    """Symbol names to plan with: a retired relation repeats another, so that it adds no word."""
    symbols, relations = list(kg.symbols), kg.num_relation_ids
    used = set(kg.relation_ids.tolist())
    if used:
        for retired in set(range(relations)) - used:
            symbols[retired] = symbols[min(used)]
            symbols[relations + retired] = symbols[relations + min(used)]
    return symbols


def _timed(answer: Answer, evidence: Evidence) -> Answer:
    """The answer with the times of both."""
    return replace(answer, timings={**evidence.timings, **answer.timings})


async def _in_thread(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    import asyncio  # whoever awaits has it; nobody else waits for it

    return await asyncio.to_thread(function, *args, **kwargs)


class _Clock:
    """Milliseconds by stage."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, stage: str) -> None:
        now = perf_counter()
        self.laps[stage] = (now - self._last) * 1e3
        self._last = now
