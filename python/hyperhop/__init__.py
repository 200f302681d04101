"""Multi-hop reasoning over knowledge graphs: compiled kernels and the systems built on them.

Importing this package needs NumPy alone; every optional part is imported where it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hyperhop import ghrr
from hyperhop._topk import topk
from hyperhop.paths import Paths

if TYPE_CHECKING:
    from hyperhop import evaluate, graph, llm, text
    from hyperhop.graph import KnowledgeGraph
    from hyperhop.pathhd import PathHD

__all__ = [
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

# Imported when first named, so that those who want the kernels do not wait for the rest.
_LATER = {
    "KnowledgeGraph": "graph",
    "PathHD": "pathhd",
    "evaluate": "evaluate",
    "graph": "graph",
    "llm": "llm",
    "text": "text",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        module = import_module(f"hyperhop.{_LATER[name]}")
        return module if name == _LATER[name] else getattr(module, name)
    # importlib.metadata takes longer to import than this package.
    if name == "__version__":
        from importlib.metadata import version

        return version("hyperhop")
    raise AttributeError(f"module 'hyperhop' has no attribute {name!r}")
