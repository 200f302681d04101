"""The options of ``hyperhop eval``, by what they are about."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, get_args

import typer

from hyperhop.cli.options import ReaderName
from hyperhop.evaluate import benchmarks, passages, path_ranking, studies
from hyperhop.pathhd.codebooks import CodebookKind
from hyperhop.pathhd.query import QueryKind

DATA_VARIABLE = "HYPERHOP_DATA"

Dataset = Annotated[
    str | None,
    typer.Argument(
        metavar="DATASET",
        help=f"One of {', '.join(benchmarks.names())}, {path_ranking.NAME} (relation paths from "
        "text alone), or a .json or .jsonl file of questions, one object a line; for RSF also "
        f"MetaQA, all three sets. Over passages: {', '.join(passages.names())}.",
        show_default=False,
    ),
]
Listed = Annotated[
    bool, typer.Option("--list", help="List the datasets and whether their files are found.")
]
StudyName = Annotated[
    str | None,
    typer.Option(
        "--study",
        metavar="NAME",
        help=f"Repeat a study of the papers instead: {', '.join(studies.NAMES)}.",
    ),
]
Tune = Annotated[
    bool,
    typer.Option(
        "--tune",
        help="Fit the calibration (eq. 5) by hits@1 instead; over passages choose HELP's settings "
        "on four fifths of the questions and judge them on the fifth.",
    ),
]
Data = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help=f"Folder of the data; ${DATA_VARIABLE} if not given."),
]
Planners = Annotated[
    list[str] | None,
    typer.Option(
        "--planner",
        metavar="P",
        help="lexical (default), embedding, contextual, memory, associative, linear, llm, gold, "
        "or several with weights: embedding+2*memory. Given more than once, each is measured.",
        show_default=False,
    ),
]
Part = Annotated[
    str | None,
    typer.Option(
        metavar="PART",
        help="train, dev (default) or test; choose on dev, report test. WebQSP, CWQ, GrailQA and "
        "files have no dev; WebQSP-paths calls it validation.",
        show_default=False,
    ),
]
SplitName = Annotated[
    str | None,
    typer.Option(
        "--split", metavar="S", help="Of PathQuestion: disjoint (default), random or folds."
    ),
]
Fold = Annotated[
    str, typer.Option(metavar="I", help="Of the split folds: 0 to 9, or all, one after another.")
]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of the split.")]
Limit = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Ask the first N questions only.")
]
Query = Annotated[
    str | None,
    typer.Option(
        metavar="Q",
        help="How plans become a hypervector: " + ", ".join(get_args(QueryKind)) + ".",
    ),
]
CodebookName = Annotated[
    str | None,
    typer.Option(
        "--codebook", metavar="C", help="Of relations: " + ", ".join(get_args(CodebookKind)) + "."
    ),
]
Reader = Annotated[
    ReaderName | None,
    typer.Option(
        "--reader",
        help="Judge the answers that vector (no language model) or llm, the one that is "
        "configured, reads out of the evidence. Without one the evidence is judged itself.",
        show_default=False,
    ),
]
CalibrationFile = Annotated[
    Path | None,
    typer.Option("--calibration", metavar="FILE", help="Use what --tune --json FILE has found."),
]


class EvalSystem(StrEnum):
    """What is measured."""

    PATHHD = "pathhd"
    RSF = "rsf"
    HELP = "help"
    PPR = "ppr"
    DENSE = "dense"
    BM25 = "bm25"


Systems = Annotated[
    list[EvalSystem] | None,
    typer.Option(
        "--system",
        help="pathhd (default), or rsf: a flow model, trained now or with --model. Over passages "
        "help, ppr, dense or bm25; given more than once, each is measured; all that can run if not "
        "given.",
        show_default=False,
    ),
]
Values = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="NAME=VALUE",
        help="Replace one setting of RSF's training, such as hidden=256 or gate=false, or of HELP, "
        "such as quota=3; may be repeated.",
        show_default=False,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME|DIR",
        help="Model of that server; with --system rsf the directory of a trained model.",
    ),
]
TrainSeeds = Annotated[
    str | None,
    typer.Option(
        "--train-seeds",
        metavar="N,N...",
        help="Train RSF once for each of these seeds (0 if not given) and ask each model.",
    ),
]
TrainLimit = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Train on the first N questions of each set only."),
]
Work = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Keep models, checkpoints and finished results here: the same command goes on where "
        "it was stopped or killed.",
    ),
]
Json = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Also write everything as JSON.")
]
Markdown = Annotated[
    Path | None, typer.Option("--markdown", metavar="FILE", help="Also write the table so.")
]
Latex = Annotated[Path | None, typer.Option("--latex", metavar="FILE", help="The same in LaTeX.")]
Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Also draw it, as .png or .svg.")
]
Records = Annotated[
    Path | None,
    typer.Option(
        "--records",
        metavar="FILE",
        help="Also write a line of JSON for each question; of several planners a file each, with "
        "its name in that of FILE.",
    ),
]
