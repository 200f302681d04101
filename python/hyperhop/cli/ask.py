"""``hyperhop ask``: one question on a saved graph."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from hyperhop.cli import options
from hyperhop.cli.options import SystemName
from hyperhop.cli.reader import open_reader
from hyperhop.cli.report import busy, say, speaks_utf8
from hyperhop.cli.show import answer_lines, explain_lines
from hyperhop.cli.system import open_model, open_system, system_of
from hyperhop.graph import EntityLinker
from hyperhop.pathhd import LLMPlanner, PathHD
from hyperhop.retrieval.answering import with_retrieval
from hyperhop.retrieval.topics import TopicNotFound
from hyperhop.rsf import RSF

LLM = "llm"


def ask(
    directory: options.Directory,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question, quoted.")],
    topic: Annotated[
        list[str] | None,
        typer.Option(
            metavar="E",
            help="Entity to start from; otherwise found in the question. Given twice: answers are "
            "what both lead to (a flow starts at both).",
        ),
    ] = None,
    system: Annotated[
        SystemName | None,
        typer.Option(
            "--system",
            help="What finds the evidence: pathhd, or rsf, the trained model in DIR. Default: rsf "
            "where DIR holds a model.",
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
        typer.Option("--k", min=1, help="Relation sequences to keep (3); of rsf answers (10)."),
    ] = None,
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
    """Answer a question on a saved graph and cite the paths.

    Settings that are not given come from the directory, as `hyperhop index` stored them.

    The planners embedding and contextual need the encoder, lexical does not. Vectors of minilm,
    sentence-transformers and servers are kept in hyperhop/embeddings in the cache directory
    ($XDG_CACHE_HOME or ~/.cache), which may be removed; indexing with a server anew forgets those
    of its model.

    Without a language model the best path decides. One that is named with --llm, or configured
    and asked for with --reader llm, is shown the numbered paths in a single call; an answer of
    its own that no path it cites ends in is marked. It is configured by HYPERHOP_LLM_URL,
    HYPERHOP_LLM_MODEL and HYPERHOP_LLM_KEY, or in hyperhop/config.toml.

    A question may be about two entities: "Which countries border both Peru and Chile?".

    --planner llm asks the same language model once more, before that: which of the relations near
    the topic lead to the answer. Only paths that exist count.

    A model that `hyperhop train rsf` made brings its graph and its settings: of the options that
    say how to search, --encoder (the same one, elsewhere), --max-degree and --k are its own too.
    It needs no torch to answer.

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
    """
    if explain and as_json:
        raise typer.BadParameter("--json already holds what --explain shows: give one of them")
    plans = planner == LLM
    chosen = system_of(directory, system)
    if chosen is SystemName.RSF:
        given = {"planner": planner, "max-hops": max_hops, "no-inverse": no_inverse}
        for name in (name for name, value in given.items() if value):
            raise typer.BadParameter(f"--{name} is for --system pathhd: a model goes its own way")
    with (
        open_reader(reader, llm, model, fallback, plans, contrast) as (read, chat),
        busy(f"asking {directory}"),
    ):
        asked: PathHD | RSF
        if chosen is SystemName.RSF:
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
        try:
            evidence = asked.retrieve(question, topic=topic or None, explain=explain or as_json)
        except TopicNotFound:
            raise LookupError(
                f"the question names no entity of {directory}: name one with --topic"
            ) from None
        answer = with_retrieval(read.read(question, evidence), evidence)
    if as_json:
        found = {
            "question": question,
            "answer": answer.to_dict(),
            "evidence": evidence.to_dict(),
        }
        print(json.dumps(found, ensure_ascii=not speaks_utf8()))
    elif answer.entities or answer.unsupported:
        print("\n".join(answer_lines(answer, evidence)))
    if explain:
        mentions = EntityLinker(asked.kg).link(question)
        print("\n".join(explain_lines(answer, evidence, mentions)))
    if not answer.entities and not answer.unsupported:
        say(answer.text)
        raise typer.Exit(1)
