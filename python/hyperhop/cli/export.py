"""``hyperhop export``: write the facts of a graph directory to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyperhop.cli import options
from hyperhop.cli.report import busy
from hyperhop.graph import KnowledgeGraph


def export(
    directory: options.Directory,
    target: Annotated[
        Path, typer.Argument(metavar="FILE", help="File to write; replaced if it exists.")
    ],
) -> None:
    """Write all facts of a saved graph to a file.

    The suffix of FILE tells the format; `hyperhop index` reads the same facts back.

    \b
      .tsv       head TAB relation TAB tail; refuses names with tabs or line ends
      .csv       with commas and quotes, no header
      .jsonl     {"head": ..., "relation": ..., "tail": ...} on each line
      .nt        N-Triples; a name that is no IRI, blank node or literal becomes the IRI
                 urn:hyperhop: + the name percent-encoded, which index decodes (extra 'rdf')
      .parquet   columns head, relation, tail (extra 'arrow')
      .arrow     the same as an Arrow IPC file (extra 'arrow')

    .gz or .zst may follow the first four. The file appears under its name when it is whole.
    Entities without facts are in no file.

    \b
    Examples:
      hyperhop export mygraph facts.tsv.gz
      hyperhop export mygraph facts.parquet
    """
    with busy(f"opening {directory}"):
        graph = KnowledgeGraph.open(directory)
    with busy(f"writing {target}", "facts") as told:
        graph.export(target, progress=told)
    print(f"{target}: {graph.num_triples:,} facts")
