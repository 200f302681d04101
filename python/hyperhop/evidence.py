"""What a retriever hands to a reader and a reader to the caller: evidence, answers, protocols."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, Protocol, runtime_checkable

from hyperhop._lazy import LazyList

NEAR = 0.5  # an entity with at least this share of the best one's score answers too


@dataclass(frozen=True)
class FlowStep:
    """One hop of a path that a flow took, and what carried the flow there.

    `relation` is a symbol name, or the one that stands for staying; `attention` the weight of it at
    that hop, `flow` the share of all flow on the entity after it, above 0.
    """

    relation: str
    attention: float
    flow: float


@dataclass(frozen=True)
class EvidencePath:
    """One walk in the graph: `len(entities) == len(relations) + 1`.

    `relations` are symbol names: a relation walked against its direction is marked with "^".
    `certificate` are the hops of a flow along the path, those that stay where they are among them;
    None where it was not found by a flow. A flow that never left its topic is a path of no step.
    """

    entities: list[str]
    relations: list[str]
    score: float
    certificate: tuple[FlowStep, ...] | None = None


@dataclass(frozen=True)
class PathGroup:
    """Paths along one relation sequence, whose names `entities(start, stop)` looks up."""

    relations: list[str]
    score: float
    count: int
    entities: Callable[[int, int], list[list[str]]]


class PathGroups(LazyList[EvidencePath]):
    """Paths, group by group, named when they are read: most of a thousand never are."""

    def __init__(self, groups: Sequence[PathGroup], count: int) -> None:
        """`count` is the number of all their paths, so that groups may be lazy too."""
        self._groups, self._count = groups, count

    def __len__(self) -> int:
        return self._count

    def along(self, relations: list[str]) -> list[int]:
        """Indexes of the paths along these relations. O(groups + paths found)."""
        found: list[int] = []
        first = 0
        for group in self._groups:
            if group.relations == relations:
                found += range(first, first + group.count)
            first += group.count
        return found

    def _make(self, start: int, stop: int) -> list[EvidencePath]:
        made: list[EvidencePath] = []
        first = 0
        for group in self._groups:
            begin, end = max(start - first, 0), min(stop - first, group.count)
            if begin < end:
                made += [
                    EvidencePath(entities, group.relations, group.score)
                    for entities in group.entities(begin, end)
                ]
            first += group.count
        return made


@dataclass(frozen=True)
class RelationFit:
    """How well one relation of a sequence fits what the query holds in its place.

    That is what is left of the query hypervector when all other relations of the sequence are
    unbound from it. `score` is the relation's similarity to it, which is that of the whole
    sequence; `instead` the symbol that fits best there, the relation itself where nothing is wrong
    with it, and `instead_score` what the sequence would score with it.
    """

    relation: str
    score: float
    instead: str
    instead_score: float


@dataclass(frozen=True)
class Explanation:
    """Why a sequence stands where it does.

    `margin` is its score less that of the next sequence (None for the last); `swapped` the best
    similarity it has with two neighbouring relations exchanged (None where there are none), which
    is low where the order counts; `fits` has one entry a relation. Similarities are those before
    calibration.
    """

    margin: float | None
    swapped: float | None
    fits: list[RelationFit]


@dataclass(frozen=True)
class Constraint:
    """A second topic and a relation sequence from it, which must lead to the same entities."""

    topic: str
    relations: list[str]
    explanation: Explanation | None = None


@dataclass(frozen=True)
class EvidenceSequence:
    """One relation sequence and *all* entities it leads to, by name, however many paths are shown.

    `ends` is a list, or reads like one and looks names up when they are read.
    `plan` is the planner's score of it, `score` the retriever's. With a `constraint` only entities
    that it leads to as well are `ends`, and both scores are means over the two sequences.
    """

    relations: list[str]
    ends: Sequence[str]
    score: float
    plan: float
    explanation: Explanation | None = None
    constraint: Constraint | None = None


@dataclass(frozen=True)
class EvidenceAnswer:
    """An entity that a retriever ranks itself, by name, and its score."""

    entity: str
    score: float


@dataclass(frozen=True)
class FlowHop:
    """What one hop of a flow did.

    Attributes:
        gate: how far it weighed what entities are about, from 0 to 1.
        attention: the relations it followed most, by symbol name, strongest first.
        reached: entities with flow after it; 0 if the flow died.
        leaked: share of the flow on entities that no edge brought any to.
        dropped: share that the hop left out, where it did not follow all flow.
    """

    gate: float
    attention: dict[str, float]
    reached: int
    leaked: float
    dropped: float = 0.0


@dataclass(frozen=True)
class EvidencePassage:
    """One passage of text, and how it was found.

    `found` is "path" where HyperNodes led to it, whose `score` is then that of eq. 4 of HELP, or
    "dense" where its own embedding did, whose `score` is a cosine, each with what `HELP` is set to
    add to it: the two do not compare.
    """

    id: str
    text: str
    score: float
    title: str | None = None
    found: Literal["path", "dense"] = "dense"

    @property
    def full_text(self) -> str:
        """The title, if there is one, on a line of its own, then the text."""
        return self.text if self.title is None else f"{self.title}\n{self.text}"


@dataclass(frozen=True)
class EvidenceHyperNode:
    """A set of connected facts that a retriever held against the question.

    Attributes:
        triples: (head, relation, tail) by name, in order of their text.
        distance: of its embedding from the question's, 0 (alike) to 2.
        passages: indexes into the evidence's passages, of those that state one of the triples.
    """

    triples: list[tuple[str, str, str]]
    distance: float
    passages: list[int]


@dataclass(frozen=True)
class EvidenceScoring:
    """What it took to score HyperNodes, by which scorer.

    `encoder_calls` are the HyperNodes that were encoded for this question, `cache_hits` those whose
    text had been encoded before. The question itself is counted in neither.
    """

    scorer: str
    encoder_calls: int = 0
    cache_hits: int = 0


@dataclass(frozen=True)
class PlannerCall:
    """What a planner asked a language model, and what came of it.

    Attributes:
        llm_calls: 1 if the call was completed, else 0; `llm_attempts` counts every request.
        prompt_tokens, completion_tokens: what it took, where the server says so.
        proposed: relation sequences that the model proposed and that exist, best first.
        dropped: what else it proposed, as it wrote it.
        unlisted: relations that were not shown to the model, because there were too many.
        raw, parse: the reply, and how it was read, as in `Answer`.
        fallback: why the planner without a language model planned in its place; "" if it did not.
    """

    llm_calls: int = 0
    llm_attempts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    proposed: list[list[str]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    unlisted: int = 0
    raw: str = ""
    parse: str = ""
    fallback: str = ""


@dataclass(frozen=True)
class Evidence:
    """Ranked evidence for one question, best first.

    `sequences` are the distinct relation sequences behind `paths`. Both are lists, or read like
    them: items are then made when they are read, and the graph stays in memory for it. `answers`
    are entities that the retriever itself ranks, where it does (a flow: by what arrives there);
    each ends a path; the first `answered` of them answer (None: it cannot tell). `hops` tell of a
    flow hop by hop. `timings` are milliseconds by stage. `truncated` says that an enumeration was
    cut, so that more may exist; `hubs` are the entities, by name, of which it did not follow every
    edge because that was asked for. `unused_topics` are topics that the question was read to be
    about too, by name, but from which nothing leads to the same entities. `planner_calls` are the
    calls of language models that planning took: mostly none. `hypernodes` are sets of facts behind
    the passages, nearest to the question first, and read like a list; `scoring` tells what scoring
    them took.
    """

    topic: str | None = None
    paths: Sequence[EvidencePath] = field(default_factory=list)
    sequences: Sequence[EvidenceSequence] = field(default_factory=list)
    passages: list[EvidencePassage] = field(default_factory=list)
    timings: Mapping[str, float] = field(default_factory=dict)
    truncated: bool = False
    hubs: list[str] = field(default_factory=list)
    unused_topics: list[str] = field(default_factory=list)
    planner_calls: list[PlannerCall] = field(default_factory=list)
    answers: list[EvidenceAnswer] = field(default_factory=list)
    hops: list[FlowHop] = field(default_factory=list)
    hypernodes: Sequence[EvidenceHyperNode] = field(default_factory=list)
    scoring: EvidenceScoring | None = None
    answered: int | None = None

    def answering(self) -> list[str]:
        """Entities that answer as far as the scores tell, by name.

        Of `answers` the first `answered`, or where nobody counted them those with at least half of
        the best one's score, best first. Without any, all ends of the best sequence; without
        sequences those of the paths that share the first path's relations, in order of name.
        """
        if self.answers and self.answered is not None:
            return [one.entity for one in self.answers[: self.answered]]
        if self.answers:
            least = NEAR * self.answers[0].score
            return [one.entity for one in self.answers if one.score >= least]
        if self.sequences:
            return list(self.sequences[0].ends)
        if not self.paths:
            return []
        return sorted({self.paths[i].entities[-1] for i in self.along(self.paths[0].relations)})

    def along(self, relations: list[str]) -> list[int]:
        """Indexes of the paths along these relations, ascending."""
        if isinstance(self.paths, PathGroups):
            return self.paths.along(relations)
        return [i for i, path in enumerate(self.paths) if path.relations == relations]

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, dicts, strings and numbers, ready for JSON."""
        sequences = [replace(one, ends=list(one.ends)) for one in self.sequences]
        whole = replace(
            self,
            paths=list(self.paths),
            sequences=sequences,
            hypernodes=list(self.hypernodes),
        )
        return asdict(whole)


