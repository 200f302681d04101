"""The demo's flow model: trained on the spot, its paths beside PathHD's."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rich import box
from rich.table import Table
from rich.text import Text

from hyperhop.cli.report import busy, console, speaks_utf8
from hyperhop.demo.countries import Triple, plain_name
from hyperhop.demo.training import training_examples
from hyperhop.graph import KnowledgeGraph
from hyperhop.rsf import RSF
from hyperhop.rsf.training import Settings, Workspace, preset
from hyperhop.text import HashingEncoder
from hyperhop.text.verbalize import verbalize_path

HOPS = 3
# Questions as one vector: the hashing encoder does not know words one by one.
CHANGES = {"question": "pooled", "update_from": "nodes", "epochs": 10}


class Asked(NamedTuple):
    """A question as PathHD answered it, and what the records say."""

    question: str
    path: str
    right: bool
    expected: frozenset[str]


def show_flow_model(
    graph: KnowledgeGraph, triples: Sequence[Triple], asked: Sequence[Asked], out: Path
) -> bool:
    """Train a model, save it in `out`, ask it the same and print both systems' paths.

    Without torch one line says what is missing. Returns whether there is a model now.
    """
    if importlib.util.find_spec("torch") is None:
        print('A flow model is trained here too where torch is: pip install "hyperhop[torch]"\n')
        return False
    examples = training_examples(triples, [one.question for one in asked])
    settings: Settings = preset("cpu", HOPS, len(examples)).replaced(CHANGES)
    workspace = Workspace.of(graph, HashingEncoder(), settings)
    with busy(f"training a flow model on {len(examples)} questions"):
        _, trained = workspace.train(examples)
        workspace.save(out, trained)
    seconds = sum(epoch.seconds for epoch in trained.epochs)
    system = RSF.load(out)
    yes, no = ("✓", "✗") if speaks_utf8() else ("yes", "NO")
    table = Table(box=box.HORIZONTALS, show_lines=True)
    table.add_column("question, a path of PathHD, a path of RSF", ratio=1)
    for name in ("PathHD", "RSF"):
        table.add_column(name, justify="right", no_wrap=True)
    right = 0
    for one in asked:
        evidence = system.retrieve(one.question)
        answer = system.reader.read(one.question, evidence)
        correct = {plain_name(name) for name in answer.entities} == one.expected
        right += correct
        path = evidence.paths[answer.citations[0]] if answer.citations else None
        walked = verbalize_path(path.entities, path.relations) if path else ""
        text = Text.assemble((one.question, "bold"), f"\n{one.path}\n{walked}")
        table.add_row(text, *(yes if mark else no for mark in (one.right, correct)))
    console().print(table)
    print(
        f"The flow model (RSF) learned from {len(examples)} questions about other names in "
        f"{seconds:.0f} s, and has {right} of the same {len(asked)} right. It is saved in {out}.\n"
    )
    return True
