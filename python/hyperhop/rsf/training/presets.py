"""Settings to start from: what the paper states, and what trains in minutes on two cores."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from hyperhop.rsf.config import RSFConfig
from hyperhop.rsf.training.config import TrainingConfig

Preset = Literal["cpu", "paper"]

_EPOCHS, _STEPS, _BATCH = 20, 1000, 32
# found on dev splits of PathQuestion and MetaQA
_CPU_MODEL: dict[str, Any] = {
    "hidden": 128,
    "lambda_1": 0.02,
    "dropout": 0.2,
    "question": "tokens",
    "attention": "cosine",
    "update_from": "question",
    "stay_text": "learned",
    "content_bias": False,
    "node_text": "dropped",
}


@dataclass(frozen=True)
class Settings:
    """Everything about a training but the questions and the encoder."""

    model: RSFConfig
    training: TrainingConfig

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Plain values in two tables, "model" and "training"."""
        return {"model": self.model.to_dict(), "training": self.training.to_dict()}

    def replaced(self, values: Mapping[str, Any]) -> "Settings":
        """The same with values replaced, each by its name in either table.

        ValueError for a name that neither has.
        """
        of_model = {name: value for name, value in values.items() if name in self.model.to_dict()}
        others = {name: value for name, value in values.items() if name not in of_model}
        return Settings(replace(self.model, **of_model), self.training.replaced(others))

    def with_tables(self, tables: Mapping[str, Mapping[str, Any]]) -> "Settings":
        """The same with what a TOML file says. ValueError for a table or name it cannot have.

        A table "encoder" is for whoever opens the encoder, and passed over here.
        """
        for name in tables:
            if name not in ("model", "training", "encoder"):
                raise ValueError(f"Settings: expected the tables model and training, got {name!r}")
        model = RSFConfig.from_dict({**self.model.to_dict(), **tables.get("model", {})})
        return Settings(model, self.training.replaced(tables.get("training", {})))


def preset(name: str, hops: int, questions: int | None = None) -> Settings:
    """A named start for questions of at most `hops` hops: "cpu" or "paper".

    "paper": appendix 10.2, with T = radius = `hops`; batches of 16, or of 8 above two hops, as for
    CWQ. It does not state the hidden length; ours is 1,024.

    "cpu": words of the question in order, relations matched by what they mean, no node texts, all
    flows over the whole graph. With the number of training `questions`: as many epochs as make
    about a thousand steps, at most twenty.
    """
    if name == "paper":
        return Settings(
            RSFConfig(hops=hops, hidden=1024, lambda_1=0.1, eps=1e-8),
            TrainingConfig(radius=hops, batch_size=16 if hops <= 2 else 8),
        )
    if name == "cpu":
        epochs = _EPOCHS if questions is None else round(_STEPS * _BATCH / max(questions, 1))
        return Settings(
            RSFConfig(hops=hops, **_CPU_MODEL),
            TrainingConfig(
                epochs=min(max(epochs, 1), _EPOCHS),
                patience=0,
                batch_size=_BATCH,
                learning_rate=2e-3,
                decay="linear",
                target="any",
                radius=hops,
                mention="hidden",
                layout="lanes",
            ),
        )
    raise ValueError(f"preset: expected cpu or paper, got {name!r}")
