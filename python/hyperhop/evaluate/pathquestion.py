"""PathQuestion and PathQuestion-Large (Zhou et al., COLING 2018): questions with gold paths."""

from dataclasses import dataclass
from pathlib import Path

from hyperhop.evaluate.files import lines, located

_FILES = {
    "PQ-2H": ("PQ-2H.txt", "2H-kb.txt", 2),
    "PQ-3H": ("PQ-3H.txt", "3H-kb.txt", 3),
    "PQL-2H": ("PQL-2H.txt", "PQL2-KB.txt", 2),
    "PQL-3H": ("PQL-3H.txt", "PQL3-KB.txt", 3),
    "PQL-3H_more": ("PQL-3H_more.txt", "PQL3-KB.txt", 3),
}


@dataclass(frozen=True)
class PathQuestion:
    """One question; `entities` and `relations` are its gold path, `answers` the whole set."""

    question: str
    answers: frozenset[str]
    entities: tuple[str, ...]
    relations: tuple[str, ...]

    @property
    def subject(self) -> str:
        """The topic entity."""
        return self.entities[0]

    @property
    def pair(self) -> tuple[str, tuple[str, ...]]:
        """(subject, relation path): the unit of the `disjoint` and `folds` splits."""
        return self.subject, self.relations


@dataclass(frozen=True)
class PathQuestionSet:
    """A question set and the file of its graph (head TAB relation TAB tail)."""

    name: str
    hops: int
    questions: list[PathQuestion]
    graph: Path


def names() -> list[str]:
    """Names of the sets."""
    return list(_FILES)


def question_file(name: str) -> str:
    """File of the questions of one set."""
    return _FILES[name][0]


def load(name: str, data_dir: str | Path) -> PathQuestionSet:
    """Read one set from the folder that holds the published files, plain or .gz, in file order.

    ValueError for an unknown name or a line of another form (with file and line number).
    """
    if name not in _FILES:
        raise ValueError(f"PathQuestion has the sets {', '.join(_FILES)}; got {name!r}")
    question_file, graph_file, hops = _FILES[name]
    folder = Path(data_dir)
    path = folder / question_file
    questions = [_parse(line, f"{path}, line {number}", hops) for number, line in lines(path)]
    return PathQuestionSet(name, hops, questions, located(folder / graph_file))


def _parse(line: str, where: str, hops: int) -> PathQuestion:
    fields = line.split("\t")
    if len(fields) != 3:
        raise ValueError(f"{where}: expected question TAB answers TAB path, got {line!r}")
    question, answers, gold = fields
    steps = gold.split("#<end>#")[0].split("#")
    end, answers = steps[-1], answers.strip()
    if len(steps) != 2 * hops + 1 or not (answers.startswith(f"{end}(") and answers.endswith("/)")):
        raise ValueError(
            f"{where}: expected answer(a/b/) and a path of {hops} hops to the answer, "
            f"got {answers!r}, {gold!r}"
        )
    # the list is separated by "/", which the path's own end may contain: take that out whole
    rest = f"/{answers[len(end) + 1 : -1]}".replace(f"/{end}/", "/", 1)
    listed = frozenset(name for name in rest.split("/") if name)
    return PathQuestion(question, listed | {end}, tuple(steps[::2]), tuple(steps[1::2]))
