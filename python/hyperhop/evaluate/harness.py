"""Runs a system over a part of a benchmark and sums it up."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from hyperhop.evaluate import benchmarks
from hyperhop.evaluate.asking import More, Progress, ask_one
from hyperhop.evaluate.benchmarks import FOLDS, Benchmark, Question
from hyperhop.evaluate.coverage import Coverage
from hyperhop.evaluate.planning import make_planner
from hyperhop.evaluate.records import Record, write_records
from hyperhop.evaluate.scores import Scores, summarize
from hyperhop.evidence import Reader, Retriever
from hyperhop.graph import KnowledgeGraph
from hyperhop.pathhd import Calibration, PathHD
from hyperhop.text import TextEncoder, get_encoder


def evaluate(
    name: str,
    data_dir: str | Path | None = None,
    part: str | None = None,
    *,
    split: str | None = None,
    fold: int | Literal["all"] = 0,
    seed: int = 0,
    limit: int | None = None,
    planner: str = "lexical",
    encoder: str | TextEncoder = "hashing",
    reader: Reader | None = None,
    joint: bool = False,
    coverage: bool | None = None,
    records: str | Path | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Scores:
    """PathHD on one part of a benchmark, topic given, hop count unknown.

    `max_hops` is the set's hop count, shorter sequences are candidates too. What is chosen by
    looking at results is chosen on "dev"; "test" is for a number that is reported once. Where
    questions have subgraphs of their own, a system is made for each; only its questions are timed.

    Args:
        name, data_dir, split, seed: see `benchmarks.load`.
        part: "train", "dev" or "test"; None for "dev", and for all questions of a file.
        fold: of the split "folds"; "all" runs the ten folds one after another: each question of
            "dev" or "test" is asked once, with what its fold may know.
        limit: takes the part's first questions only (of each fold).
        planner: see `planning.make_planner`; memories remember the part "train".
        encoder: name or TextEncoder.
        reader: reads an answer from each evidence, which then is what is judged; None judges the
            evidence. Retrieval and reading are timed apart.
        joint: ask a question that has several topics from the first two, see PathHD.
        coverage: also measure `Coverage`, which takes longer than the questions; None for the sets
            on a partial graph alone, which say little without.
        records: file to write one record a question to (JSON Lines), see `records.Record`.
        progress: told (questions done, of), of each fold.
        options: of PathHD; they replace the benchmark's own.

    ValueError for an unknown name, split, part or planner, and for a part without questions.
    """
    if part is None:
        part = "test" if benchmarks.is_file(name) else "dev"
    if fold == "all" and (split != "folds" or part == "train"):
        raise ValueError("evaluate: fold='all' needs split='folds' and the part dev or test")
    model = get_encoder(encoder) if isinstance(encoder, str) else encoder
    folds: list[list[Record]] = []
    for number in range(FOLDS) if fold == "all" else [fold]:
        data = benchmarks.load(name, data_dir, split, fold=number, seed=seed, limit=limit)
        questions = data.asked("evaluate", part, limit)
        if "gold" in planner and not any(question.paths for question in questions):
            raise ValueError(f"evaluate: the planner gold needs gold paths: {name} has none")
        chosen = {**data.options, **options}
        covered = bool(data.note) if coverage is None else coverage
        folds.append([])
        more = None
        for system, question in _systems(data, questions, planner, model, chosen):
            if covered and (more is None or more.system is not system):
                more = Coverage(system)
            folds[-1].append(ask_one(system, question, reader=reader, joint=joint, more=more))
            if progress is not None:
                progress(len(folds[-1]), len(questions))
    together = [record for found in folds for record in found]
    if records is not None:
        write_records(records, together)
    return summarize(
        together,
        benchmark=data.name,
        split="folds" if fold == "all" else data.split,
        part=part,
        seed=seed,
        note=data.note,
        folds=folds if fold == "all" else (),
        settings={
            **_plain(chosen),
            "planner": system.planner.name,
            "encoder": model.name,
            "reader": "none" if reader is None else _named(reader),
            "joint": joint,
            "limit": limit,
        },
    )


def evaluate_system(
    data: Benchmark,
    system: Retriever,
    part: str,
    *,
    limit: int | None = None,
    reader: Reader | None = None,
    more: More | None = None,
    records: str | Path | None = None,
    progress: Progress | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Scores:
    """Any retriever on one part of a benchmark, topic given; see `evaluate`.

    `more` adds metrics, as `Coverage(system)` does; `settings` are plain values that say what the
    system is.
    """
    questions = data.asked("evaluate", part, limit)
    found = []
    for question in questions:
        found.append(ask_one(system, question, reader=reader, more=more))
        if progress is not None:
            progress(len(found), len(questions))
    if records is not None:
        write_records(records, found)
    return summarize(
        found,
        benchmark=data.name,
        split=data.split,
        part=part,
        seed=data.seed,
        note=data.note,
        settings={
            **(settings or {}),
            "reader": "none" if reader is None else _named(reader),
            "limit": limit,
        },
    )


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    """Options as JSON takes them."""
    return {
        name: value.to_dict() if isinstance(value, Calibration) else value
        for name, value in options.items()
    }


def _systems(
    data: Benchmark,
    questions: Sequence[Question],
    planner: str,
    model: TextEncoder,
    options: dict[str, Any],
) -> Iterator[tuple[PathHD, Question]]:
    """Each question with the system to ask: one for all, or one for each with its own subgraph."""

    def system(graph: KnowledgeGraph, asked: Sequence[Question]) -> PathHD:
        made = make_planner(planner, graph.symbols, model, data.train, asked)
        return PathHD(graph, model, made, **options)

    shared = None if data.graph is None else system(data.graph, questions)
    for question in questions:
        if question.graph is not None:
            yield system(question.graph, [question]), question
        elif shared is not None:
            yield shared, question
        else:
            raise ValueError(f"evaluate: question {question.id!r} has no graph to be asked on")


def _named(reader: Reader) -> str:
    """Kind of reader, and the language model it asks."""
    model = getattr(reader, "model", None)
    return type(reader).__name__ + (f" ({model.name})" if model is not None else "")
