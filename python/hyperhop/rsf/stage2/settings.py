"""What a fine-tuning does, and the two sets of settings that have a name."""

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class FineTuning:
    """Settings of a fine-tuning.

    Attributes:
        epochs: passes over all examples.
        learning_rate: the highest; it falls along a half cosine to 0.
        warmup: share of the steps over which it rises first.
        batch: examples of a step; `micro_batch` of them are computed at once (None: all).
        max_tokens: of prompt and completion together; longer ones lose their last paths.
        weight_decay: of AdamW.
        clip: largest norm of a gradient.
        lora_rank: 0 trains all weights, more trains LoRA adapters of that rank alone, on all linear
            layers; `lora_alpha` and `lora_dropout` are theirs.
        checkpointing: compute activations anew in the backward pass: less memory, slower.
        save_steps: steps between checkpoints; None for one an epoch.
        seed: of the order of examples, of dropout and of new adapters.

    ValueError for a number out of range.
    """

    epochs: int = 3
    learning_rate: float = 2e-4
    warmup: float = 0.0
    batch: int = 1
    micro_batch: int | None = None
    max_tokens: int = 2048
    weight_decay: float = 0.0
    clip: float = 1.0
    lora_rank: int = 0
    lora_alpha: int = 32
    lora_dropout: float = 0.0
    checkpointing: bool = False
    save_steps: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        least = {
            "epochs": 1,
            "batch": 1,
            "max_tokens": 2,
            "lora_rank": 0,
            "lora_alpha": 1,
            "seed": 0,
        }
        if self.save_steps is not None:
            least["save_steps"] = 1
        for name, lowest in least.items():
            if getattr(self, name) < lowest:
                value = getattr(self, name)
                raise ValueError(f"FineTuning: {name} must be {lowest} or more, got {value}")
        for name in ("learning_rate", "clip"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"FineTuning: {name} must be above 0, got {getattr(self, name)}")
        for name in ("warmup", "weight_decay", "lora_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(
                    f"FineTuning: {name} must be from 0 to below 1, got {getattr(self, name)}"
                )
        if self.micro_batch is not None and (self.micro_batch < 1 or self.batch % self.micro_batch):
            raise ValueError(
                f"FineTuning: micro_batch must divide the batch of {self.batch}, "
                f"got {self.micro_batch}"
            )


# "paper": RSF-GLLM, appendix 10.3, which says nothing of warm-up, weight decay and clipping.
# "small": adapters, for one GPU of a few GiB, or for a small model on a processor.
PRESETS: Mapping[str, FineTuning] = {
    "paper": FineTuning(),
    "small": FineTuning(epochs=1, batch=8, micro_batch=1, max_tokens=1024, lora_rank=16),
}
