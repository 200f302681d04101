"""Stage 1: training a flow model on questions and their answers (extra "torch").

workspace = Workspace.of(kg, encoder, preset("cpu", hops=2))
model, trained = workspace.train(examples, dev, "mymodel", resume=True)
"""

from hyperhop.rsf.training.config import TrainingConfig
from hyperhop.rsf.training.curve import Epoch
from hyperhop.rsf.training.examples import Example
from hyperhop.rsf.training.presets import Settings, preset
from hyperhop.rsf.training.trainer import (
    NothingToLearn,
    Step,
    Trained,
    TrainingDiverged,
    TrainingStopped,
    fit,
)
from hyperhop.rsf.training.workspace import Workspace

__all__ = [
    "Epoch",
    "Example",
    "NothingToLearn",
    "Settings",
    "Step",
    "Trained",
    "TrainingConfig",
    "TrainingDiverged",
    "TrainingStopped",
    "Workspace",
    "fit",
    "preset",
]
