"""WebQSP relation paths: which of all paths does a question ask for? Text only, no topic given."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from hyperhop.evaluate import webqsp
from hyperhop.evaluate.files import located
from hyperhop.evaluate.machine import versions
from hyperhop.evaluate.metrics import bootstrap_interval
from hyperhop.evaluate.planning import make_planner
from hyperhop.evaluate.question import Question
from hyperhop.evaluate.webqsp import RelationPath
from hyperhop.pathhd.candidates import Candidates
from hyperhop.paths import Paths
from hyperhop.text import TextEncoder, get_encoder

Progress = Callable[[int, int], object]

NAME = "WebQSP-paths"
FOLDS = 5  # of "train"


@dataclass(frozen=True)
class PathScores:
    """What ranking came to, over the `n` questions of a part that have a gold path.

    Attributes:
        benchmark, part: which questions; with `fold`, those of "train" that it held out.
        candidates, from_train: how many paths were ranked for each question, and how many of them
            are gold paths of training questions; types allow the others.
        covered: share of questions with a gold path among the candidates, the best possible hit.
        hit_at_1, hit_at_3: a gold path among the first 1 and 3.
        interval_at_1, interval_at_3: 95 % bootstrap intervals over questions.
        settings, versions, day: what it was run with, and when.
    """

    benchmark: str
    part: str
    fold: int | None
    n: int
    candidates: int
    from_train: int
    covered: float
    hit_at_1: float
    interval_at_1: tuple[float, float]
    hit_at_3: float
    interval_at_3: tuple[float, float]
    settings: dict[str, Any]
    versions: dict[str, str]
    day: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


def is_here(data_dir: str | Path) -> bool:
    """Whether the questions are where `rank_paths` looks for them, plain or .gz."""
    return located(webqsp.question_file(data_dir, "test")).exists()


def rank_paths(
    data_dir: str | Path | None,
    part: str = "validation",
    *,
    fold: int | None = None,
    planner: str = "linear",
    encoder: str | TextEncoder = "hashing",
    limit: int | None = None,
    progress: Progress | None = None,
) -> PathScores:
    """Ranks the same candidates for every question of a part of WebQSP.

    Candidates are the gold paths of the training questions and what `webqsp.schema_paths` allows.
    What is chosen by looking at results is chosen on "validation", or by folds of "train".

    Args:
        data_dir: folder that holds `webqsp_cwq_grailqa` and `freebase_schema`.
        part: "validation", "test", or "train" with a `fold` of 0 to 4: every fifth training
            question, from that one on, is asked and the others are learned from.
        planner: see `planning.make_planner`.
        encoder: name or TextEncoder.
        limit: ask the first questions only.
        progress: told (questions done, of).

    ValueError for another part, fold or planner. FileNotFoundError without the files.
    """
    if data_dir is None:
        raise ValueError(f"evaluate: {NAME} needs the folder that holds its files, got None")
    train, asked = _questions(data_dir, part, fold)
    asked = asked[:limit]
    learned = {path for question in train for path in question.paths}
    paths = learned | webqsp.schema_paths(data_dir)
    candidates = listed(paths)
    model = get_encoder(encoder) if isinstance(encoder, str) else encoder
    made = make_planner(planner, candidates.names, model, train, asked)
    hits: list[tuple[bool, bool]] = []
    for question in asked:
        best = made.plan(question.text, None, candidates).sequences[:3].tolist()
        right = [tuple(candidates.relations(index)) in question.paths for index in best]
        hits.append((any(right[:1]), any(right)))
        if progress is not None:
            progress(len(hits), len(asked))
    at_1, at_3 = ([float(hit[i]) for hit in hits] for i in (0, 1))
    units = [question.unit for question in asked]
    return PathScores(
        benchmark=NAME,
        part=part,
        fold=fold,
        n=len(asked),
        candidates=len(candidates),
        from_train=len(learned),
        covered=float(np.mean([not paths.isdisjoint(question.paths) for question in asked])),
        hit_at_1=float(np.mean(at_1)),
        interval_at_1=bootstrap_interval(at_1, units),
        hit_at_3=float(np.mean(at_3)),
        interval_at_3=bootstrap_interval(at_3, units),
        settings={"planner": made.name, "encoder": model.name, "limit": limit},
        versions=versions(),
        day=date.today().isoformat(),
    )


def listed(paths: Iterable[RelationPath]) -> Candidates:
    """Relation paths as candidates of a planner; no graph is needed."""
    ordered = sorted(paths)
    names = sorted({name for path in ordered for name in path})
    return Candidates(Paths.from_lists(ordered, names=names), names)


def _questions(
    data_dir: str | Path, part: str, fold: int | None
) -> tuple[list[Question], list[Question]]:
    """What is learned from, and what is asked."""
    if (part == "train") != (fold is not None):
        raise ValueError(
            f"rank_paths: part 'train' needs a fold, others have none, got {part!r} and {fold}"
        )
    train = webqsp.load("train", data_dir)
    if fold is None:
        return train, webqsp.load(part, data_dir)
    if not 0 <= fold < FOLDS:
        raise ValueError(f"rank_paths: fold must be in 0..{FOLDS - 1}, got {fold}")
    kept = [question for i, question in enumerate(train) if i % FOLDS != fold]
    return kept, train[fold::FOLDS]
