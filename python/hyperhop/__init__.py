"""Multi-hop reasoning over knowledge graphs: compiled kernels and the systems built on them.

Importing this package needs NumPy alone; every optional part is imported where it is first used.
"""

from typing import Any

from hyperhop import ghrr, graph
from hyperhop._topk import topk
from hyperhop.graph import KnowledgeGraph
from hyperhop.paths import Paths

__all__ = ["KnowledgeGraph", "Paths", "__version__", "ghrr", "graph", "topk"]


def __getattr__(name: str) -> Any:
    # importlib.metadata takes longer to import than this package.
    if name == "__version__":
        from importlib.metadata import version

        return version("hyperhop")
    raise AttributeError(f"module 'hyperhop' has no attribute {name!r}")
