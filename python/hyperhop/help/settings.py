"""How HELP retrieves: every switch, checked once, and kept with a saved index."""

from dataclasses import dataclass
from typing import get_args

from hyperhop.graph.arguments import at_least
from hyperhop.help.index import Weighting
from hyperhop.help.scorers import CACHED, ScorerName

_LEAST = {"levels": 1, "n": 1, "k": 1, "quota": 0, "passages": 1, "shortlist": 1, "cached": 0}

_MOST = {"sharpness": 100, "context": 10, "lexical": 1, "named": 1, "relevance": 100}


@dataclass(frozen=True)
class RetrievalSettings:
    """The arguments of `HELP` of the same names. TypeError or ValueError for bad ones."""

    scorer: ScorerName = "composition"
    levels: int = 2
    n: int = 5
    k: int = 50
    quota: int = 4
    passages: int = 5
    keep_parents: bool = False
    weighting: Weighting = "inverse"
    sharpness: float = 1.0
    context: float = 0.0
    lexical: float = 0.0
    named: float = 0.2
    relevance: float = 10.0
    shortlist: int = 200
    cached: int = CACHED

    def __post_init__(self) -> None:
        for name, allowed in (("scorer", ScorerName), ("weighting", Weighting)):
            value = getattr(self, name)
            if value not in get_args(allowed):
                expected = ", ".join(get_args(allowed))
                raise ValueError(f"HELP: {name} must be one of {expected}, got {value!r}")
        for name, least in _LEAST.items():
            at_least("HELP", name, getattr(self, name), least)
        for name, most in _MOST.items():
            value = getattr(self, name)
            if not 0 <= value <= most:
                raise ValueError(f"HELP: {name} must be from 0 to {most}, got {value}")
        if not isinstance(self.keep_parents, bool):
            kind = type(self.keep_parents).__name__
            raise TypeError(f"HELP: keep_parents must be a bool, got {kind}")
