"""Multi-hop reasoning over knowledge graphs: compiled kernels and the systems built on them.

Importing this package needs NumPy alone; every optional part is imported where it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperhop import binders, evaluate, flow, ghrr, graph, help, hypernode, llm, rsf, text
    from hyperhop._topk import topk
    from hyperhop.graph import KnowledgeGraph
    from hyperhop.help import HELP
    from hyperhop.pathhd import PathHD
    from hyperhop.paths import Paths
    from hyperhop.rsf import RSF

__all__ = [
    "HELP",
    "RSF",
    "KnowledgeGraph",
    "PathHD",
    "Paths",
    "__version__",
    "binders",
    "evaluate",
    "flow",
    "ghrr",
    "graph",
    "help",
    "hypernode",
    "llm",
    "rsf",
    "text",
    "topk",
]

# Where each name lives: imported when first named, so that nobody waits for what they do not use.
_HOME = {
    "HELP": "help",
    "RSF": "rsf",
    "KnowledgeGraph": "graph",
    "PathHD": "pathhd",
    "Paths": "paths",
    "binders": "binders",
    "evaluate": "evaluate",
    "flow": "flow",
    "ghrr": "ghrr",
    "graph": "graph",
    "help": "help",
    "hypernode": "hypernode",
    "llm": "llm",
    "rsf": "rsf",
    "text": "text",
    "topk": "_topk",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        module = import_module(f"hyperhop.{_HOME[name]}")
        value = module if name == _HOME[name] else getattr(module, name)
    elif name == "__version__":
        from importlib.metadata import version

        value = version("hyperhop")
    else:
        raise AttributeError(f"module 'hyperhop' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
