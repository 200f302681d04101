"""WebQSP relation paths: which of all paths does a question ask for? Text only, no topic given."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from hyperhop.evaluate import webqsp
from hyperhop.evaluate.machine import versions
from hyperhop.evaluate.metrics import bootstrap_interval
from hyperhop.evaluate.planning import make_path_planner
from hyperhop.evaluate.webqsp import PathQuestion, RelationPath
from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners import Example, Planner
from hyperhop.paths import Paths
from hyperhop.text import TextEncoder, get_encoder

Progress = Callable[[int, int], object]

NAME = "WebQSP-paths"


@dataclass(frozen=True)
class PathScores:
    """What ranking came to, over the `n` questions of a part that have a gold path.

    Attributes:
        benchmark, part: which questions; with `fold`, those of "train" that it held out.
        candidates: how many paths were ranked for each of them, `from_schema` of which no training
            question has.
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
    from_schema: int
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
