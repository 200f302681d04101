"""RSF: recurrent soft-flow reasoning over knowledge graphs (RSF-GLLM).

Importing this package imports neither torch nor faiss: names are fetched when they are first used,
and only those of the model and its training need the extra "torch".
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hyperhop._extras import optional

if TYPE_CHECKING:
    from hyperhop.rsf.batch import FlowBatch
    from hyperhop.rsf.config import RSFConfig
    from hyperhop.rsf.loss import FlowLoss, flow_loss
    from hyperhop.rsf.model import RSFModel, RSFOutput
    from hyperhop.rsf.question import Question

__all__ = [
    "FlowBatch",
    "FlowLoss",
    "Question",
    "RSFConfig",
    "RSFModel",
    "RSFOutput",
    "flow_loss",
]

# Where each name lives.
_HOME = {
    "FlowBatch": "batch",
    "FlowLoss": "loss",
    "Question": "question",
    "RSFConfig": "config",
    "RSFModel": "model",
    "RSFOutput": "model",
    "flow_loss": "loss",
}
_NEED_TORCH = {"loss", "model", "question"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'hyperhop.rsf' has no attribute {name!r}")
    if _HOME[name] in _NEED_TORCH:
        optional("torch", f"hyperhop.rsf.{name}", "torch")
    value = getattr(import_module(f"hyperhop.rsf.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
