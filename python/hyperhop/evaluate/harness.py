"""Runs a system over a benchmark part and sums it up."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from hyperhop.evaluate import pathquestion
from hyperhop.evaluate.metrics import bootstrap_interval, f1, hits_at_1, set_exact
from hyperhop.evaluate.splits import Split, SplitName, disjoint_split, fold_split, random_split
from hyperhop.graph import KnowledgeGraph
from hyperhop.pathhd import PathHD

# Chosen on dev (`disjoint`, seed 0): walking backwards loses hits in the PQ sets and gains none in
# the PQL sets; gold paths of all four come back to their topic ("the son of the father of ...").
_PATHQUESTION = {"inverse": False, "return_to_topic": True}


@dataclass(frozen=True)
class PathQuestionResult:
    """Means over `n` questions; `interval` is the 95 % bootstrap interval of `hits` over pairs.

    `hits`: the first of the best sequence's ends, in order of name, is a gold answer.
    `set_exact`: those ends are exactly the gold answers. `f1`: mean F1 of the two sets.
    `path_exact`: the best sequence is the gold relation path.
    """

    name: str
    split: str
    part: str
    seed: int
    n: int
    pairs: int
    hits: float
    interval: tuple[float, float]
    set_exact: float
    f1: float
    path_exact: float
    settings: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


def evaluate_pathquestion(
    name: str,
    data_dir: str | Path,
    split: SplitName = "disjoint",
    part: Literal["train", "dev", "test"] = "test",
    *,
    fold: int = 0,
    seed: int = 0,
    **pathhd_options: Any,
) -> PathQuestionResult:
    """PathHD on one part of a PathQuestion set, topic given, hop count unknown.

    `max_hops` is the set's hop count, so shorter sequences are candidates too. `fold` matters only
    for the split "folds". Other options go to PathHD. ValueError for an unknown set, split or part.
    """
    data = pathquestion.load(name, data_dir)
    chosen = _split(data, split, fold, seed)
    if part not in Split._fields:
        raise ValueError(f"evaluate_pathquestion: part must be train, dev or test, got {part!r}")
    questions = [data.questions[i] for i in getattr(chosen, part)]
    options = {"max_hops": data.hops, **_PATHQUESTION, **pathhd_options}
    system = PathHD(KnowledgeGraph.from_triples(data.graph), **options)
    evidence = system.retrieve_batch(
        [q.question for q in questions], [q.subject for q in questions]
    )
    best = [e.sequences[0] if e.sequences else None for e in evidence]
    predicted = [b.ends if b else [] for b in best]
    hits = [float(hits_at_1(p, q.answers)) for p, q in zip(predicted, questions, strict=True)]
    units = [q.pair for q in questions]
    n = len(questions)
    return PathQuestionResult(
        name=name,
        split=split if split != "folds" else f"folds[{fold}]",
        part=part,
        seed=seed,
        n=n,
        pairs=len(set(units)),
        hits=sum(hits) / n,
        interval=bootstrap_interval(hits, units),
        set_exact=sum(set_exact(p, q.answers) for p, q in zip(predicted, questions, strict=True))
        / n,
        f1=sum(f1(p, q.answers) for p, q in zip(predicted, questions, strict=True)) / n,
        path_exact=sum(
            b is not None and tuple(b.relations) == q.relations
            for b, q in zip(best, questions, strict=True)
        )
        / n,
        settings={
            **options,
            "encoder": system.encoder.name,
            "planner": system.planner.name,
        },
    )


def _split(data: pathquestion.PathQuestionSet, split: str, fold: int, seed: int) -> Split:
    pairs = [question.pair for question in data.questions]
    if split == "random":
        return random_split(len(pairs), seed)
    if split == "disjoint":
        return disjoint_split(pairs, seed)
    if split == "folds":
        return fold_split(pairs, fold, seed=seed)
    raise ValueError(f"evaluate: split must be random, disjoint or folds, got {split!r}")
