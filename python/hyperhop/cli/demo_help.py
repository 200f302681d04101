"""The demo's documents: questions that no single passage answers."""

from __future__ import annotations

from pathlib import Path

from rich import box
from rich.table import Table
from rich.text import Text

from hyperhop.cli.report import busy, console, speaks_utf8
from hyperhop.demo.passages import PassageQuestion, demo_passages, passage_questions
from hyperhop.evidence import Evidence
from hyperhop.help import HELP

SHOWN = 3  # passages; each question takes two
BEAM = 5  # HyperNodes kept at a level: the usual 50 would be most of what so few triples make


def show_documents(out: Path) -> str:
    """Index the passages, save the index in `out`, ask the questions and print the evidence.

    Returns a question to go on with.
    """
    passages, triples = demo_passages()
    with busy("indexing the passages"):
        system = HELP.build(passages, triples, k=BEAM, passages=SHOWN)
        system.save(out)
        by_text = HELP(system.index, passages=SHOWN, quota=0)
    yes, no = ("✓", "✗") if speaks_utf8() else ("yes", "NO")
    table = Table(box=box.HORIZONTALS, show_lines=True)
    table.add_column("question, answer, the HyperNode and the passages it was found in", ratio=1)
    for name in ("ms", "right"):
        table.add_column(name, justify="right", no_wrap=True)
    questions = passage_questions()
    right = complete = complete_by_text = 0
    for one in questions:
        answer = system.answer(one.question)
        evidence = system.retrieve(one.question)
        correct = answer.entities == [one.answer]
        right += correct
        complete += _holds(evidence, one)
        complete_by_text += _holds(by_text.retrieve(one.question), one)
        cited = [evidence.passages[at] for at in answer.citations]
        nearest = next((node.triples for node in evidence.hypernodes if node.passages), [])
        facts = "; ".join(" - ".join(triple) for triple in nearest)
        sources = ", ".join(passage.title or passage.id for passage in cited)
        text = Text.assemble(
            (one.question, "bold"), "\n", (answer.text, "green"), f"\n{facts}\nin: {sources}"
        )
        if not correct:
            text.append(f"\nThe passages say: {one.answer}", "red")
        mark = Text(yes, "green") if correct else Text(no, "bold red")
        table.add_row(text, f"{sum(answer.timings.values()):.1f}", mark)
    print(
        f"{system.index.num_passages} passages about invented islands, joined by "
        f"{system.index.num_triples} triples, saved in {out}; no passage answers alone\n"
    )
    console().print(table)
    count = len(questions)
    print(
        f"{right} of {count} answers are what the passages say. The {SHOWN} passages found along "
        f"triples hold all that it takes for {complete} of {count}; the {SHOWN} whose text is "
        f"nearest to the question for {complete_by_text}.\n"
    )
    return questions[0].question


def _holds(evidence: Evidence, question: PassageQuestion) -> bool:
    return question.passages <= {passage.id for passage in evidence.passages}
