"""Stage 2 of RSF-GLLM: a language model is fine-tuned to read answers out of paths (section 2.5).

Export what a retriever finds for training questions (`write_examples`), train any causal LM on it
(`finetune`, extra `finetune`), and read with the folder: `hyperhop.llm.LLMReader(folder)`. Nothing
here depends on which retriever found the paths.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hyperhop.rsf.stage2.examples import ReaderExample, Record, read_records, template_file
from hyperhop.rsf.stage2.export import Exported, evidence_for, write_examples
from hyperhop.rsf.stage2.settings import PRESETS, FineTuning

if TYPE_CHECKING:
    from hyperhop.rsf.stage2.finetuning import FineTuned, finetune

__all__ = [
    "PRESETS",
    "Exported",
    "FineTuned",
    "FineTuning",
    "ReaderExample",
    "Record",
    "evidence_for",
    "finetune",
    "read_records",
    "template_file",
    "write_examples",
]


# Imported when first named.
_HOME = {"FineTuned": "finetuning", "finetune": "finetuning"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'hyperhop.rsf.stage2' has no attribute {name!r}")
    value = getattr(import_module(f"hyperhop.rsf.stage2.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