@dataclass(frozen=True)
class Answer:
    """A reader's answer.

    Attributes:
        text: the answer in words, or why there is none.
        entities: the answers by their name in the graph, as far as the evidence holds them; an
            answer from a passage is as the reader wrote it.
        citations: indexes into the evidence's paths, and on into its passages.
        rationale: why the citations imply the answer.
        llm_calls: completed calls of a language model, the planner's among them where a retriever
            answered; `llm_attempts` counts every request.
        prompt_tokens, completion_tokens: what the calls took, where the server says so.
        timings: milliseconds by stage.
        unsupported: answers that are no end of a cited path and in no cited passage.
        dropped_citations: what the model cited and the evidence does not list, as it wrote it.
        unread: paths that were not shown to the model, because there were too many.
        raw: the model's reply as it came.
        parse: "parsed" if the reply had the form asked for, "repaired" if it was read all the same,
            "" without a reply that could be read.
        fallback: why the reader without a language model answered in its place; "" if it did not.
    """

    text: str
    entities: list[str] = field(default_factory=list)
    citations: list[int] = field(default_factory=list)
    rationale: str = ""
    llm_calls: int = 0
    llm_attempts: int = 0
    timings: Mapping[str, float] = field(default_factory=dict)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unsupported: list[str] = field(default_factory=list)
    dropped_citations: list[str] = field(default_factory=list)
    unread: int = 0
    raw: str = ""
    parse: str = ""
    fallback: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, dicts, strings and numbers, ready for JSON."""
        return asdict(self)


@runtime_checkable
class Retriever(Protocol):
    """Finds evidence for a question."""

    def retrieve(self, question: str, topic: str | None = None) -> Evidence:
        """Evidence, best first."""
        ...


@runtime_checkable
class Reader(Protocol):
    """Reads an answer out of evidence.

    A reader may also have `read_batch(questions, evidence) -> answers`, in order, for many at once,
    and the coroutines `aread` and `aread_batch`.
    """

    def read(self, question: str, evidence: Evidence) -> Answer:
        """The answer with its citations."""
        ...
