"""What became of each question: kept for error analysis, merged, compared, summed up."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from hyperhop.evaluate.files import json_lines
from hyperhop.evaluate.metrics import Difference, paired_difference


@dataclass(frozen=True)
class Record:
    """One question and what a system made of it.

    Attributes:
        id, question, topic, level, unit: see `Question`; the unit as text.
        gold, gold_paths: answers and relation paths, sorted.
        predicted: the first ten entities: the reader's, or without one the best sequence's ends in
            order of name, then those of the next.
        ends: how many entities are compared with the answer set: all the reader's, or without one
            all ends of the best sequence.
        path: relations of the best sequence; `rank` of the first gold path among those returned,
            from 1, None if there is none.
        text: the reader's answer in words.
        values: the metrics by name, 0 to 1; one that says nothing about this question is not there.
        milliseconds: by stage, and "total".
        truncated: whether the search was cut, so that more may exist. It counts like any other.
        unasked: why the system could not be asked, or "": then the question counts as missed.
        llm_calls, llm_attempts, prompt_tokens, completion_tokens: of planner and reader.
        passages: ids of the passages found, best first; `gold_passages` as `Question`, sorted.
        encoder_calls, cache_hits: candidates that were encoded to score them, and those whose
            vector was there already.
    """

    id: str
    question: str
    topic: str | None
    level: str
    unit: str
    gold: list[str]
    gold_paths: list[list[str]]
    predicted: list[str]
    ends: int
    path: list[str]
    rank: int | None
    text: str
    values: dict[str, float]
    milliseconds: dict[str, float]
    truncated: bool
    unasked: str = ""
    llm_calls: int = 0
    llm_attempts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    passages: list[str] = field(default_factory=list)
    gold_passages: list[str] = field(default_factory=list)
    encoder_calls: int = 0
    cache_hits: int = 0


def write_records(path: str | Path, records: Iterable[Record]) -> None:
    """One JSON object a line, UTF-8, whatever the locale."""
    with Path(path).open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(json.dumps(asdict(record), ensure_ascii=False) + "\n")


def read_records(path: str | Path) -> list[Record]:
    """What `write_records` wrote. MalformedLine for a line with other keys."""
    expected = {one.name for one in fields(Record)}
    found = []
    for entry in json_lines(path):
        if entry.values.keys() != expected:
            raise entry.wrong("the keys of a record", repr(sorted(entry.values)))
        found.append(Record(**entry.values))
    return found


def compare(
    first: Sequence[Record], second: Sequence[Record], metric: str = "hits@1"
) -> Difference:
    """How much better the first system did on the same questions, with its 95 % interval.

    ValueError unless both are about the same questions and know the metric for each of them.
    """
    others = {record.id: record for record in second}
    if len(others) != len(second) or others.keys() != {record.id for record in first}:
        raise ValueError(
            f"compare: expected the same questions, got {len(first)} and {len(second)} records, "
            f"{len(others.keys() & {record.id for record in first})} ids in common"
        )
    for record in (*first, *second):
        if metric not in record.values:
            raise ValueError(f"compare: {metric!r} was not measured for question {record.id!r}")
    ordered = sorted(first, key=lambda record: record.id)
    return paired_difference(
        [record.values[metric] for record in ordered],
        [others[record.id].values[metric] for record in ordered],
        [record.unit for record in ordered],
    )
