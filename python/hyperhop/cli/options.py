"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class ReaderName(StrEnum):
    """What reads an answer out of the evidence."""

    VECTOR = "vector"
    LLM = "llm"


class SystemName(StrEnum):
    """What finds the evidence."""

    PATHHD = "pathhd"
    RSF = "rsf"
    HELP = "help"


def typed(context: typer.Context) -> dict[str, str]:
    """The parameters that were typed, by name: how each is written, in order of the command's."""
    found = {}
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if option.name is not None and source is not None and source.name == "COMMANDLINE":
            found[option.name] = option.opts[0]
    return found


Directory = Annotated[Path, typer.Argument(metavar="DIR", help="Directory of a saved index.")]
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
    typer.Option(
        "--planner", metavar="P", help="How a plan is chosen: lexical, embedding or contextual."
    ),
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
Scorer = Annotated[
    str | None,
    typer.Option(
        "--scorer",
        metavar="S",
        help="How HyperNodes are held against the question: composition (of their facts' vectors, "
        "nothing is encoded), encoder (each is encoded, slow), or cascade (the best by composition "
        "are encoded).",
    ),
]
Levels = Annotated[
    int | None,
    typer.Option("--levels", metavar="N", min=1, help="Facts that a HyperNode joins at most (2)."),
]
Quota = Annotated[
    int | None,
    typer.Option(
        "--quota", metavar="M", min=0, help="Passages at most that are found by facts (4)."
    ),
]
Reader = Annotated[
    ReaderName | None,
    typer.Option(
        "--reader",
        help="Who reads the answer out of the evidence: vector (no language model, the default) or "
        "llm, the one that is configured.",
        show_default=False,
    ),
]
Llm = Annotated[
    str | None,
    typer.Option(
        "--llm",
        metavar="URL|PATH",
        help="Language model to read with: an OpenAI-compatible server, a .gguf file, or a folder "
        "of transformers such as hyperhop train reader makes.",
    ),
]
Model = Annotated[str | None, typer.Option("--model", metavar="NAME", help="Model of that server.")]
Contrast = Annotated[
    float | None,
    typer.Option(
        "--contrast",
        metavar="A",
        min=0.0,
        help="Count what the model would say without evidence against its answer, by this weight; "
        "for folders of transformers.",
    ),
]
Fallback = Annotated[
    bool,
    typer.Option("--fallback", help="If the language model fails, answer without it and say so."),
]
