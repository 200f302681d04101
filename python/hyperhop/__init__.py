"""Multi-hop reasoning over knowledge graphs: compiled kernels and the systems built on them.

Importing this package needs NumPy alone; every optional part is imported where it is first used.
"""

from importlib.metadata import version

from hyperhop import ghrr, graph
from hyperhop._topk import topk
from hyperhop.graph import KnowledgeGraph
from hyperhop.paths import Paths

__version__ = version("hyperhop")

__all__ = ["KnowledgeGraph", "Paths", "__version__", "ghrr", "graph", "topk"]
