"""PathHD: plan, encode, retrieve, read (algorithm 1 of the paper, vector-only)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial, reduce
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from hyperhop import ghrr
from hyperhop.evidence import Evidence, Reader
from hyperhop.graph import EntityLinker, KnowledgeGraph
from hyperhop.graph.arguments import at_least, check_hubs
from hyperhop.graph.sequences import Sequences
from hyperhop.graph.walks import Hubs, mediator_mask
from hyperhop.llm.reader import VectorReader
from hyperhop.pathhd.calibration import Calibration
from hyperhop.pathhd.candidates import Candidates, name_ranks
from hyperhop.pathhd.codebooks import CodebookKind, TextQuery, check_kind, text_codebook
from hyperhop.pathhd.expand import Findings, Unit, expand
from hyperhop.pathhd.explain import explain as explain_sequences
from hyperhop.pathhd.joint import expand_meetings, explain_meetings, meet
from hyperhop.pathhd.planned import Planned, Scored
from hyperhop.pathhd.planners import Planner, get_planner, needs_encoder
from hyperhop.pathhd.planners.protocol import Span
from hyperhop.pathhd.query import TEMPERATURE, QueryKind, check_query, encode_query, score_query
from hyperhop.pathhd.reading import Reading, read_topics
from hyperhop.pathhd.walks import Walks
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
from hyperhop.text import TextEncoder, Verbalizer, encoder_for
from hyperhop.text.mention import find_mention
from hyperhop.text.settings import check_encoder_name

Result = TypeVar("Result")
Enumerate = Callable[[int], Sequences]

_MOST_TOPICS = 3  # mentions planned from, where a question names several entities


class PathHD(Answering):
    """Answers questions by relation sequences that exist from the topic entity.

    Args:
        kg: the graph.
        encoder: what `get_encoder` accepts or a TextEncoder, used by the planner "embedding" on
            single words (so that its `query_prompt` plays no part) and by "contextual" on the
            question without its topic; None for the one that `kg.settings` name, else "hashing".
            ValueError if the settings name another one. It is made, and checked against the
            settings, where it is first needed: with "embedding" and "contextual" here, with
            "lexical" not before `PathHD.encoder` is read or `codebook` or `query` asks for texts.
        planner: "lexical", "embedding", "contextual" or a Planner over `kg.symbols`.
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
            "best": the paper's single plan, whose ranks 2..K are noise; "weighted" and "mixture":
            soft plans made of the K best. See `encode_query`. "text": the question's embedding
            alone, which needs a codebook made of texts to be above chance. See `TextQuery`.
        reader: what `answer` reads with; a VectorReader if None.
        blocks, block_size, family, seed: the codebook over `kg.symbols`.
        codebook: "random" (default), whose rows are made when a question needs them; "semantic":
            unitary blocks that follow the embeddings of the relations' texts, so that relations of
            alike meaning score alike (`Codebook.from_embeddings`); "projected": these embeddings by
            the random projection of eq. 2, whose blocks are not unitary, so that what explanations
            unbind is approximate. `family` is that of "random" alone.
        temperature: of the queries "weighted" and "mixture", above 0.
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

    Two topics, "which film did Ann direct that stars Bob": `topic=[a, b]`, or two mentions of which
    the question says something each that is planned better than the whole from one of them (see
    `read_topics`). The answers are the entities that a sequence from each leads to; pairs of the
    best 8 sequences of each are tried, best mean of the planner's weights first (see `meet`), and
    the sequence of the second topic stands in `EvidenceSequence.constraint`. Where none meet, the
    best topic answers alone and `Evidence.unused_topics` names the other.

    Ties are broken by relation names, then entity names, so a graph's answer does not depend on the
    order its file had. Every returned path has been looked up in the graph edge by edge.
    """

    system = "PathHD"

    def __init__(
        self,
        kg: KnowledgeGraph,
        encoder: str | TextEncoder | None = None,
        planner: str | Planner = "lexical",
        k: int = 3,
        k_unit: Unit = "sequence",
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
        codebook: CodebookKind = "random",
        temperature: float = TEMPERATURE,
        max_degree: int | None = None,
        hubs: Hubs = "sample",
        mediators: npt.ArrayLike | None = None,
        linker: EntityLinker | None = None,
        verbalizer: Verbalizer | None = None,
    ) -> None:
        for name, value in (("k", k), ("max_hops", max_hops), ("path_cap", path_cap), ("cap", cap)):
            at_least("PathHD", name, value, 1)
        if k_unit not in ("sequence", "path"):
            raise ValueError(f"PathHD: k_unit must be sequence or path, got {k_unit!r}")
        check_query("PathHD", query, temperature)
        check_kind(codebook)
        check_hubs("PathHD", hubs)
        if max_degree is not None:
            at_least("PathHD", "max_degree", max_degree, 1)
        self.kg = kg
        self.k, self.k_unit = k, k_unit
        self.query, self.temperature = query, temperature
        self._walks = Walks(
            kg,
            max_hops,
            inverse,
            simple,
            return_to_topic,
            beam,
            cap,
            path_cap,
            max_degree,
            hubs,
            None if mediators is None else mediator_mask("PathHD", kg, mediators),
        )
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
        size = (blocks, block_size)
        if codebook == "random":
            self.codebook = ghrr.Codebook(symbols, *size, family, seed, lazy=True)
        else:
            texts = [words.relation(name) for name in symbols]
            self.codebook = text_codebook(codebook, symbols, texts, self.encoder, *size, seed)
        self._text_query = (
            TextQuery(codebook, self.encoder, *size, seed) if query == "text" else None
        )
        self._symbols, self._ranks = symbols, name_ranks(symbols)
        if linker is not None and linker.kg is not kg:
            raise ValueError("PathHD: linker must be one of the same graph")
        self._linker = EntityLinker(kg) if linker is None else linker

    @cached_property
    def encoder(self) -> TextEncoder:
        """The encoder; made when it is first needed, with the errors of `encoder_for`."""
        return encoder_for(self.kg.settings, self._encoder)

    @property
    def walks(self) -> Walks:
        """The rules by which sequences and their paths are found."""
        return self._walks

    def retrieve(
        self,
        question: str,
        topic: Topic = None,
        *,
        explain: bool = False,
        threads: int | None = None,
    ) -> Evidence:
        """Evidence for one question: the best sequences and their paths, scores and timings in ms.

        Stages timed: link, enumerate (the sequences that exist), plan, score, expand, and explain,
        which fills in `EvidenceSequence.explanation`; of two topics also meet, before score.
        """
        return self._retrieve(question, topic, self._walks.sequences, explain, threads)

    def _retrieve(
        self,
        question: str,
        topic: Topic,
        sequences: Enumerate,
        explain: bool,
        threads: int | None,
    ) -> Evidence:
        check_question(self.system, question)
        clock = Clock()
        topics = self._topics(question, topic)
        clock.lap("link")
        if not topics:
            return Evidence(timings=clock.laps)
        single, pairs = self._read_question(question, topics, sequences, topic is not None, clock)
        clock.lap("plan")
        findings, sides = self._findings(single, pairs, clock, explain, threads)
        unused: set[int] = set()
        if pairs and len(sides) == 1:
            unused = {side.entity for side in pairs[0]} - {single.entity}
        hubs = reduce(np.union1d, [side.hubs for side in sides])
        return Evidence(
            findings.topic,
            findings.paths,
            findings.sequences,
            timings=clock.laps,
            truncated=findings.truncated or any(side.candidates.paths.truncated for side in sides),
            hubs=self.kg.entity_names(hubs) if hubs.size else [],
            unused_topics=sorted(map(self.kg.entity_name, unused)),
            planner_calls=list(single.plans.calls),
        )

    def _findings(
        self,
        single: Planned,
        pairs: list[tuple[Planned, Planned]],
        clock: Clock,
        explain: bool,
        threads: int | None,
    ) -> tuple[Findings, Sequence[Planned]]:
        """Those of the first pair of topics that meet, else of one topic; and which they are."""
        for first, second in pairs:
            findings = self._joint(first, second, clock, explain, threads)
            if findings is not None:
                return findings, (first, second)
        return self._single(single, clock, explain, threads), (single,)

    def _single(
        self, planned: Planned, clock: Clock, explain: bool, threads: int | None
    ) -> Findings:
        if len(planned.candidates) == 0:
            return Findings(self.kg.entity_name(planned.entity), [], [], False)
        scored = self._scored(planned, clock, threads)
        findings = expand(
            self._walks,
            planned.entity,
            planned.candidates,
            planned.plans,
            scored.scores,
            self.k,
            self.k_unit,
        )
        clock.lap("expand")
        if explain:
            findings = self._explained(findings, scored)
            clock.lap("explain")
        return findings

    def _joint(
        self,
        first: Planned,
        second: Planned,
        clock: Clock,
        explain: bool,
        threads: int | None,
    ) -> Findings | None:
        """Findings of two topics; None where no sequences from them meet."""
        meetings = meet(self._walks, first, second, self.k)
        clock.lap("meet")
        if not meetings.found:
            return None
        sides = self._scored(first, clock, threads), self._scored(second, clock, threads)
        findings = expand_meetings(self._walks, *sides, meetings, self.k, self.k_unit)
        clock.lap("expand")
        if explain:
            findings = explain_meetings(self.codebook, findings, *sides, meetings)
            clock.lap("explain")
        return findings

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
            known = cache(self._walks.sequences)  # neighbours often have one topic
            return [
                finish(questions[i], self._retrieve(questions[i], given[i], known, False, 1))
                for i in places
            ]

        return in_chunks(given, work, threads, progress, self.system)

    def _topics(self, question: str, topic: Topic) -> list[tuple[int, Span | None]]:
        """(entity, mention) pairs to plan from; none where the graph is empty."""
        if topic is not None:
            given = topics_of(self.system, topic)
            ids = [self.kg.entity_id(one) if isinstance(one, str) else one for one in given]
            if not 1 <= len(set(ids)) == len(ids) <= 2:
                raise ValueError(f"PathHD: topic must be one or two different ones, got {topic!r}")
            return [(one, find_mention(question, self.kg.entity_name(one))) for one in ids]
        if self.kg.num_entities == 0:
            return []
        matches = self._linker.link(question)
        if not matches:
            raise TopicNotFound(question)
        return [(match.entity, match.span) for match in matches[:_MOST_TOPICS]]

    def _read_question(
        self,
        question: str,
        topics: list[tuple[int, Span | None]],
        sequences: Enumerate,
        given: bool,
        clock: Clock,
    ) -> Reading:
        def exists(entity: int) -> tuple[Candidates, npt.NDArray[np.int32]]:
            paths = sequences(entity)
            candidates = Candidates(paths, self._symbols, self._ranks)
            clock.lap("enumerate")
            return candidates, paths.hubs

        return read_topics(self.planner, question, topics, exists, given)

    def _scored(self, planned: Planned, clock: Clock, threads: int | None) -> Scored:
        """The scores of all candidates."""
        candidates, text_query = planned.candidates, self._text_query
        soft = (candidates, planned.plans, self.query, self.k, self.temperature, threads)
        if text_query is not None:
            vector = text_query(*planned.clause, threads)
            similar = ghrr.score_paths(self.codebook, vector, candidates.paths, threads=threads)
            scores = np.asarray(similar, np.float64)
            encode = partial(text_query, *planned.clause, threads)
        else:
            scores = score_query(self.codebook, *soft)
            encode = partial(encode_query, self.codebook, *soft)
        if self.calibration is not None:
            schemas = [candidates.relations(i) for i in range(len(candidates))]
            scores = self.calibration.apply(scores, schemas)
        clock.lap("score")
        return Scored(planned, scores, encode)

    def _explained(self, findings: Findings, scored: Scored) -> Findings:
        candidates = scored.planned.candidates
        found = (candidates.find(sequence.relations) for sequence in findings.sequences)
        chosen = [index for index in found if index is not None]
        explanations = explain_sequences(
            self.codebook, scored.encode(), candidates, scored.scores, chosen
        )
        pairs = zip(findings.sequences, explanations, strict=True)
        return findings._replace(sequences=[replace(one, explanation=why) for one, why in pairs])


def _spoken(kg: KnowledgeGraph) -> list[str]:
    """Symbol names to plan with: a retired relation repeats another, so that it adds no word."""
    symbols, relations = list(kg.symbols), kg.num_relation_ids
    used = set(kg.relation_ids.tolist())
    if used:
        for retired in set(range(relations)) - used:
            symbols[retired] = symbols[min(used)]
            symbols[relations + retired] = symbols[relations + min(used)]
    return symbols
