"""Stage 1 of the paper: the flow learns to end in the answers (section 2.6.1)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hyperhop.rsf.training import checkpoint, curve
from hyperhop.rsf.training.checkpoint import Progress
from hyperhop.rsf.training.config import TrainingConfig
from hyperhop.rsf.training.curve import Epoch
from hyperhop.rsf.training.measure import best_share, rank_answers
from hyperhop.rsf.training.questions import Questions
from hyperhop.rsf.training.ranks import answer_ranks, share_within

if TYPE_CHECKING:
    import torch

    from hyperhop.rsf.model import RSFModel

_SUMS = ("learned", "loss", "cross_entropy", "divergence", "entropy", "hits")


class NothingToLearn(ValueError):
    """No training question has an answer where it is asked."""


class TrainingDiverged(ValueError):
    """The loss is no number any more."""


class TrainingStopped(RuntimeError):
    """Somebody asked the training to stop; the message says how far it came."""


@dataclass(frozen=True)
class Step:
    """How far a training is, told after each batch.

    `loss` and `hits_at_1` are means of the running epoch, `dev_hits_at_1` is of the last finished
    one (None before).
    """

    epoch: int
    epochs: int
    batch: int
    batches: int
    loss: float
    hits_at_1: float
    graphs_per_second: float
    dev_hits_at_1: float | None


@dataclass(frozen=True)
class Trained:
    """What a training came to.

    Attributes:
        weights: of the best epoch, float32 by name; the model has them too.
        epochs: every epoch that was run.
        best_epoch: its number, from 1; the last of those that did equally well.
        best: its dev Hits@1; -1 without dev questions, where the last epoch counts as best.
        answer_share: chosen on dev by F1, see `hyperhop.rsf.cut.answer_count`; None without dev
            questions.
    """

    weights: dict[str, npt.NDArray[np.float32]]
    epochs: list[Epoch]
    best_epoch: int
    best: float
    answer_share: float | None


def fit(
    model: "RSFModel",
    node_text: "torch.Tensor | None",
    relation_text: "torch.Tensor",
    training: Questions,
    dev: Questions | None,
    config: TrainingConfig,
    directory: str | Path | None = None,
    *,
    resume: bool = False,
    run: Mapping[str, Any] | None = None,
    progress: Callable[[Step], object] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Trained:
    """Train a model with AdamW and keep its weights of the epoch that did best on dev.

    The result is a function of model, questions and settings, to the last bit on one machine with
    one number of torch threads; so is one that was killed and resumed, however often. Questions
    without a target are not learned from, but count as misses.

    Args:
        model: with the weights to start from.
        node_text: float32 (entities, text_dim), or None where the model reads none.
        relation_text: float32 (relations, text_dim).
        training, dev: see `Questions`; without `dev` nothing stops early, and the last epoch is
            the best.
        directory: where checkpoint, CSV and TensorBoard files go; None keeps nothing.
        resume: go on from the checkpoint, if there is one.
        run: plain values that name this training beside the settings, such as a digest of the
            questions; a checkpoint of another run is refused.
        progress: told after each batch.
        stop: asked after each batch; once it says yes, the state is kept and TrainingStopped
            raised.

    Raises:
        NothingToLearn: no training question has a target.
        ValueError: the checkpoint is of another run.
        TrainingDiverged: loss or gradient is not finite; the last checkpoint stays.
    """
    import torch

    answerable = np.flatnonzero(training.answerable)
    if not len(answerable):
        raise NothingToLearn(
            f"fit: none of the {len(training.answerable)} training questions has an answer in "
            "reach of its topic; is the radius too small, or are names spelled otherwise?"
        )
    named = {**config.to_dict(), **model.config.to_dict(), **(run or {})}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        work = _Run(model, node_text, relation_text, training, answerable, dev, config)
        work.keep_in(None if directory is None else Path(directory), named, resume)
        work.to_the_end(progress, stop)
    return work.result()


@dataclass
class _Run:
    """One training while it runs."""

    model: "RSFModel"
    node_text: "torch.Tensor"
    relation_text: "torch.Tensor"
    training: Questions
    answerable: npt.NDArray[np.int64]
    dev: Questions | None
    config: TrainingConfig
    progress: Progress = field(default_factory=Progress)
    directory: Path | None = None
    named: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        import torch

        self.optimizer = torch.optim.AdamW(
            self.model.parameter_groups(self.config.weight_decay), lr=self.config.learning_rate
        )
        self.best = self._weights()
        self.average = self._weights()
        self.batches = -(-len(self.answerable) // self.config.batch_size)
        self.steps = self.batches * self.config.epochs

    def keep_in(self, directory: Path | None, named: Mapping[str, Any], resume: bool) -> None:
        """Choose where the state goes, and go on from what is there if that is wanted."""
        self.directory, self.named = directory, named
        if directory is None:
            return
        directory.mkdir(parents=True, exist_ok=True)
        folder = directory / checkpoint.FOLDER
        if resume and checkpoint.exists(folder):
            self.progress, self.best, self.average = checkpoint.load(
                folder, self.model, self.optimizer, named
            )

    def to_the_end(
        self, told: Callable[[Step], object] | None, stop: Callable[[], bool] | None
    ) -> None:
        """Run all epochs that are left."""
        board = None if self.directory is None else curve.Board(self.directory, self._done)
        while not self._over():
            self._epoch(told, stop)
            if self.directory is not None:
                curve.write_csv(self.directory / curve.FILE, self._done)
            if board is not None:
                board.add(self._done[-1])
        if board is not None:
            board.close()
        self.model.load_state_dict(self.best)

    def result(self) -> Trained:
        weights = {name: values.numpy().copy() for name, values in self.best.items()}
        now = self.progress
        return Trained(weights, self._done, now.best_epoch, now.best, self._answer_share())

    def _answer_share(self) -> float | None:
        if self.dev is None:
            return None
        texts = (self.node_text, self.relation_text)
        return best_share(self.model, *texts, self.dev, self.config.batch_size)

    @property
    def _done(self) -> list[Epoch]:
        return self.progress.epochs

    def _over(self) -> bool:
        waited = len(self._done) - self.progress.improved
        early = self.dev is not None and 0 < self.config.patience <= waited
        return early or self.progress.epoch == self.config.epochs

    def _epoch(
        self, told: Callable[[Step], object] | None, stop: Callable[[], bool] | None
    ) -> None:
        now, size = self.progress, self.config.batch_size
        order = np.random.default_rng([self.config.seed, now.epoch]).permutation(self.answerable)
        if not now.batch:
            now.sums, now.seconds = dict.fromkeys(_SUMS, 0.0), 0.0
        while now.batch < self.batches:
            start = perf_counter()
            self._step(order[now.batch * size : (now.batch + 1) * size])
            now.seconds += perf_counter() - start
            now.batch += 1
            now.step += 1
            if told is not None:
                told(self._told())
            if now.batch == self.batches:
                break  # the epoch's end keeps the state
            stopped = stop is not None and stop()
            every = self.config.checkpoint_steps
            if stopped or (every and now.step % every == 0):
                self._keep()
            if stopped:
                raise TrainingStopped(
                    f"stopped in epoch {now.epoch + 1} after {now.batch} of {self.batches} batches"
                )
        self._finish_epoch()
        self._keep()
        if stop is not None and stop() and not self._over():
            raise TrainingStopped(f"stopped after epoch {now.epoch} of {self.config.epochs}")

    def _step(self, rows: npt.NDArray[np.int64]) -> None:
        import torch

        from hyperhop.rsf.loss import flow_loss

        now, config = self.progress, self.config
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * config.factor(now.step, self.steps)
        self.model.train()
        batch, question = self.training.batch(rows)
        output = self.model(batch, self.node_text, self.relation_text, question)
        switches = self.model.config
        loss = flow_loss(output, batch, switches.lambda_1, switches.eps, config.target)
        self._check("loss", loss.total.item())
        self.optimizer.zero_grad()
        loss.total.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), config.clip)
        self._check("gradient", norm.item())
        self.optimizer.step()
        if config.average:
            # at first the average must not hold on to the weights nobody has trained yet
            share = min(config.average, (now.step + 1) / (now.step + 10))
            for name, values in self.model.state_dict().items():
                self.average[name].lerp_(values, 1 - share)
        hits = answer_ranks(output.flows[-1].detach().numpy(), batch) == 1
        parts = {
            "learned": 1.0,
            "loss": loss.total.item(),
            "cross_entropy": loss.cross_entropy.item(),
            "divergence": loss.divergence.item(),
            "entropy": loss.entropy.item(),
        }
        for name, value in parts.items():
            now.sums[name] += value * len(rows)
        now.sums["hits"] += float(hits.sum())

    def _finish_epoch(self) -> None:
        now = self.progress
        start = perf_counter()
        weights = {**self.average} if self.config.average else self._weights()
        ranks = None if self.dev is None else self._judge(weights)
        judged = 0.0 if ranks is None else share_within(ranks, 1)
        learned = now.sums["learned"]
        now.epochs.append(
            Epoch(
                epoch=now.epoch + 1,
                step=now.step,
                learning_rate=self.config.learning_rate
                * self.config.factor(now.step - 1, self.steps),
                **{
                    name: now.sums[name] / learned
                    for name in ("loss", "cross_entropy", "divergence", "entropy")
                },
                hits_at_1=now.sums["hits"] / self._asked(learned),
                **{
                    f"dev_hits_at_{k}": float("nan") if ranks is None else share_within(ranks, k)
                    for k in (1, 5, 10)
                },
                seconds=now.seconds + perf_counter() - start,
                graphs_per_second=learned / now.seconds,
            )
        )
        now.epoch, now.batch = now.epoch + 1, 0
        if self.dev is None or judged >= now.best:
            # of equals the last: dev sets are small, and it has learned longest
            self.best = {name: values.clone() for name, values in weights.items()}
            now.best_epoch = now.epoch
            if judged > now.best and self.dev is not None:
                now.best, now.improved = judged, now.epoch

    def _judge(self, weights: "Mapping[str, torch.Tensor]") -> npt.NDArray[np.int64]:
        """Ranks of the dev questions under some weights."""
        assert self.dev is not None
        current = self._weights()
        self.model.load_state_dict(weights)
        texts = (self.node_text, self.relation_text)
        ranks = rank_answers(self.model, *texts, self.dev, self.config.batch_size)
        self.model.load_state_dict(current)
        return ranks

    def _keep(self) -> None:
        if self.directory is not None:
            checkpoint.save(
                self.directory / checkpoint.FOLDER,
                *(self.model, self.optimizer, self.best, self.average),
                *(self.progress, self.named),
            )

    def _weights(self) -> "dict[str, torch.Tensor]":
        return {n: values.detach().clone() for n, values in self.model.state_dict().items()}

    def _asked(self, learned: float) -> float:
        """Questions that `learned` of the answerable ones stand for, the missed ones included."""
        return learned * len(self.training.answerable) / len(self.answerable)

    def _told(self) -> Step:
        now = self.progress
        learned = now.sums["learned"]
        return Step(
            now.epoch + 1,
            self.config.epochs,
            now.batch,
            self.batches,
            now.sums["loss"] / learned,
            now.sums["hits"] / self._asked(learned),
            learned / now.seconds,
            self._done[-1].dev_hits_at_1 if self._done else None,
        )

    def _check(self, what: str, value: float) -> None:
        if not isfinite(value):
            now = self.progress
            raise TrainingDiverged(
                f"fit: the {what} is {value} in epoch {now.epoch + 1}, step {now.step + 1}: lower "
                "the learning rate, or look for NaN among the text vectors"
            )
