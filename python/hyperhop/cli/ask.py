"""``hyperhop ask``: one question on a saved index."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from hyperhop.cli import options
from hyperhop.cli.options import SystemName
from hyperhop.cli.reader import open_reader
from hyperhop.cli.report import busy, say, speaks_utf8
from hyperhop.cli.show import answer_lines, explain_lines
from hyperhop.cli.show_passages import show_passages
from hyperhop.cli.system import open_help, open_model, open_system, system_of
from hyperhop.evidence import Evidence
from hyperhop.graph import EntityLinker
from hyperhop.help import HELP
from hyperhop.pathhd import LLMPlanner, PathHD
from hyperhop.retrieval.answering import with_retrieval
from hyperhop.retrieval.topics import TopicNotFound
from hyperhop.rsf import RSF

LLM = "llm"

# The systems that an option is for; one that is not named here is for all.
_SYSTEMS = {
    "topic": (SystemName.PATHHD, SystemName.RSF),
    "planner": (SystemName.PATHHD,),
    "max_hops": (SystemName.PATHHD,),
    "max_degree": (SystemName.PATHHD, SystemName.RSF),
    "no_inverse": (SystemName.PATHHD,),
    "scorer": (SystemName.HELP,),
    "levels": (SystemName.HELP,),
    "quota": (SystemName.HELP,),
}


def ask(
    context: typer.Context,
    directory: options.Directory,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question, quoted.")],
    topic: Annotated[
        list[str] | None,
        typer.Option(
            metavar="E",
            help="Entity of a graph to start from; otherwise found in the question. Given twice: "
            "answers are what both lead to (a flow starts at both).",
        ),
    ] = None,
    system: Annotated[
        SystemName | None,
        typer.Option(
            "--system",
            help="What finds the evidence: pathhd on a graph, rsf, the trained model in DIR, or "
            "help on documents. Default: what DIR was made for.",
            show_default=False,
        ),
    ] = None,
    planner: Annotated[
        str | None,
        typer.Option(
            "--planner",
            metavar="P",
            help="How a plan is chosen: lexical, embedding or contextual, or llm, which asks a "
            "language model.",
        ),
    ] = None,
    encoder: options.Encoder = None,
    max_hops: options.MaxHops = None,
    max_degree: options.MaxDegree = None,
    no_inverse: Annotated[
        bool, typer.Option("--no-inverse", help="Do not walk facts against their direction.")
    ] = False,
    k: Annotated[
        int | None,
        typer.Option(
            "--k",
            min=1,
            help="Relation sequences to keep (3); of rsf answers (10), of help passages (5).",
        ),
    ] = None,
    scorer: options.Scorer = None,
    levels: options.Levels = None,
    quota: options.Quota = None,
    reader: options.Reader = None,
    llm: options.Llm = None,
    model: options.Model = None,
    fallback: options.Fallback = False,
    contrast: options.Contrast = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show how the answer was found.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object with everything.")
    ] = False,
) -> None:
    """Answer a question on a saved index and cite what the answer rests on.

    Settings that are not given come from the directory, as `hyperhop index` stored them.

    Of a graph the answer is where paths lead. The planners embedding and contextual need the
    encoder, lexical does not. A question may be about two entities: "Which countries border both
    Peru and Chile?". A model that `hyperhop train rsf` made brings its graph and its settings: of
    the options that say how to search, --encoder (the same one, elsewhere), --max-degree and --k
    are its own too. It needs no torch to answer.

    Of documents the answer is in passages, which are listed best first. HELP joins facts of several
    passages to HyperNodes, looks for those nearest to the question and goes back to the passages
    that state them ("found by facts"); the others come nearest by their own words ("found by
    text"). A mark stands at the passages that the answer cites. --explain shows the HyperNodes,
    --k and --quota how many passages there are and how many of them by facts.

    Without a language model the best path, or the nearest HyperNode, decides. One that is named
    with --llm, or configured and asked for with --reader llm, is shown the numbered paths or
    passages in a single call; an answer of its own that nothing it cites holds is marked. It is
    configured by HYPERHOP_LLM_URL, HYPERHOP_LLM_MODEL and HYPERHOP_LLM_KEY, or in
    hyperhop/config.toml. --planner llm asks the same language model once more, before that: which
    of the relations near the topic lead to the answer. Only paths that exist count.

    Vectors of minilm, sentence-transformers and servers are kept in hyperhop/embeddings in the
    cache directory ($XDG_CACHE_HOME or ~/.cache), which may be removed; indexing with a server anew
    forgets those of its model.

    \b
    Examples:
      hyperhop ask mygraph "Who is the mother of Ada Lovelace?"
      hyperhop ask mygraph "Who was her mother?" --topic "Ada Lovelace"
      hyperhop ask mygraph "Who is the mother of Ada Lovelace?" --explain
      hyperhop ask mygraph "Who is the mother of Ada Lovelace?" --json | jq .answer.entities
      hyperhop ask mygraph "Who was her mother?" --topic "Ada Lovelace" \\
          --llm http://localhost:8000/v1 --model qwen3
      hyperhop ask mygraph "Who is the mother of Ada Lovelace?" --llm model.gguf --explain
      hyperhop ask mymodel "Who is the mother of Ada Lovelace?" --llm myreader --contrast 0.5
      hyperhop ask mygraph "Who brought Ada Lovelace up?" --planner llm --reader vector
      hyperhop ask mymodel "Who is the mother of Ada Lovelace?" --system rsf --explain
      hyperhop ask mydocs "Where was the engineer of the lighthouse born?"
      hyperhop ask mydocs "Where was the engineer of the lighthouse born?" --k 3 --explain
      hyperhop ask mydocs "Where was the engineer born?" --llm http://localhost:8000/v1
    """
    if explain and as_json:
        raise typer.BadParameter("--json already holds what --explain shows: give one of them")
    if not question.strip():
        raise typer.BadParameter("the question is empty")
    plans = planner == LLM
    chosen = system_of(directory, system)
    _check_options(options.typed(context), directory, chosen)
    with (
        open_reader(reader, llm, model, fallback, plans, contrast) as (read, chat),
        busy(f"asking {directory}"),
    ):
        asked: PathHD | RSF | HELP
        if chosen is SystemName.HELP:
            asked = open_help(
                directory, encoder=encoder, scorer=scorer, levels=levels, quota=quota, k=k
            )
        elif chosen is SystemName.RSF:
            asked = open_model(directory, encoder=encoder, max_degree=max_degree, k=k)
        else:
            asked = open_system(
                directory,
                encoder=encoder,
                planner=None if plans else planner,
                max_hops=max_hops,
                max_degree=max_degree,
                inverse=not no_inverse,
                k=k,
            )
            if plans and chat is not None:
                asked.planner = LLMPlanner(chat, asked.planner, fallback=fallback)
        evidence = _evidence(asked, question, topic, explain or as_json, directory)
        answer = with_retrieval(read.read(question, evidence), evidence)
    if as_json:
        found = {
            "question": question,
            "answer": answer.to_dict(),
            "evidence": evidence.to_dict(),
        }
        print(json.dumps(found, ensure_ascii=not speaks_utf8()))
    elif isinstance(asked, HELP):
        show_passages(answer, evidence, explain)
    elif answer.entities or answer.unsupported:
        print("\n".join(answer_lines(answer, evidence)))
    if explain and not isinstance(asked, HELP):
        mentions = EntityLinker(asked.kg).link(question)
        print("\n".join(explain_lines(answer, evidence, mentions)))
    if not answer.entities and not answer.unsupported and not answer.citations:
        say(answer.text)
        raise typer.Exit(1)


def _check_options(typed: Mapping[str, str], directory: Path, chosen: SystemName) -> None:
    """Refuse an option that the system has no use for."""
    for name, written in typed.items():
        systems = _SYSTEMS.get(name)
        if systems is not None and chosen not in systems:
            raise typer.BadParameter(
                f"{written} is for --system {' or '.join(systems)}, but {directory} is asked by "
                f"{chosen}"
            )


def _evidence(
    asked: PathHD | RSF | HELP,
    question: str,
    topic: list[str] | None,
    explain: bool,
    directory: Path,
) -> Evidence:
    if isinstance(asked, HELP):
        return asked.retrieve(question)
    try:
        return asked.retrieve(question, topic=topic or None, explain=explain)
    except TopicNotFound:
        raise LookupError(
            f"the question names no entity of {directory}: name one with --topic"
        ) from None
