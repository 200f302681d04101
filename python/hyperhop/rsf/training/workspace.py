"""A graph as one set of switches sees it: what is computed once and shared by many trainings."""

import contextlib
import hashlib
import json
import logging
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hyperhop._extras import optional
from hyperhop.flow import FlowGraph
from hyperhop.graph import KnowledgeGraph
from hyperhop.graph.store import content_id
from hyperhop.rsf import store
from hyperhop.rsf.graphs import FlowRelations, whole_graph
from hyperhop.rsf.text import TextTables, asked, question_vectors, text_tables
from hyperhop.rsf.training import checkpoint
from hyperhop.rsf.training.examples import Example
from hyperhop.rsf.training.measure import Measured, measure
from hyperhop.rsf.training.presets import Settings
from hyperhop.rsf.training.questions import InLanes, Packed, Questions
from hyperhop.rsf.training.toml import write_toml
from hyperhop.rsf.training.trainer import Step, Trained, fit
from hyperhop.text import TextEncoder, Verbalizer
from hyperhop.text.batches import query_prompt

if TYPE_CHECKING:
    from hyperhop.rsf.model import RSFModel

CONFIG = "config.toml"
LONG_QUESTION = 512  # tokens

_log = logging.getLogger(__name__)


@dataclass
class Workspace:
    """Graph, encoder and settings, with the tables they come to.

    Attributes:
        kg, encoder: as given.
        settings: switches of the model, and how it is trained.
        relations: symbols of the graph under `settings`.
        tables: vectors of entities and symbols.
        graph: the whole graph, for the layout "lanes"; else None.
    """

    kg: KnowledgeGraph
    encoder: TextEncoder
    settings: Settings
    relations: FlowRelations
    tables: TextTables
    graph: FlowGraph | None

    @classmethod
    def of(
        cls,
        kg: KnowledgeGraph,
        encoder: TextEncoder,
        settings: Settings,
        tables: TextTables | None = None,
    ) -> "Workspace":
        """Encode what is not given, entities where the model reads what they are called.

        ImportError without the extra "torch". ValueError where flows over the whole graph would
        take more hops than the ball has that questions are asked in later.
        """
        optional("torch", "training", "torch")
        training = settings.training
        if training.layout == "lanes" and training.radius < settings.model.hops:
            raise ValueError(
                f"Workspace: with layout lanes, radius must be at least hops = "
                f"{settings.model.hops}, got {training.radius}: the model would be asked in a part "
                "of the graph that its flows leave"
            )
        relations = FlowRelations(kg, settings.model.inverse, settings.model.stay)
        reads = settings.model.reads_texts
        if tables is None or (reads and tables.entities is None):
            # core words alone: questions rarely name what kind of thing has the relation
            words = Verbalizer(context=False)
            tables = text_tables(kg, relations, encoder, words, entities=reads)
        lanes = settings.training.layout == "lanes"
        return cls(
            kg,
            encoder,
            settings,
            relations,
            tables,
            whole_graph(kg, relations) if lanes else None,
        )

    def prepare(self, examples: Sequence[Example]) -> Questions:
        """The examples as this model is asked them.

        Logs a warning where questions are so long that the batches they fall into grow with them.
        """
        import torch  # noqa: F401  (before the model's modules, whose import needs it)

        from hyperhop.rsf.question import Question

        mention = self.settings.training.mention
        texts = [asked(one.question, one.topics, mention) for one in examples]
        vectors = question_vectors(self.encoder, texts, self.settings.model.question == "tokens")

        if vectors.offsets is not None:
            _warn_of_long(np.diff(vectors.offsets))

        def reading(rows: npt.NDArray[np.int64]) -> Question:
            return Question.of(vectors.take(rows))

        if self.graph is not None:
            return InLanes(self.kg, self.graph, examples, reading)
        radius = self.settings.training.radius
        return Packed(self.kg, self.relations, radius, examples, reading)

    def new_model(self) -> "RSFModel":
        """A model with weights drawn by the seed."""
        import torch

        from hyperhop.rsf.model import RSFModel

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.settings.training.seed)
            return RSFModel(self.settings.model, self.tables.dim)

    def train(
        self,
        training: Sequence[Example],
        dev: Sequence[Example] = (),
        directory: str | Path | None = None,
        *,
        resume: bool = False,
        ready: Callable[[Questions], object] | None = None,
        progress: Callable[[Step], object] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> "tuple[RSFModel, Trained]":
        """A new model, trained; see `fit`. Checkpoints know these questions, graph and encoder.

        `ready` is told the training questions once they are prepared. One process at a time trains
        in a directory: ValueError for the second.
        """
        model = self.new_model()
        with contextlib.nullcontext() if directory is None else checkpoint.locked(directory):
            prepared = self.prepare(training)
            if ready is not None:
                ready(prepared)
            trained = fit(
                *(model, *self._texts(), prepared),
                self.prepare(dev) if dev else None,
                self.settings.training,
                directory,
                resume=resume,
                run={
                    "encoder": self.encoder.name,
                    "graph": [self.kg.num_entities, self.kg.num_relations, self.kg.num_triples],
                    "graph content": content_id(self.kg._core_arrays()),
                    "questions": _digest(training),
                    "dev questions": _digest(dev),
                },
                progress=progress,
                stop=stop,
            )
        return model, trained

    def save(self, directory: str | Path, trained: Trained) -> None:
        """Save the trained model with its graph, and `config.toml` beside it; see `store.save`.

        The checkpoint is removed afterwards: there is nothing left to go on with.
        """
        training = self.settings.training
        course = {"best_epoch": trained.best_epoch, "epochs": len(trained.epochs)}
        store.save(
            *(directory, self.kg, self.settings.model, trained.weights, self.tables, self.encoder),
            radius=training.radius,
            mention=training.mention,
            answer_share=trained.answer_share,
            settings={"training": {**training.to_dict(), **course}},
        )
        encoder = {"name": self.encoder.name, "query_prompt": query_prompt(self.encoder)}
        write_toml(Path(directory) / CONFIG, {**self.settings.to_dict(), "encoder": encoder})
        shutil.rmtree(Path(directory) / checkpoint.FOLDER, ignore_errors=True)

    def measure(
        self, model: "RSFModel", questions: Questions, answer_share: float | None = None
    ) -> Measured:
        """What a trained model does on at least one question that was prepared."""
        batch_size = self.settings.training.batch_size
        return measure(model, *self._texts(), questions, batch_size, answer_share)

    def _texts(self) -> tuple[Any, Any]:
        import torch

        entities = self.tables.entities
        nodes = None if entities is None else torch.from_numpy(entities)
        return nodes, torch.from_numpy(self.tables.relations)


def _warn_of_long(tokens: npt.NDArray[np.int64]) -> None:
    count = int(np.count_nonzero(tokens > LONG_QUESTION))
    if count:
        _log.warning(
            "%d of %d questions have over %d tokens, the longest %d: every batch with one takes "
            "memory as if all its questions were so long; shorten them, leave them out or take a "
            "smaller batch_size",
            *(count, len(tokens), LONG_QUESTION, tokens.max()),
        )


def _digest(examples: Sequence[Example]) -> str:
    """16 hexadecimal digits that stand for these examples, in this order."""
    text = json.dumps([[one.question, one.topics, one.answers] for one in examples])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
