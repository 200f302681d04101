"""RSF: recurrent soft-flow reasoning over knowledge graphs (RSF-GLLM).

Importing this package imports neither torch nor faiss: names are fetched when they are first used,
and only those of the model and its training need the extra "torch".
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hyperhop._extras import optional

if TYPE_CHECKING:
    from hyperhop.rsf.anchors import DenseAnchors
    from hyperhop.rsf.batch import FlowBatch
    from hyperhop.rsf.config import RSFConfig
    from hyperhop.rsf.expand import Expansion
    from hyperhop.rsf.graphs import Ball, FlowRelations, balls, whole_graph
    from hyperhop.rsf.loss import FlowLoss, flow_loss
    from hyperhop.rsf.model import RSFModel, RSFOutput
    from hyperhop.rsf.question import Question
    from hyperhop.rsf.retriever import RSF
    from hyperhop.rsf.store import StoredModel
    from hyperhop.rsf.text import QuestionVectors, TextTables, question_vectors, text_tables

__all__ = [
    "RSF",
    "Ball",
    "DenseAnchors",
    "Expansion",
    "FlowBatch",
    "FlowLoss",
    "FlowRelations",
    "Question",
    "QuestionVectors",
    "RSFConfig",
    "RSFModel",
    "RSFOutput",
    "StoredModel",
    "TextTables",
    "balls",
    "flow_loss",
    "question_vectors",
    "text_tables",
    "whole_graph",
]

# Where each name lives.
_HOME = {
    "RSF": "retriever",
    "Ball": "graphs",
    "DenseAnchors": "anchors",
    "Expansion": "expand",
    "FlowBatch": "batch",
    "FlowLoss": "loss",
    "FlowRelations": "graphs",
    "Question": "question",
    "QuestionVectors": "text",
    "RSFConfig": "config",
    "RSFModel": "model",
    "RSFOutput": "model",
    "StoredModel": "store",
    "TextTables": "text",
    "balls": "graphs",
    "flow_loss": "loss",
    "question_vectors": "text",
    "text_tables": "text",
    "whole_graph": "graphs",
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
