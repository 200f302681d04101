"""The benchmarks by name, in one form: questions with answers, gold paths, and their graph."""

import random
from collections.abc import Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyperhop.evaluate import metaqa, pathquestion
from hyperhop.evaluate.splits import Split, disjoint_split, fold_split, random_split
from hyperhop.graph import KnowledgeGraph
from hyperhop.pathhd.planners.protocol import Span
from hyperhop.pathhd.planners.question import find_mention

PARTS = Split._fields
_METAQA = {f"MetaQA-{hops}": hops for hops in (1, 2, 3)}
# Chosen on dev (`disjoint`, seed 0): walking backwards loses hits in the PQ sets and gains none in
# the PQL sets; gold paths of all four come back to their topic ("the son of the father of ...").
_OF_PATHQUESTION = {"inverse": False, "return_to_topic": True}
# Chosen on dev (1,000 questions each): many gold paths walk backwards; and with the gold path all
# answer sets of 2 and 3 hops are exact where walks keep off the topic, .64 and .51 of them else.
_OF_METAQA = {"inverse": True, "return_to_topic": False}


@dataclass(frozen=True)
class Question:
    """One question.

    `mention` is where it names its topic; `paths` are its gold relation paths, as symbol names;
    `unit` is what intervals resample: questions of one unit are paraphrases of one fact.
    """

    text: str
    topic: str
    mention: Span | None
    answers: frozenset[str]
    paths: frozenset[tuple[str, ...]]
    unit: Hashable


@dataclass(frozen=True)
class Benchmark:
    """Questions in three parts, and the graph they are asked on.

    `options` are PathHD's for this set: the hop count as `max_hops`, and what was chosen on dev.
    """

    name: str
    split: str
    seed: int
    graph: KnowledgeGraph
    train: list[Question]
    dev: list[Question]
    test: list[Question]
    options: dict[str, Any] = field(default_factory=dict)


def names() -> list[str]:
    """Names that `load` knows."""
    return [*pathquestion.names(), *_METAQA]


def load(
    name: str, data_dir: str | Path, split: str | None = None, *, fold: int = 0, seed: int = 0
) -> Benchmark:
    """A benchmark from the folder that holds its files, or holds `pathquestion` and `metaqa`.

    `split` of PathQuestion is "disjoint" (the default), "random" or "folds" (with `fold`), see
    `hyperhop.evaluate.splits`; MetaQA has one, "published": nine tenths of the shuffled dev file
    are train, the rest dev, and the test file is test. ValueError for other names and splits,
    FileNotFoundError without the files.
    """
    folder = Path(data_dir)
    if name in _METAQA:
        return _load_metaqa(name, _inside(folder, "metaqa"), split, seed)
    if name in pathquestion.names():
        return _load_pathquestion(name, _inside(folder, "pathquestion"), split, fold, seed)
    raise ValueError(f"evaluate: expected one of {', '.join(names())}, got {name!r}")


def _inside(folder: Path, name: str) -> Path:
    return folder / name if (folder / name).is_dir() else folder


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
        cut, split = fold_split(pairs, fold, seed=seed), f"folds[{fold}]"
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
        )
        for one in data.questions
    ]
    train, dev, test = ([questions[i] for i in part] for part in cut)
    graph = KnowledgeGraph.from_triples(data.graph)
    options = {"max_hops": data.hops, **_OF_PATHQUESTION}
    return Benchmark(name, split, seed, graph, train, dev, test, options)


def _load_metaqa(name: str, folder: Path, split: str | None, seed: int) -> Benchmark:
    if split not in (None, "published"):
        raise ValueError(f"evaluate: {name} has the split published alone, got {split!r}")
    hops = _METAQA[name]
    known, test = (
        [
            Question(
                one.question, one.topic, one.mention, one.answers, frozenset([one.relations]), i
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
