"""What was extracted: passage by passage, with every loss, and in total."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from hyperhop.help.passages import Passage
from hyperhop.help.triples import Found, Triple

Status = Literal["parsed", "repaired", "failed", "empty"]


@dataclass(frozen=True)
class ExtractedPassage:
    """The entities and triples of one passage, and how they were come by.

    Attributes:
        passage: what was read.
        status: "parsed"; "repaired" where a reply, an entity or a triple was mended, or some were
            dropped; "empty" where the passage has no triple, or no text; "failed" where there is no
            usable reply.
        entities: distinct names, in the order given.
        triples: distinct (head, relation, tail), in the order given.
        reason: why it failed or is empty.
        mended: how many items (or replies) were mended, by what was wrong.
        dropped: how many items were dropped, by what was wrong.
        merged: duplicates.
        replies: every reply as it came, those that could not be used included.
        calls: completed calls.
        attempts: requests sent, with the client's retries.
        prompt_tokens: as the server counted them, of all calls.
        completion_tokens: likewise.
        seconds: from the first request to the last reply.
    """

    passage: Passage
    status: Status
    entities: list[str] = field(default_factory=list)
    triples: list[Triple] = field(default_factory=list)
    reason: str = ""
    mended: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    merged: int = 0
    replies: list[str] = field(default_factory=list)
    calls: int = 0
    attempts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    @property
    def id(self) -> str:
        """The passage's id."""
        return self.passage.id

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, dicts, strings and numbers, ready for JSON."""
        return asdict(self)


def settled(
    passage: Passage, found: Found, failure: str = "", nothing: str = "no triple", **spent: Any
) -> ExtractedPassage:
    """What was found as the record of one passage; `failure` and `nothing` are reasons."""
    status: Status = "repaired" if found.mended or found.dropped else "parsed"
    reason = ""
    if failure:
        status, reason = "failed", failure
    elif not found.triples:
        status, reason = "empty", nothing
    return ExtractedPassage(
        passage,
        status,
        found.entities,
        found.triples,
        reason,
        dict(found.mended),
        dict(found.dropped),
        found.merged,
        **spent,
    )


@dataclass(frozen=True)
class ExtractionReport:
    """Sums over all passages. `resumed` were finished by an earlier run, and cost nothing now.

    Calls, attempts, tokens and the seconds of a passage are those of the run that finished it;
    `seconds` is how long this run took.
    """

    passages: int
    parsed: int
    repaired: int
    failed: int
    empty: int
    resumed: int
    entities: int
    triples: int
    mended: Mapping[str, int]
    dropped: Mapping[str, int]
    merged: int
    calls: int
    attempts: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, strings and numbers, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            f"{self.passages:,} passages: {self.parsed:,} parsed, {self.repaired:,} repaired, "
            f"{self.empty:,} without triples, {self.failed:,} failed; "
            f"{self.resumed:,} from an earlier run",
            f"{self.triples:,} triples, {self.entities:,} entities, "
            f"{self.merged:,} duplicates merged",
        ]
        for what, counts in (("mended", self.mended), ("dropped", self.dropped)):
            if counts:
                listed = ", ".join(f"{reason} ({count:,})" for reason, count in counts.items())
                lines.append(f"{what}: {listed}")
        lines.append(
            f"{self.calls:,} calls, {self.attempts:,} requests, {self.prompt_tokens:,} prompt "
            f"and {self.completion_tokens:,} completion tokens, {self.seconds:.1f} s"
        )
        return "\n".join(lines)


@dataclass(frozen=True)
class Extraction:
    """All passages in the order given. `model` is "" where a file was read."""

    passages: list[ExtractedPassage]
    model: str = ""
    resumed: int = 0
    seconds: float = 0.0

    @property
    def failed(self) -> list[ExtractedPassage]:
        """The passages without a usable reply; the next run into the same directory tries again."""
        return [passage for passage in self.passages if passage.status == "failed"]

    def report(self) -> ExtractionReport:
        """The sums. O(passages)."""
        status = Counter(passage.status for passage in self.passages)
        mended: Counter[str] = Counter()
        dropped: Counter[str] = Counter()
        for passage in self.passages:
            mended.update(passage.mended)
            dropped.update(passage.dropped)

        def total(name: str) -> int:
            return sum(getattr(passage, name) for passage in self.passages)

        return ExtractionReport(
            passages=len(self.passages),
            parsed=status["parsed"],
            repaired=status["repaired"],
            failed=status["failed"],
            empty=status["empty"],
            resumed=self.resumed,
            entities=sum(len(passage.entities) for passage in self.passages),
            triples=sum(len(passage.triples) for passage in self.passages),
            mended=dict(mended.most_common()),
            dropped=dict(dropped.most_common()),
            merged=total("merged"),
            calls=total("calls"),
            attempts=total("attempts"),
            prompt_tokens=total("prompt_tokens"),
            completion_tokens=total("completion_tokens"),
            seconds=self.seconds,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, dicts, strings and numbers, ready for JSON: the report and every passage."""
        return {
            "model": self.model,
            "report": self.report().to_dict(),
            "passages": [passage.to_dict() for passage in self.passages],
        }
