"""The options of ``hyperhop index``, by what they are about."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class StorageName(StrEnum):
    """Types that vectors are stored in."""

    FLOAT32 = "float32"
    FLOAT16 = "float16"


Source = Annotated[
    Path,
    typer.Argument(
        metavar="INPUT", help="File of triples, or file or folder of documents (passages)."
    ),
]
Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="DIR", help="Where the index is saved.")
]
AsTriples = Annotated[bool, typer.Option("--triples", help="INPUT holds triples: make a graph.")]
AsPassages = Annotated[
    bool, typer.Option("--passages", help="INPUT holds passages: make an index of documents.")
]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad",
        help="Leave malformed lines, rows or files out, say where, go on; index a passage whose "
        "extraction failed without triples.",
    ),
]

# Of triples.
Delimiter = Annotated[
    str | None,
    typer.Option(metavar="C", help="The character between fields; otherwise by suffix."),
]
Header = Annotated[bool, typer.Option("--header", help="The first line names the columns.")]
Columns = Annotated[
    str | None,
    typer.Option(metavar="H,R,T", help="Columns (or JSON keys) of head, relation and tail."),
]
Literals = Annotated[
    str, typer.Option(metavar="HOW", help="Literals of N-Triples: keep, value or skip.")
]
BlankNodes = Annotated[
    str, typer.Option(metavar="HOW", help="Blank nodes of N-Triples: keep or skip.")
]

# Of passages.
Given = Annotated[
    Path | None,
    typer.Option(
        "--triples-from",
        metavar="FILE",
        help="Triples of the passages: an OpenIE file of HippoRAG, or rows with id and triples.",
    ),
]
Extract = Annotated[
    bool,
    typer.Option(
        "--extract",
        help="Have the language model that is configured, or named by --llm, find the triples.",
    ),
]
Llm = Annotated[
    str | None,
    typer.Option(
        "--llm",
        metavar="URL|PATH",
        help="Language model that finds the triples: an OpenAI-compatible server, a .gguf file, "
        "or a folder of transformers.",
    ),
]
Calls = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=1,
        max=2,
        help="Requests a passage: 2, entities and then triples; 1, both at once.",
    ),
]
Concurrency = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Passages that are asked about at a time."),
]
Prices = Annotated[
    str | None,
    typer.Option(
        metavar="IN,OUT", help="Of a million tokens read and written, for the cost estimate."
    ),
]
EstimateOnly = Annotated[
    bool, typer.Option("--estimate", help="Print what the extraction would cost, and end.")
]
NoTriples = Annotated[
    bool, typer.Option("--no-triples", help="Index the passages for plain vector search only.")
]
Chunk = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=0,
        help="Most characters of a passage (1200 of text files, rows stay whole); 0 does not cut.",
    ),
]
Overlap = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=0, help="Characters a passage shares at most with the one before it (100)."
    ),
]
Synonyms = Annotated[
    float | None,
    typer.Option(
        metavar="S",
        min=0.0,
        max=1.0,
        help="Link entities whose names have at least this cosine, so that a HyperNode may go on "
        "from either.",
    ),
]
Storage = Annotated[
    StorageName,
    typer.Option(metavar="TYPE", help="Of the vectors: float32, or float16 in half the room."),
]
