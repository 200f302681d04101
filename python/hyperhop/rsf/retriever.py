"""RSF: link, extract, encode, flow, decode; a trained model answers without torch."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import Any, Literal, TypeVar, get_args

from hyperhop.evidence import Evidence, Reader
from hyperhop.flow.backtrack import Score
from hyperhop.graph import EntityLinker
from hyperhop.graph.arguments import at_least, check_hubs
from hyperhop.graph.walks import Hubs
from hyperhop.llm.reader import VectorReader
from hyperhop.retrieval.answering import Answering
from hyperhop.retrieval.batch import Progress, in_chunks
from hyperhop.retrieval.clock import Clock
from hyperhop.retrieval.topics import (
    Topic,
    TopicNotFound,
    Topics,
    check_question,
    topics_by_question,
    topics_of,
)
from hyperhop.rsf.anchors import DenseAnchors
from hyperhop.rsf.batch import FlowBatch
from hyperhop.rsf.decode import Decoding, decode
from hyperhop.rsf.expand import Expansion, expand
from hyperhop.rsf.graphs import MAX_EDGES, Ball, FlowRelations, balls
from hyperhop.rsf.network import Network
from hyperhop.rsf.store import StoredModel, answer_share_of, load
from hyperhop.rsf.text import QuestionVectors, asked, encode_entities, question_vectors
from hyperhop.text import TextEncoder, Verbalizer, encoder_for
from hyperhop.text.settings import check_encoder_name

Result = TypeVar("Result")
Anchors = Literal["names", "dense"]
Extract = Callable[[tuple[int, ...]], Ball]


class RSF(Answering):
    """Answers questions by a flow from the topic that a trained model steers; needs no torch.

    Args:
        model: what `hyperhop.rsf.store.load` opened; `RSF.load` does both.
        encoder: None for the one the model was trained with; another one is refused, see
            `encoder_for`. It is made where it is first needed.
        k: entities to list at least (where so many have flow), with all that answer.
        paths: different paths to an answer at most.
        score: what backtracking follows, see `hyperhop.flow.backtrack`.
        radius: of the ball around the topics; None for the one trained with.
        reachable_only: False lets flow leak as eq. 4 has it; evidence tells how much did.
        path_cap: entities to list at most.
        answer_share: which of them answer, see `hyperhop.rsf.cut.answer_count`; None for what was
            chosen when the model was trained.
        reader: what `answer` reads with; a VectorReader if None.
        max_degree, hubs, max_edges: bounds on the ball, see `KnowledgeGraph.subgraph`. Evidence
            names the hubs that were met, and is `truncated` where `max_edges` or `path_cap` cut.
        anchors: how topics are found that are not given: "names" links the longest mention,
            "dense" takes the entity nearest to the whole question (eq. 1).
        linker: what finds mentions; by name if None.
        verbalizer: labels for the VectorReader.
        expansion: flow over the whole graph, hop by hop, in place of a ball cut around the topics,
            see `hyperhop.rsf.expand`. `radius`, `max_degree`, `max_edges` and leaks do not go
            with it. Evidence tells what each hop dropped, and is `truncated` where a bound cut.

    Topic: `topic=` (a name, an id, or several, over which the flow starts evenly) wins.
    TopicNotFound if the question names none, UnknownEntity for a `topic` the graph does not have.
    A graph without entities gives evidence without paths.

    Evidence holds the answers by flow, ties by name, the paths to them, each with a certificate,
    and what each hop did. Every returned path has been looked up in the graph edge by edge. A
    question alone and in a batch differ by what its encoder makes of it alone and among others.
    """

    system = "RSF"

    def __init__(
        self,
        model: StoredModel,
        encoder: str | TextEncoder | None = None,
        k: int = 10,
        paths: int = 1,
        score: Score = "pi*beta",
        reader: Reader | None = None,
        *,
        radius: int | None = None,
        reachable_only: bool = True,
        path_cap: int = 1_000,
        answer_share: float | None = None,
        max_degree: int | None = None,
        hubs: Hubs = "sample",
        max_edges: int = MAX_EDGES,
        anchors: Anchors = "names",
        linker: EntityLinker | None = None,
        verbalizer: Verbalizer | None = None,
        expansion: Expansion | None = None,
    ) -> None:
        for name, value in (("k", k), ("paths", paths), ("path_cap", path_cap)):
            at_least(self.system, name, value, 1)
        if score not in get_args(Score):
            raise ValueError(f"RSF: score must be pi or pi*beta, got {score!r}")
        if anchors not in get_args(Anchors):
            raise ValueError(f"RSF: anchors must be names or dense, got {anchors!r}")
        check_hubs(self.system, hubs)
        if not isinstance(expansion, Expansion | None):
            kind = type(expansion).__name__
            raise TypeError(f"RSF: expansion must be an Expansion or None, got {kind}")
        of_a_ball = (radius, max_degree) != (None, None) or max_edges != MAX_EDGES
        if expansion is not None and (of_a_ball or not reachable_only):
            raise ValueError(
                "RSF: an expansion has no ball: it takes no radius, max_degree or max_edges, "
                "and nothing leaks in it"
            )
        check_encoder_name(model.settings, encoder)
        self.model, self.kg = model, model.kg
        self.radius = model.radius if radius is None else at_least(self.system, "radius", radius, 0)
        self.relations = FlowRelations(model.kg, model.config.inverse, model.config.stay)
        self.reader = VectorReader(verbalizer) if reader is None else reader
        share = model.answer_share if answer_share is None else answer_share_of(answer_share)
        self._decoding = Decoding(k, paths, score, path_cap, bool(reachable_only), share)
        self._bounds: dict[str, Any] = {
            "max_degree": max_degree,
            "hubs": hubs,
            "max_edges": at_least(self.system, "max_edges", max_edges, 1),
        }
        self._network = Network(model.config, model.weights, model.tables.relations)
        self._expansion = expansion
        self._encoder = encoder
        self._by_meaning = anchors == "dense"
        if linker is not None and linker.kg is not model.kg:
            raise ValueError("RSF: linker must be one of the same graph")
        self._linker = EntityLinker(model.kg) if linker is None else linker

    @classmethod
    def load(
        cls, directory: str | os.PathLike[str], *, verify: bool = False, **settings: Any
    ) -> "RSF":
        """Open a model's directory; `settings` are the arguments above.

        Raises DamagedStore, FileNotFoundError.
        """
        return cls(load(directory, verify), **settings)

    @cached_property
    def encoder(self) -> TextEncoder:
        """The encoder; made when it is first needed, with the errors of `encoder_for`."""
        return encoder_for(self.model.settings, self._encoder)

    @cached_property
    def anchors(self) -> DenseAnchors:
        """Entities by the meaning of a whole question.

        Of a model that does not read what entities are called, their vectors are not stored: all
        are encoded when this is first used.
        """
        rows = self.model.tables.entities
        if rows is None:
            rows = encode_entities(self.kg, self.encoder)
        return DenseAnchors(self.kg, rows, self.encoder)

    def ball(self, topic: Topic) -> Ball:
        """The part of the graph that flows from a topic go over.

        Raises as `retrieve` does for a topic that is not there.
        """
        return self._ball(self._given(topic))

    def retrieve(
        self,
        question: str,
        topic: Topic = None,
        *,
        explain: bool = False,
        threads: int | None = None,
    ) -> Evidence:
        """Evidence for one question: answers, their paths, hops and timings in ms.

        Stages timed: link, extract (the ball, if there is one), encode, flow, decode. `explain`
        also tells which relations each hop followed.
        """
        return self._retrieve(question, topic, self._ball, explain, threads)

    def _retrieve(
        self, question: str, topic: Topic, extract: Extract, explain: bool, threads: int | None
    ) -> Evidence:
        check_question(self.system, question)
        clock = Clock()
        topics = self._topics(question, topic)
        clock.lap("link")
        if not topics:
            return Evidence(timings=clock.laps)
        if self._expansion is None:
            ball = extract(topics)
            clock.lap("extract")
            vectors = self._encoded(question, topics, clock)
            evidence = self._flowed(ball, vectors, explain, threads, clock)
        else:
            vectors = self._encoded(question, topics, clock)
            evidence = self._expanded(topics, vectors, self._expansion, explain, clock)
        return replace(evidence, topic=self.kg.entity_name(topics[0]), timings=clock.laps)

    def _encoded(self, question: str, topics: tuple[int, ...], clock: Clock) -> QuestionVectors:
        text = asked(question, self.kg.entity_names(topics), self.model.mention)
        vectors = question_vectors(self.encoder, [text], self.model.config.question == "tokens")
        clock.lap("encode")
        return vectors

    def _flowed(
        self,
        ball: Ball,
        vectors: QuestionVectors,
        explain: bool,
        threads: int | None,
        clock: Clock,
    ) -> Evidence:
        """What flows over the ball around the topics."""
        batch = FlowBatch.pack([ball.graph], [ball.topics], [ball.entities])
        rows = self.model.tables.entities if self.model.config.reads_texts else None
        found = self._network.run(
            batch,
            None if rows is None else rows[ball.entities],
            vectors,
            reachable_only=self._decoding.reachable_only,
            threads=threads,
        )
        clock.lap("flow")
        evidence = decode(self.kg, self.relations, ball, found, self._decoding, explain)
        clock.lap("decode")
        return evidence

    def _expanded(
        self,
        topics: tuple[int, ...],
        vectors: QuestionVectors,
        how: Expansion,
        explain: bool,
        clock: Clock,
    ) -> Evidence:
        """What flows over the whole graph."""
        rows = self.model.tables.entities if self.model.config.reads_texts else None
        found = expand(
            self.kg,
            self.relations,
            self._network,
            rows,
            vectors,
            topics,
            how,
            ends=max(self._decoding.k, self._decoding.cap),
        )
        clock.lap("flow")
        evidence = decode(self.kg, self.relations, found.ball, found.flows, self._decoding, explain)
        clock.lap("decode")
        told = zip(evidence.hops, found.reached, found.dropped, strict=True)
        hops = [replace(hop, reached=reached, dropped=lost) for hop, reached, lost in told]
        return replace(evidence, hops=hops)

    def _each(
        self,
        questions: Sequence[str],
        topics: Topics | None,
        finish: Callable[[str, Evidence], Result],
        threads: int | None,
        progress: Progress | None,
    ) -> list[Result]:
        given = topics_by_question(self.system, topics, len(questions))

        def work(places: Sequence[int]) -> list[Result]:
            extract = cache(self._ball)  # neighbours often have one topic
            return [
                finish(questions[i], self._retrieve(questions[i], given[i], extract, False, 1))
                for i in places
            ]

        return in_chunks(given, work, threads, progress, self.system)

    def _ball(self, topics: tuple[int, ...]) -> Ball:
        return balls(self.kg, self.relations, [topics], self.radius, threads=1, **self._bounds)[0]

    def _given(self, topic: Topic) -> tuple[int, ...]:
        given = topics_of(self.system, topic)
        if not given:
            raise ValueError("RSF: topic must name at least one entity, got none")
        return tuple(self.kg._topic(self.system, one) for one in given)

    def _topics(self, question: str, topic: Topic) -> tuple[int, ...]:
        """Ids to start from; none where the graph is empty."""
        if topic is not None:
            return self._given(topic)
        if self.kg.num_entities == 0:
            return ()
        if self._by_meaning:
            found = [entity for entity, _ in self.anchors.find([question])[0]]
        else:
            found = [match.entity for match in self._linker.link(question)[:1]]
        if not found:
            raise TopicNotFound(question)
        return tuple(found)
