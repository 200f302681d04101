"""MetaQA (Zhang et al., AAAI 2018): movie questions of one, two and three hops."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from hyperhop.evaluate.files import lines

_PARTS = ("dev", "test")
# A question type names what each step leads to, "movie" in every second place.
_RELATIONS = {
    "actor": "starred_actors",
    "director": "directed_by",
    "genre": "has_genre",
    "imdbrating": "has_imdb_rating",
    "imdbvotes": "has_imdb_votes",
    "language": "in_language",
    "tag": "has_tags",
    "tags": "has_tags",
    "writer": "written_by",
    "year": "release_year",
}


@dataclass(frozen=True)
class MetaQuestion:
    """One question: its topic stands at `mention` (characters); `relations` is its gold path."""

    question: str
    topic: str
    mention: tuple[int, int]
    answers: frozenset[str]
    relations: tuple[str, ...]


def question_file(hops: int, part: str) -> str:
    """File of the questions of one part, without .gz."""
    return f"{hops}hop_qa_{part}.txt"


def load(hops: int, part: str, data_dir: str | Path) -> list[MetaQuestion]:
    """The questions of one file, in its order; `part` is "dev" or "test".

    Reads {hops}hop_qa_{part}.txt and {hops}hop_qa_{part}_qtype.txt, plain or .gz. ValueError for
    other hops or parts and for a line of another form, FileNotFoundError without the files.
    """
    if hops not in (1, 2, 3) or part not in _PARTS:
        raise ValueError(f"MetaQA has 1 to 3 hops and dev or test, got {hops!r}, {part!r}")
    base = f"{hops}hop_qa_{part}"
    questions = [line for _, line in lines(Path(data_dir) / f"{base}.txt")]
    types = [line for _, line in lines(Path(data_dir) / f"{base}_qtype.txt")]
    if len(questions) != len(types):
        raise ValueError(f"{base}: {len(questions)} questions, but {len(types)} types")
    pairs = zip(questions, types, strict=True)
    return [
        _parse(question, kind, f"{base}, question {number}")
        for number, (question, kind) in enumerate(pairs, 1)
    ]


def facts(data_dir: str | Path) -> Iterator[tuple[str, str, str]]:
    """The facts of kb.txt, plain or .gz: head, relation, tail."""
    for number, line in lines(Path(data_dir) / "kb.txt"):
        fields = line.split("|")
        if len(fields) != 3:
            raise ValueError(f"kb.txt, line {number}: expected head|relation|tail, got {line!r}")
        yield fields[0], fields[1], fields[2]


def _parse(line: str, kind: str, where: str) -> MetaQuestion:
    marked, tab, answers = line.partition("\t")
    start, end = marked.find("["), marked.find("]")
    if not tab or not 0 <= start < end:
        raise ValueError(f"{where}: expected a [topic] in it, TAB and answers, got {line!r}")
    topic = marked[start + 1 : end]
    return MetaQuestion(
        question=marked[:start] + topic + marked[end + 1 :],
        topic=topic,
        mention=(start, start + len(topic)),
        answers=frozenset(answers.split("|")),
        relations=_relations(kind.strip(), where),
    )


def _relations(kind: str, where: str) -> tuple[str, ...]:
    """Symbols of a type such as "actor_to_movie_to_year"."""
    steps = kind.split("_to_")
    path = []
    for before, after in pairwise(steps):
        thing, mark = (after, "") if before == "movie" else (before, "^")
        if (before == "movie") == (after == "movie") or thing not in _RELATIONS:
            raise ValueError(f"{where}: unknown question type {kind!r}")
        path.append(mark + _RELATIONS[thing])
    return tuple(path)
