"""How a model is trained: everything beside the model's own switches."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

Layout = Literal["packed", "lanes"]
Decay = Literal["constant", "linear"]
Target = Literal["uniform", "any"]
Mention = Literal["kept", "hidden"]

_CHOICES = {"layout": Layout, "decay": Decay, "target": Target, "mention": Mention}


@dataclass(frozen=True)
class TrainingConfig:
    """Hyper-parameters of stage 1 (paper, section 2.6.1 and appendix 10.2), its values by default.

    Attributes:
        epochs: at most so many passes over the questions.
        patience: stop after so many epochs without a better dev Hits@1; 0 never stops early.
        batch_size: questions a step.
        learning_rate, weight_decay: of AdamW.
        warmup: share of all steps over which the learning rate rises linearly from 0.
        decay: what it does then: "constant", or "linear" down to 0 at the last step.
        clip: largest norm of the gradient; longer ones are scaled down.
        average: share of itself that a moving average of the weights keeps at each step; it is then
            the average that is judged on dev and kept. 0 does without.
        target: what the last flow is compared with where a question has many answers: "uniform"
            over them, or "any" of them: only their sum counts.
        radius: hops of the subgraph around the topics; the model's own hop count is its T.
        mention: what a question says where it names its topic: the name ("kept"), or "it"
            ("hidden"), since the name says nothing of where to go from there.
        layout: "packed": a subgraph for each question; "lanes": all flows over the whole graph.
        seed: of the weights, of the order of questions and of dropout.
        checkpoint_steps: also keep the state every so many steps; 0 keeps it after epochs alone.
    """

    epochs: int = 10
    patience: int = 3
    batch_size: int = 16
    learning_rate: float = 5e-5
    weight_decay: float = 0.01
    warmup: float = 0.1
    decay: Decay = "constant"
    clip: float = 1.0
    average: float = 0.0
    target: Target = "uniform"
    radius: int = 2
    mention: Mention = "kept"
    layout: Layout = "packed"
    seed: int = 0
    checkpoint_steps: int = 0

    def __post_init__(self) -> None:
        for name, least in (
            ("epochs", 1),
            ("patience", 0),
            ("batch_size", 1),
            ("radius", 1),
            ("seed", 0),
            ("checkpoint_steps", 0),
        ):
            _check(name, getattr(self, name), int, least)
        for name in ("learning_rate", "weight_decay", "warmup", "clip", "average"):
            _check(name, getattr(self, name), float, 0)
        if not self.learning_rate or not self.clip:
            name = "clip" if self.learning_rate else "learning_rate"
            raise ValueError(f"TrainingConfig: {name} must be above 0, got 0")
        if self.warmup > 1:
            raise ValueError(f"TrainingConfig: warmup must be at most 1, got {self.warmup}")
        if self.average >= 1:
            raise ValueError(f"TrainingConfig: average must be below 1, got {self.average}")
        for name, kind in _CHOICES.items():
            if getattr(self, name) not in get_args(kind):
                expected = " or ".join(get_args(kind))
                raise ValueError(
                    f"TrainingConfig: {name} must be {expected}, got {getattr(self, name)!r}"
                )

    def factor(self, step: int, steps: int) -> float:
        """What the learning rate is multiplied by at `step`, from 0, of `steps`."""
        rise = round(self.warmup * steps)
        if step < rise:
            return (step + 1) / rise
        if self.decay == "constant":
            return 1.0
        return (steps - step) / (steps - rise)

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, for TOML and JSON."""
        return asdict(self)

    def replaced(self, values: Mapping[str, Any]) -> "TrainingConfig":
        """The same with some values replaced. ValueError for a name that it does not have."""
        known = [field.name for field in fields(self)]
        for name in values:
            if name not in known:
                raise ValueError(
                    f"TrainingConfig: no setting {name!r}; there are {', '.join(known)}"
                )
        return replace(self, **values)


def _check(name: str, value: Any, kind: type, least: float) -> None:
    right = isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
    if not right:
        what = "a whole number" if kind is int else "a number"
        raise TypeError(f"TrainingConfig: {name} must be {what}, got {value!r}")
    if not least <= value < float("inf"):
        raise ValueError(f"TrainingConfig: {name} must be at least {least} and finite, got {value}")
