"""The command: what the input holds, and who makes an index of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from hyperhop.cli import options as shared
from hyperhop.cli.index import options
from hyperhop.cli.index.documents import Documents, index_documents
from hyperhop.cli.index.extraction import Asking, prices_of
from hyperhop.cli.index.graph import Facts, index_graph
from hyperhop.cli.index.kind import Decision, Kind, kind_of

_BOTH = {"source", "directory", "as_triples", "as_passages", "encoder", "skip_bad"}
_UNDERSTOOD = {
    Kind.TRIPLES: _BOTH
    | {"planner", "max_hops", "delimiter", "header", "columns", "literals", "blank_nodes"},
    Kind.PASSAGES: _BOTH
    | {"given", "extract", "llm", "model", "calls", "concurrency", "prices", "estimate_only"}
    | {"no_triples", "chunk", "overlap", "synonyms", "storage", "scorer", "levels", "quota"},
}


def index(
    context: typer.Context,
    source: options.Source,
    directory: options.Output,
    as_triples: options.AsTriples = False,
    as_passages: options.AsPassages = False,
    encoder: shared.Encoder = None,
    skip_bad: options.SkipBad = False,
    planner: shared.Planner = None,
    max_hops: shared.MaxHops = None,
    delimiter: options.Delimiter = None,
    header: options.Header = False,
    columns: options.Columns = None,
    literals: options.Literals = "keep",
    blank_nodes: options.BlankNodes = "keep",
    given: options.Given = None,
    extract: options.Extract = False,
    llm: options.Llm = None,
    model: shared.Model = None,
    calls: options.Calls = 2,
    concurrency: options.Concurrency = None,
    prices: options.Prices = None,
    estimate_only: options.EstimateOnly = False,
    no_triples: options.NoTriples = False,
    chunk: options.Chunk = None,
    overlap: options.Overlap = None,
    synonyms: options.Synonyms = None,
    storage: options.Storage = options.StorageName.FLOAT32,
    scorer: shared.Scorer = None,
    levels: shared.Levels = None,
    quota: shared.Quota = None,
) -> None:
    """Make a graph of triples, or an index of documents.

    What INPUT holds is told by its name, else by its first row or its columns, and printed.
    --triples or --passages decides it instead. Text is UTF-8; .gz or .zst may follow the suffix of
    a file of text.

    \b
    Triples: a graph, which PathHD and RSF ask
      .tsv .txt          head TAB relation TAB tail on each line, taken verbatim
      .csv               with commas and quotes
      .jsonl .ndjson     {"head": ..., "relation": ..., "tail": ...} or an array of three a line
      .nt                N-Triples (extra 'rdf')
      .parquet .pq       columns of text or whole numbers (extra 'arrow')
      .arrow .feather .ipc
      any other          with --delimiter

    \b
    Passages: an index, which HELP asks
      a folder           every .txt and .md file in it and below; long ones are cut (extra
                         'documents')
      .txt .md           one document, likewise
      .jsonl .ndjson     {"text": ..., "id": ..., "title": ..., "triples": [[H, R, T], ...]} a line;
                         only text is needed
      .parquet .pq       the same as columns (extra 'arrow')
      .json              a list of the same, or what HippoRAG's OpenIE writes: passages with their
                         triples

    HELP finds its way from passage to passage along triples. Where INPUT or --triples-from FILE
    does not give them, a language model can extract them: --llm URL. What that will cost is said
    first (--estimate ends there). Every finished passage is recorded in DIR at once, so after
    Ctrl-C or a kill the same command goes on, and a later run asks about new text only.
    --no-triples makes an index for plain vector search.

    Of triples: columns are told by usual names (head, relation, tail; subject, predicate, object;
    source, relation, target; h, r, t; s, p, o), three unknown ones by their order, others by
    --columns, which implies --header. An IRI of N-Triples names itself; a blank node is _:label,
    and labels belong to one file; a literal keeps quotes, language tag and datatype (--literals
    value: the text alone, so that literals which differ only in tag or datatype become one entity;
    skip: no such facts). Equal facts are merged and counted.

    The encoder is stored, of a graph also planner and longest path, of passages scorer, levels and
    quota, so that `hyperhop ask` uses them. Vectors that were kept of a server's model are
    forgotten.

    \b
    Examples:
      hyperhop index facts.tsv -o mygraph
      hyperhop index facts.csv.gz --header --skip-bad -o mygraph
      hyperhop index facts.txt --delimiter "|" -o mygraph
      hyperhop index edges.parquet --columns source,label,target -o mygraph
      hyperhop index dump.nt.gz --literals value --blank-nodes skip -o mygraph
      hyperhop index facts.tsv --encoder wordllama --planner embedding -o mygraph
      hyperhop index docs/ --llm http://localhost:8000/v1 --estimate -o mydocs
      hyperhop index docs/ --llm http://localhost:8000/v1 --model qwen3 -o mydocs
      hyperhop index passages.jsonl --encoder minilm -o mydocs
      hyperhop index openie_results_ner_gpt.json -o mydocs
      hyperhop index docs/ --no-triples --encoder wordllama -o mydocs
    """
    if as_triples and as_passages:
        raise typer.BadParameter("give one of --triples and --passages")
    typed = shared.typed(context)
    decided = _decided(source, as_triples, as_passages, typed)
    for name in (name for name in typed if name not in _UNDERSTOOD[decided.kind]):
        other = Kind.PASSAGES if decided.kind is Kind.TRIPLES else Kind.TRIPLES
        raise typer.BadParameter(
            f"{typed[name]} is for {other}, but {source} is read as {decided.kind} ({decided.why})"
        )
    if decided.kind is Kind.TRIPLES:
        facts = Facts(
            encoder=encoder,
            planner=planner,
            max_hops=max_hops,
            skip_bad=skip_bad,
            delimiter=delimiter,
            header=header,
            columns=columns,
            literals=literals,
            blank_nodes=blank_nodes,
        )
        index_graph(source, directory, decided.why, facts)
        return
    asks = extract or llm is not None or model is not None
    _check_sources(typed, asks)
    asking = Asking(llm, model, calls, concurrency, prices_of(prices), estimate_only, skip_bad)
    documents = Documents(
        encoder=encoder,
        given=given,
        asking=asking if asks else None,
        no_triples=no_triples,
        cutting=_given(chunk=chunk, overlap=overlap),
        synonyms=synonyms,
        storage=storage.value,
        retrieval=_given(scorer=scorer, levels=levels, quota=quota),
        skip_bad=skip_bad,
    )
    index_documents(source, directory, decided.why, documents)


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _decided(
    source: Path, as_triples: bool, as_passages: bool, typed: Mapping[str, str]
) -> Decision:
    """By what was said, else by the input itself."""
    if as_passages:
        return Decision(Kind.PASSAGES, "--passages")
    if as_triples:
        return Decision(Kind.TRIPLES, "--triples")
    for name in ("delimiter", "header", "columns"):
        if name in typed:
            return Decision(Kind.TRIPLES, typed[name])
    return kind_of(source)


def _check_sources(typed: Mapping[str, str], asks: bool) -> None:
    """Triples come from one place, and what is about an extraction needs one."""
    places = [name for name in ("given", "no_triples") if name in typed]
    if asks:
        places += [next(name for name in ("llm", "model", "extract") if name in typed)]
    if len(places) > 1:
        raise typer.BadParameter(
            f"{typed[places[0]]} and {typed[places[1]]} both say where triples come from: give one"
        )
    for name in ("calls", "concurrency", "prices", "estimate_only"):
        if name in typed and not asks:
            raise typer.BadParameter(f"{typed[name]} is for an extraction: --llm URL or --extract")
