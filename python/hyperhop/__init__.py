"""Multi-hop reasoning over knowledge graphs: compiled kernels and the systems built on them.

Importing this package needs NumPy alone; every optional part is imported where it is first used.
"""

from typing import Any

from hyperhop import evaluate, ghrr, graph, llm, text
from hyperhop._topk import topk
from hyperhop.evidence import Answer, Evidence
from hyperhop.graph import KnowledgeGraph
from hyperhop.pathhd import PathHD
from hyperhop.paths import Paths

__all__ = [
    "Answer",
    "Evidence",
    "KnowledgeGraph",
    "PathHD",
    "Paths",
    "__version__",
    "evaluate",
    "ghrr",
    "graph",
    "llm",
    "text",
    "topk",
]


def __getattr__(name: str) -> Any:
    # importlib.metadata takes longer to import than this package.
    if name == "__version__":
        from importlib.metadata import version

        return version("hyperhop")
    raise AttributeError(f"module 'hyperhop' has no attribute {name!r}")
