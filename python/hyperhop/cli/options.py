"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="Directory of a saved graph.")]
Encoder = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        metavar="NAME|PATH|URL",
        help="Text encoder: hashing, wordllama, minilm, a folder or sentence-transformers:NAME, "
        "or URL#MODEL of a server.",
    ),
]
Planner = Annotated[
    str | None,
    typer.Option("--planner", metavar="P", help="How a plan is chosen: lexical or embedding."),
]
MaxHops = Annotated[
    int | None,
    typer.Option("--max-hops", metavar="N", min=1, help="Longest path that is considered."),
]
MaxDegree = Annotated[
    int | None,
    typer.Option(
        "--max-degree",
        metavar="N",
        min=1,
        help="Follow only some edges of an entity that has more than N, evenly spaced.",
    ),
]
