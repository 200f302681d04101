"""Models trained for several settings on the same questions; what was killed goes on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperhop.evaluate import machine
from hyperhop.evaluate.trained.results import Results
from hyperhop.evaluate.trained.sets import examples_of, load_sets
from hyperhop.rsf.text import TextTables
from hyperhop.rsf.training import NothingToLearn, Settings, Step, Trained, Workspace
from hyperhop.rsf.training.measure import Measured
from hyperhop.rsf.training.ranks import share_within
from hyperhop.text import TextEncoder, get_encoder

if TYPE_CHECKING:
    from hyperhop.rsf.model import RSFModel

SettingsFor = Callable[[Mapping[str, Any], int], Settings]
Told = Callable[[str, Step], object]


@dataclass(frozen=True)
class Setting:
    """A training: its label, and what it changes of the settings."""

    label: str
    changes: Mapping[str, Any]


class TrainedContext:
    """Questions, graph and text vectors that several trainings share.

    Args:
        name, data_dir, split, fold, seed: see `load_sets`.
        part: "dev" or "test", the questions that are asked; `limit` takes the first ones only.
        train_limit: train on the first questions only.
        settings: of every model but for what is changed, given `QuestionSets.needs` and the
            number of training questions.
        encoder: name or TextEncoder.
        folder: where checkpoints and finished results are kept, so that a killed run goes on; None
            keeps nothing.
        told: (label, step) after each batch.
        stop: asked after each batch, see `fit`.
    """

    def __init__(
        self,
        name: str,
        data_dir: str | Path | None,
        part: str = "dev",
        *,
        split: str | None = None,
        fold: int = 0,
        seed: int = 0,
        limit: int | None = None,
        train_limit: int | None = None,
        settings: SettingsFor,
        encoder: str | TextEncoder = "hashing",
        folder: str | Path | None = None,
        told: Told | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        self.sets = load_sets(name, data_dir, split, fold=fold, seed=seed)
        self.encoder = get_encoder(encoder) if isinstance(encoder, str) else encoder
        self.part, self.limit, self.train_limit = part, limit, train_limit
        asked = [q for one in self.sets.sets for q in one.asked("study", part, limit)]
        self.asked = examples_of(asked)
        self.unasked = len(asked) - len(self.asked)
        self.training = self.sets.examples("train", train_limit)
        self.settings = settings(self.sets.needs, len(self.training))
        self.dev = self.sets.examples("dev", limit)
        self.folder = None if folder is None else Path(folder)
        self._told, self._stop = told, stop
        self._tables: TextTables | None = None

    @property
    def about(self) -> dict[str, Any]:
        """What was run, for JSON."""
        return {
            **self._identity,
            "questions": len(self.asked) + self.unasked,
            "training_questions": len(self.training),
            "versions": machine.versions(),
            "machine": machine.machine(),
            "day": date.today().isoformat(),
        }

    @property
    def _identity(self) -> dict[str, Any]:
        first = self.sets.sets[0]
        return {
            "benchmark": self.sets.name,
            "split": first.split,
            "part": self.part,
            "seed": first.seed,
            "limit": self.limit,
            "train_limit": self.train_limit,
            "encoder": self.encoder.name,
            "settings": self.settings.to_dict(),
        }

    @property
    def title(self) -> str:
        """Which questions, in a few words."""
        return (
            f"{self.sets.name} {self.part} ({self.sets.sets[0].split}, "
            f"{len(self.asked) + self.unasked} questions, trained on {len(self.training):,}, "
            f"encoder {self.encoder.name})"
        )

    @property
    def title_with_seed(self) -> str:
        """The same, where all trainings have one seed."""
        return f"{self.title}, seed {self.settings.training.seed}"

    def each(
        self, name: str, settings: Sequence[Setting], look: "Look", *, may_miss: bool = False
    ) -> list[dict[str, Any]]:
        """A row for each setting: trained and looked at, or found in the folder.

        `name` tells runs in one folder apart. Each row is `look(training)`, which must be plain
        values, and the setting's label. With `may_miss` a setting under which no training question
        has an answer in reach gives a row of misses; otherwise NothingToLearn is raised.
        """
        folder = None if self.folder is None else self.folder / name
        results = Results(folder, self._identity)
        rows = []
        for setting in settings:
            if setting.label not in results:
                results.add(setting.label, self._row(folder, setting, look, may_miss))
            rows.append({"setting": setting.label, **results.parts[setting.label]})
        return rows

    def _row(
        self, folder: Path | None, setting: Setting, look: "Look", may_miss: bool
    ) -> Mapping[str, Any]:
        workspace = self._workspace(setting)
        try:
            return look(self._train(workspace, folder, setting))
        except NothingToLearn:
            if not may_miss:
                raise
        reached = float(workspace.prepare(self.asked).answerable.sum())
        in_reach = reached / (len(self.asked) + self.unasked)
        return {
            **dict.fromkeys(("hits_at_1", "hits_at_5", "hits_at_10"), 0.0),
            "in_reach": in_reach,
        }

    def _workspace(self, setting: Setting) -> Workspace:
        chosen = self.settings.replaced(setting.changes)
        workspace = Workspace.of(self.sets.graph, self.encoder, chosen, self._tables)
        self._tables = workspace.tables
        return workspace

    def _train(self, workspace: Workspace, folder: Path | None, setting: Setting) -> "Training":
        mine = None if folder is None else folder / _file_name(setting.label)
        model, trained = workspace.train(
            self.training,
            self.dev,
            mine,
            resume=True,
            progress=self._telling(setting.label),
            stop=self._stop,
        )
        return Training(self, workspace, model, trained, mine)

    def _telling(self, label: str) -> Callable[[Step], object] | None:
        told = self._told
        return None if told is None else lambda step: told(label, step)


@dataclass(frozen=True)
class Training:
    """One finished training: `folder` has its checkpoint, None where nothing is kept."""

    context: TrainedContext
    workspace: Workspace
    model: "RSFModel"
    trained: Trained
    folder: Path | None

    def measured(self) -> dict[str, Any]:
        """Hits, spread of the flows, gates and costs, as plain values."""
        context, epochs = self.context, [one.seconds for one in self.trained.epochs]
        prepared = self.workspace.prepare(context.asked)
        found = self.workspace.measure(self.model, prepared, self.trained.answer_share)
        ranks = np.concatenate([found.ranks, np.zeros(context.unasked, np.int64)])
        return {
            **{f"hits_at_{k}": share_within(ranks, k) for k in (1, 5, 10)},
            **self._sets(found),
            "answer_share": self.trained.answer_share,
            "in_reach": float(prepared.answerable.sum()) / len(ranks),
            "candidates": float(np.exp(found.entropies[:, -1]).mean()),
            "candidates_by_hop": np.exp(found.entropies).mean(axis=0).tolist(),
            "gates": found.gates.mean(axis=0).tolist(),
            "dev_hits_at_1": self.trained.best,
            "best_epoch": self.trained.best_epoch,
            "epochs": len(epochs),
            "parameters": sum(values.size for values in self.trained.weights.values()),
            "seconds": sum(epochs),
            "seconds_per_epoch": float(np.mean(epochs)),
            "milliseconds": 1e3 * found.seconds / len(context.asked),
            "peak_megabytes": machine.peak_megabytes(),
        }

    def _sets(self, found: Measured) -> dict[str, float]:
        """Means over all questions of the sets of answers; an empty set is wrong everywhere."""
        gold = np.array([len(one.answers) for one in self.context.asked])
        count = len(gold) + self.context.unasked
        values = {
            "precision": found.right / np.maximum(found.answers, 1),
            "recall": found.right / np.maximum(gold, 1),
            "f1": 2 * found.right / np.maximum(found.answers + gold, 1),
            "set_exact": (found.right == gold) & (found.answers == gold),
        }
        return {name: float(np.sum(value)) / count for name, value in values.items()}


Look = Callable[[Training], Mapping[str, Any]]


def _file_name(label: str) -> str:
    return "".join(letter if letter.isalnum() or letter in ".-" else "-" for letter in label)
