"""RSF: recurrent soft-flow reasoning over knowledge graphs (RSF-GLLM).

Importing this package imports neither torch nor faiss: names are fetched when they are first used,
and only those of the model and its training need the extra "torch".
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperhop.rsf.batch import FlowBatch
    from hyperhop.rsf.config import RSFConfig

__all__ = ["FlowBatch", "RSFConfig"]

# Where each name lives.
_HOME = {
    "FlowBatch": "batch",
    "RSFConfig": "config",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'hyperhop.rsf' has no attribute {name!r}")
    value = getattr(import_module(f"hyperhop.rsf.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
