"""The benchmarks by name or file, in one form."""

import random
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from hyperhop.evaluate import freebase, metaqa, nsm, pathquestion, rog
from hyperhop.evaluate.files import json_lines, located
from hyperhop.evaluate.question import Benchmark, Question
from hyperhop.evaluate.splits import disjoint_split, fold_split, random_split
from hyperhop.graph import KnowledgeGraph
from hyperhop.text.mention import find_mention

__all__ = [
    "FOLDS",
    "Benchmark",
    "Question",
    "is_file",
    "is_here",
    "load",
    "load_file",
    "names",
]

FOLDS = 10
_PATHQUESTION_FOLDER = "pathquestion"
_METAQA_FOLDER = "metaqa"
_FREEBASE_FOLDER = "webqsp_cwq_grailqa"
_METAQA = {f"MetaQA-{hops}": hops for hops in (1, 2, 3)}
_FILES = (".jsonl", ".json", ".jsonl.gz", ".json.gz")
# Chosen on dev (`disjoint`, seed 0): walking backwards loses hits in the PQ sets and gains none in
# the PQL sets; gold paths of all four come back to their topic ("the son of the father of ...").
_OF_PATHQUESTION = {"inverse": False, "return_to_topic": True}
# Chosen on dev (1,000 questions each): many gold paths walk backwards; and with the gold path all
# answer sets of 2 and 3 hops are exact where walks keep off the topic, .64 and .51 of them else.
_OF_METAQA = {"inverse": True, "return_to_topic": False}
# Usual for questions with subgraphs of their own; RoG's gold paths ignore direction.
_OF_FILES = {"max_hops": 2, "inverse": True}


def names() -> list[str]:
    """Names that `load` knows."""
    return [*pathquestion.names(), *_METAQA, *freebase.names()]


def is_here(name: str, data_dir: str | Path) -> bool:
    """Whether the questions of this name are where `load` looks for them, plain or .gz."""
    if name in _METAQA:
        folder, file = _METAQA_FOLDER, metaqa.question_file(_METAQA[name], "dev")
    elif name in freebase.names():
        folder, file = _FREEBASE_FOLDER, freebase.question_file(name)
    else:
        folder, file = _PATHQUESTION_FOLDER, pathquestion.question_file(name)
    return located(_inside(Path(data_dir), folder) / file).exists()


def is_file(name: str) -> bool:
    """Whether `load` takes this for the path of a file of questions: by its suffix."""
    return name.endswith(_FILES)


def load(
    name: str,
    data_dir: str | Path | None,
    split: str | None = None,
    *,
    fold: int = 0,
    seed: int = 0,
    limit: int | None = None,
) -> Benchmark:
    """A benchmark by name, or a file of questions with subgraphs of their own.

    Args:
        name: one of `names()`, or a path ending in .json or .jsonl, maybe .gz: see `load_file`.
        data_dir: the folder that holds the files of a named benchmark, or holds `pathquestion`,
            `metaqa` and `webqsp_cwq_grailqa`.
        split: of PathQuestion "disjoint" (the default), "random" or "folds" (with `fold`), see
            `hyperhop.evaluate.splits`. MetaQA has one, "published": nine tenths of the shuffled dev
            file are train, the rest dev, and the test file is test. WebQSP, CWQ and GrailQA have
            one, "test-only", see `hyperhop.evaluate.freebase`.
        limit: of a file, read its first questions only.

    ValueError for other names and splits, FileNotFoundError without the files.
    """
    if fold and split != "folds":
        raise ValueError(f"evaluate: fold {fold} needs split='folds', got {split!r}")
    if is_file(name):
        if split is not None:
            raise ValueError(f"evaluate: a file of questions has no splits, got {split!r}")
        return load_file(name, limit)
    if name not in names():
        raise ValueError(
            f"evaluate: expected one of {', '.join(names())} or a file ending in "
            f"{' or '.join(_FILES[:2])}, got {name!r}"
        )
    if data_dir is None:
        raise ValueError(f"evaluate: {name} needs the folder that holds its files, got None")
    folder = Path(data_dir)
    if name in _METAQA:
        _check_only_split(name, split, "published")
        return _load_metaqa(name, _inside(folder, _METAQA_FOLDER), seed)
    if name in freebase.names():
        _check_only_split(name, split, freebase.SPLIT)
        return freebase.load(name, _inside(folder, _FREEBASE_FOLDER), seed)
    return _load_pathquestion(name, _inside(folder, _PATHQUESTION_FOLDER), split, fold, seed)


def load_file(path: str | Path, limit: int | None = None) -> Benchmark:
    """A file of questions with subgraphs of their own, RoG's or NSM's form, told by their keys.

    All questions are its part "test"; one without gold answers counts as missed. ValueError for a
    file without questions or without any answers, and for a question without a subgraph.
    """
    first = next(json_lines(path), None)
    if first is None:
        raise ValueError(f"evaluate: {path} holds no questions")
    read: Callable[[str | Path], Iterator[Question]] = (
        nsm.read if "subgraph" in first.values else rog.read
    )
    questions = list(islice(read(path), limit))
    for question in questions:
        if question.graph is None:
            raise ValueError(f"evaluate: {path}: question {question.id!r} has no subgraph")
    if not any(question.answers for question in questions):
        raise ValueError(f"evaluate: {path}: no question has answers to compare with")
    name = Path(path).name
    return Benchmark(name, "file", 0, None, [], [], questions, dict(_OF_FILES))


def _inside(folder: Path, name: str) -> Path:
    return folder / name if (folder / name).is_dir() else folder


def _check_only_split(name: str, split: str | None, only: str) -> None:
    if split not in (None, only):
        raise ValueError(f"evaluate: {name} has the split {only} alone, got {split!r}")


def _load_pathquestion(
    name: str, folder: Path, split: str | None, fold: int, seed: int
) -> Benchmark:
    data = pathquestion.load(name, folder)
    pairs = [question.pair for question in data.questions]
    split = "disjoint" if split is None else split
    if split == "random":
        cut = random_split(len(pairs), seed)
    elif split == "disjoint":
        cut = disjoint_split(pairs, seed)
    elif split == "folds":
        cut, split = fold_split(pairs, fold, FOLDS, seed), f"folds[{fold}]"
    else:
        raise ValueError(f"evaluate: split must be random, disjoint or folds, got {split!r}")
    questions = [
        Question(
            one.question,
            one.subject,
            find_mention(one.question, one.subject),
            one.answers,
            frozenset([one.relations]),
            one.pair,
            id=f"{name}:{number}",
        )
        for number, one in enumerate(data.questions, 1)
    ]
    train, dev, test = ([questions[i] for i in part] for part in cut)
    graph = KnowledgeGraph.from_triples(data.graph)
    options = {"max_hops": data.hops, **_OF_PATHQUESTION}
    return Benchmark(name, split, seed, graph, train, dev, test, options)


def _load_metaqa(name: str, folder: Path, seed: int) -> Benchmark:
    hops = _METAQA[name]
    known, test = (
        [
            Question(
                one.question,
                one.topic,
                one.mention,
                one.answers,
                frozenset([one.relations]),
                i,
                id=f"{name}:{part}:{i + 1}",
            )
            for i, one in enumerate(metaqa.load(hops, part, folder))
        ]
        for part in ("dev", "test")
    )
    random.Random(seed).shuffle(known)
    cut = int(0.9 * len(known))
    graph = KnowledgeGraph.from_triples(metaqa.facts(folder))
    options = {"max_hops": hops, **_OF_METAQA}
    return Benchmark(name, "published", seed, graph, known[:cut], known[cut:], test, options)
