"""What training and reading with transformers share: tokens of plain text, device, number type."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def prompt_tokens(tokenizer: Any, text: str) -> list[int]:
    """A prompt's tokens, begun as the tokenizer begins a text; no part of it is a control token."""
    ids: list[int] = tokenizer(text, split_special_tokens=True).input_ids
    if ids and ids[-1] == tokenizer.eos_token_id:  # some end every text; this one goes on
        ids.pop()
    return ids


def completion_tokens(tokenizer: Any, text: str) -> list[int]:
    """A completion's tokens with the end token; ValueError for a tokenizer that has none."""
    if tokenizer.eos_token_id is None:
        raise ValueError("the tokenizer has no end token (eos_token)")
    ids = tokenizer(text, add_special_tokens=False, split_special_tokens=True).input_ids
    return [*ids, tokenizer.eos_token_id]


def window_of(model: Any, tokenizer: Any) -> int:
    """Most tokens that model and tokenizer take at once; ValueError where neither says."""
    longest = [
        getattr(model.config, "max_position_embeddings", None),
        getattr(tokenizer, "model_max_length", None),
    ]
    # a tokenizer that does not know says 10^30
    known = [size for size in longest if isinstance(size, int) and 0 < size < 10**9]
    if not known:
        raise ValueError("neither the model's config nor its tokenizer tells how long texts may be")
    return min(known)


def best_dtype(torch: Any, device: str) -> Any:
    """bfloat16 on a GPU that computes with it, else float32."""
    fast = device.startswith("cuda") and torch.cuda.is_bf16_supported()
    return torch.bfloat16 if fast else torch.float32


def best_device(torch: Any) -> str:
    """The first accelerator that torch sees (cuda, mps, xpu), else "cpu"."""
    found = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    return found.type if found is not None else "cpu"


@contextmanager
def quiet_bars(engine: Any) -> Iterator[None]:
    """Keep transformers from drawing its bars for a second of loading or saving."""
    bars = engine.utils.logging
    if not bars.is_progress_bar_enabled():
        yield
        return
    bars.disable_progress_bar()
    try:
        yield
    finally:
        bars.enable_progress_bar()
