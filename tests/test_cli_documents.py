"""Documents on the command line: indexed, extracted, interrupted, asked and described."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from importlib import resources

import pytest
from typer.testing import CliRunner

from hyperhop.cli import app
from hyperhop.cli.demo_help import show_documents
from hyperhop.demo.passages import demo_passages, passage_questions
from hyperhop.graph import KnowledgeGraph
from hyperhop.help import HELP, read_passages, write_openie
from loopback import Loopback, status

QUESTION = "In which village was the engineer born who built Skerrin Light?"
DEMO = resources.files("hyperhop.demo") / "passages.jsonl"
QUIET = re.compile(r"hyperhop: .* \.\.\.\n")  # what takes over a second on a busy machine


@pytest.fixture(autouse=True)
def own(monkeypatch, tmp_path):
    """No vectors, model or configuration of the user's."""
    for name in list(os.environ):
        if name.startswith(("HYPERHOP_LLM", "HYPERHOP_CONFIG", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def run(*args, code=0):
    """Run in this process: stdout and stderr, the latter without what is said of slow work."""
    done = CliRunner().invoke(app, [*map(str, args)], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.stdout, QUIET.sub("", done.stderr)


def fails(code, *args):
    """Run, assert the exit status and nothing on stdout, and return what is said."""
    out, err = run(*args, code=code)
    assert out == ""
    if code == 1:
        assert err.startswith("hyperhop: ")
        assert err.count("\n") == 1
    return " ".join(err.split())


@pytest.fixture(scope="module")
def islands(tmp_path_factory):
    directory = tmp_path_factory.mktemp("islands") / "index"
    out, _ = run("index", DEMO, "-o", directory)
    assert out.splitlines()[0] == f"{DEMO}: passages (its rows have 'text')"
    assert "12 passages (0 without triples), 35 triples, 36 entities" in out
    return directory


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    (folder / "below").mkdir(parents=True)
    for at in range(8):
        (folder / "below" / f"{at}.txt").write_text(f"x{at} met y{at}", "utf-8")
    (folder / "tool.bin").write_bytes(b"\x7fELF\0\xff")
    return folder


# --- asking ------------------------------------------------------------------------------------


def test_ask_cites_the_passages_and_fits_the_screen(islands):
    out, err = run("ask", islands, QUESTION)
    assert err == ""
    assert out.splitlines()[0] == "Marrow"
    assert max(map(len, out.splitlines())) <= 80
    cited = [line for line in out.splitlines() if re.match(r"\d+ +\* +facts", line)]
    assert sorted(re.search(r"\((.+)\)", line)[1] for line in cited) == ["orrell", "skerrin-light"]
    assert "HyperNode" not in out


def test_explain_shows_the_hypernodes(islands):
    out, _ = run("ask", islands, QUESTION, "--explain", "--k", 3)
    assert "Orrell - was born in the village of - Marrow" in out
    assert "Scored by composition: 0 HyperNodes encoded for this question" in out
    assert "Language model: not asked" in out
    assert "\n4 " not in out
    out, _ = run("ask", islands, QUESTION, "--explain", "--scorer", "encoder")
    assert int(re.search(r"Scored by encoder: (\d+) HyperNodes", out)[1]) > 0


def test_json_holds_everything(islands):
    found = json.loads(run("ask", islands, QUESTION, "--json")[0])
    assert found["answer"]["entities"] == ["Marrow"]
    passages = found["evidence"]["passages"]
    assert {passages[at]["id"] for at in found["answer"]["citations"]} == {
        "orrell",
        "skerrin-light",
    }
    assert found["evidence"]["hypernodes"][0]["triples"]
    assert found["evidence"]["scoring"]["scorer"] == "composition"


def test_options_reach_help(islands, tmp_path):
    def found(*options):
        return json.loads(run("ask", islands, QUESTION, "--json", *options)[0])["evidence"]

    assert {one["found"] for one in found("--quota", 0)["passages"]} == {"dense"}
    assert len(found("--k", 2)["passages"]) == 2
    assert {len(node["triples"]) for node in found("--levels", 1)["hypernodes"]} == {1}
    run("index", DEMO, "-o", tmp_path / "d", "--scorer", "cascade", "--levels", 3)
    assert HELP.open(tmp_path / "d").settings.scorer == "cascade"
    assert HELP.open(tmp_path / "d").settings.levels == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--topic", "Marrow"], "--topic is for --system pathhd or rsf"),
        (["--planner", "lexical"], "--planner is for --system pathhd"),
        (["--max-hops", 2], "--max-hops is for --system pathhd"),
        (["--system", "rsf"], "--system rsf asks a trained model"),
        (["--explain", "--json"], "--json already holds"),
        (["--levels", 0], "--levels"),
    ],
)
def test_what_documents_have_no_use_for(islands, options, said):
    assert said in fails(2, "ask", islands, QUESTION, *options)


def test_strange_questions(islands, tmp_path):
    assert "the question is empty" in fails(2, "ask", islands, " \t")
    for question in ("日本 🗼?", "\x1b[2J\0", "a" * 20_000, "[bold]"):
        out, _ = run("ask", islands, question)
        assert "\x1b" not in out
    assert "was made with the encoder 'hashing' (dim 512)" in fails(
        1, "ask", islands, QUESTION, "--encoder", "hashing:64"
    )
    assert "scorer must be one of" in fails(1, "ask", islands, QUESTION, "--scorer", "magic")


@pytest.mark.needs("llm")
def test_a_language_model_reads_the_passages(islands):
    with Loopback() as server:
        server.answer = lambda messages: json.dumps(
            {"answers": ["Marrow", "Atlantis"], "citations": [1, 2, 3], "rationale": "It is so."}
        )
        out, _ = run("ask", islands, QUESTION, "--llm", server.url)
    assert out.splitlines()[0] == "Marrow, Atlantis"
    assert "Not supported by what is cited: Atlantis" in out


# --- indexing ----------------------------------------------------------------------------------


def test_documents_need_triples_or_a_word(docs, tmp_path):
    said = fails(2, "index", docs, "-o", tmp_path / "d")
    assert "8 passages without triples" in said
    for way in ("--llm URL", "--triples-from FILE", "--no-triples"):
        assert way in said
    out, err = run("index", docs, "-o", tmp_path / "d", "--no-triples")
    assert (out.splitlines()[0], err) == (f"{docs}: passages (a folder)", "")
    assert "8 passages (8 without triples)" in out
    out, _ = run("ask", tmp_path / "d", "x3 met y3")
    assert "below/3.txt" in out.splitlines()[4]


def test_files_that_cannot_be_read(docs, tmp_path):
    (docs / "bad.md").write_bytes(b"\xff\xfe\0")
    index = ("index", docs, "-o", tmp_path / "d", "--no-triples")
    assert f"{docs / 'bad.md'} is not UTF-8" in fails(1, *index)
    assert not (tmp_path / "d").exists()
    out, err = run(*index, "--skip-bad")
    assert err == f"hyperhop: left out: {docs / 'bad.md'} is not UTF-8: byte 0\n"
    assert "8 passages" in out
    (tmp_path / "empty").mkdir()
    assert "holds no file" in fails(1, "index", tmp_path / "empty", "-o", tmp_path / "e")
    blank = tmp_path / "blank.jsonl"
    blank.write_text('{"text": "x"}\n{"text": 3}\n', "utf-8")
    assert "blank.jsonl, line 2" in fails(1, "index", blank, "-o", tmp_path / "e", "--no-triples")
    assert (
        run("index", blank, "-o", tmp_path / "e", "--no-triples", "--skip-bad")[1].count("\n") == 1
    )
    (tmp_path / "broken.json").write_text('{"docs": 3}', "utf-8")
    assert "is no OpenIE file" in fails(1, "index", tmp_path / "broken.json", "-o", tmp_path / "e")


def test_what_the_input_holds_is_decided_and_can_be_said(tmp_path):
    def kind(name, text, *options):
        (tmp_path / name).write_text(text, "utf-8")
        out, _ = run("index", tmp_path / name, "-o", tmp_path / f"of-{name}", *options)
        return out.splitlines()[0].removeprefix(f"{tmp_path / name}: ")

    assert kind("a.txt", "\na\tr\tb\n") == "triples (two tabs in its first line)"
    assert kind("b.txt", "Prose.", "--no-triples") == "passages (no triple in its first line)"
    assert kind("c.jsonl", '["a", "r", "b"]\n') == "triples (its rows have no text)"
    assert kind("d.jsonl", '"Prose."\n', "--no-triples") == "passages (its rows are texts)"
    assert kind("e.jsonl", '{"passage": "x"}\n', "--no-triples").endswith("have 'passage')")
    assert kind("f.json", '[{"title": "T", "text": "x"}]', "--no-triples") == "passages (.json)"
    assert kind("g.md", "x", "--no-triples") == "passages (.md)"
    assert kind("h.psv", "a|r|b", "--delimiter", "|") == "triples (--delimiter)"
    assert kind("i.txt", "a\tr\tb", "--passages", "--no-triples") == "passages (--passages)"
    assert kind("j.txt", "a\tr\tb", "--triples") == "triples (--triples)"
    (tmp_path / "k.xml").touch()
    assert "does not tell what it holds" in fails(1, "index", tmp_path / "k.xml", "-o", tmp_path)
    assert "no file or folder" in fails(1, "index", tmp_path / "nowhere", "-o", tmp_path / "k")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--triples", "--passages"], "give one of --triples and --passages"),
        (["--planner", "lexical"], "--planner is for triples, but"),
        (["--no-triples", "--llm", "http://x"], "both say where triples come from"),
        (["--estimate"], "--estimate is for an extraction"),
        (["--llm", "http://x", "--prices", "1"], "--prices expects two numbers"),
        (["--storage", "int8"], "--storage"),
        (["--triples", "--no-triples"], "--no-triples is for passages, but"),
    ],
)
def test_wrong_usage(tmp_path, options, said):
    assert said in fails(2, "index", DEMO, "-o", tmp_path / "d", *options)
    assert not (tmp_path / "d").exists()


def test_a_directory_of_another_kind_is_kept(islands, tmp_path):
    KnowledgeGraph.from_triples([("a", "r", "b")]).save(tmp_path / "g")
    facts = tmp_path / "facts.tsv"
    facts.write_text("a\tr\tb\n", "utf-8")
    assert "holds an index of kind 'graph'" in fails(1, "index", DEMO, "-o", tmp_path / "g")
    assert "holds an index of kind 'help'" in fails(1, "index", facts, "-o", islands)
    assert "--quota is for --system help" in fails(2, "ask", tmp_path / "g", "a?", "--quota", 1)
    assert "asks an index of documents" in fails(2, "ask", tmp_path / "g", "a?", "--system", "help")
    assert "kind 'help'" in fails(1, "export", islands, tmp_path / "x.tsv")


def test_openie_files_and_triples_beside(tmp_path):
    _, extraction = demo_passages()
    openie = tmp_path / "openie.json"
    write_openie(openie, extraction)
    assert "35 triples" in run("index", openie, "-o", tmp_path / "a")[0]
    bare = tmp_path / "bare.jsonl"
    rows = [json.loads(line) for line in DEMO.read_text("utf-8").splitlines()]
    text = "\n".join(json.dumps({k: row[k] for k in ("id", "title", "text")}) for row in rows)
    bare.write_text(text, "utf-8")
    for file in (openie, DEMO):
        out, err = run("index", bare, "-o", tmp_path / "b", "--triples-from", file)
        assert "35 triples" in out
        assert f"{file}: triples of 12 of 12 passages" in err
    entities = json.loads(run("ask", tmp_path / "b", QUESTION, "--json")[0])["answer"]["entities"]
    assert entities == ["Marrow"]
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "z", "triples": []}', "utf-8")
    said = fails(1, "index", bare, "-o", tmp_path / "c", "--triples-from", other)
    assert "gives triples to none of the passages" in said


def test_synonyms_and_storage(tmp_path):
    options = ("--synonyms", "0.9", "--storage", "float16")
    out, _ = run("index", DEMO, "-o", tmp_path / "d", *options)
    assert "pairs of entities linked as synonyms" in out
    found = json.loads(run("info", tmp_path / "d", "--json")[0])
    assert found["storage"] == "float16"
    assert isinstance(found["synonym_links"], int)


# --- extraction --------------------------------------------------------------------------------


def answer(messages):
    """Of the passage "x met y": two entities, and x met y."""
    shown = next(m["content"] for m in reversed(messages) if m["content"].startswith("Passage: "))
    head, tail = re.search(r"(x\d+) met (y\d+)", shown).groups()
    triple = {"head": head, "relation": "met", "tail": tail}
    return json.dumps({"entities": [head, tail], "triples": [triple]})


@pytest.fixture
def server():
    with Loopback() as running:
        running.answer = answer
        yield running


@pytest.mark.needs("llm")
def test_an_extraction_is_estimated_first(server, docs, tmp_path):
    extract = ("index", docs, "-o", tmp_path / "d", "--llm", server.url, "--model", "m")
    out, err = run(*extract, "--estimate", "--prices", "1,2", "--calls", 1)
    assert re.match(r"estimate: 8 passages, 8 calls, about .* tokens, cost 0\.0\d\n", out)
    assert server.requests == []
    out, err = run(*extract, "--calls", 1)
    assert "8 passages (0 without triples), 8 triples, 16 entities" in out
    lines = err.splitlines()
    assert lines[1].startswith("hyperhop: estimate: 8 passages, 8 calls")
    assert "hyperhop: 8 passages: 8 parsed" in err
    assert len(server.requests) == 8
    (docs / "new.txt").write_text("x9 met y9", "utf-8")
    _, err = run(*extract, "--calls", 1)
    assert "8 are finished in" in err
    assert len(server.requests) == 9
    found = json.loads(run("ask", tmp_path / "d", "whom met x9", "--json")[0])
    assert found["answer"]["entities"] == ["y9"]


@pytest.mark.needs("llm")
def test_what_fails_is_not_indexed_unasked(server, docs, tmp_path, monkeypatch):
    extract = ("index", docs, "-o", tmp_path / "d", "--llm", server.url, "--model", "m")
    extract += ("--calls", 1, "--concurrency", 1)
    server.key = "secret"
    _, err = run(*extract, code=1)
    assert "the extraction failed for every passage, first" in err
    assert "401" in err
    server.key = None
    server.script = [status(403)]
    _, err = run(*extract, code=1)
    assert "failed for 1 of 8 passages, first 'below/0.txt'" in err
    assert "the same command asks for them again" in err
    assert not (tmp_path / "d" / "meta.json").exists()
    server.script = [status(403)]
    out, err = run(*extract, "--skip-bad")
    assert "8 passages (1 without triples), 7 triples" in out
    assert "indexed without triples: 1 passages, first 'below/0.txt'" in err
    _, err = run("index", docs, "-o", tmp_path / "e", "--extract", code=1)
    assert "no language model is configured" in err
    monkeypatch.setenv("HYPERHOP_LLM_URL", server.url)
    out, _ = run("index", docs, "-o", tmp_path / "e", "--extract", "--calls", 1)
    assert "8 triples" in out


@pytest.mark.needs("llm")
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_extraction_goes_on(server, docs, tmp_path, by):
    gate = threading.Event()

    def later(messages):
        reply = answer(messages)
        if "x4" in reply:
            gate.wait(60)
        return reply

    server.answer = later
    options = ["--llm", server.url, "--model", "m", "--calls", "1", "--concurrency", "1"]
    arguments = ["index", str(docs), "-o", str(tmp_path / "d"), *options]
    with subprocess.Popen(
        [sys.executable, "-m", "hyperhop", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        until = time.monotonic() + 120
        while len(server.requests) < 5:
            assert time.monotonic() < until
            time.sleep(0.02)
        # A second process must wait: the records have one writer.
        _, err = run(*arguments, code=1)
        assert "another run is extracting into" in err
        process.send_signal(by)
        err = process.stderr.read()
    gate.set()
    if by is signal.SIGINT:
        assert process.returncode == 130
        assert f"4 of 8 passages are finished and recorded in {tmp_path / 'd'}" in err
        assert err.splitlines()[-1] == "hyperhop: interrupted"
    server.requests.clear()
    out, err = run(*arguments)
    assert "4 are finished in" in err
    assert "8 triples" in out
    assert len(server.requests) == 4


# --- info --------------------------------------------------------------------------------------


def test_info_describes_documents(islands, tmp_path):
    out, _ = run("info", islands, "--relations", 2)
    assert "12 (0 without triples)" in out
    assert re.search(r"most used relations \(2 of 33\) +triples", out)
    assert max(map(len, out.splitlines())) <= 80
    found = json.loads(run("info", islands, "--json", "--verify")[0])
    assert (found["kind"], found["passages"], found["triples"]) == ("help", 12, 35)
    assert found["verified"]
    assert found["top_entities"][0] == {"name": "Marrow", "triples": 5}
    assert found["triples_of_a_passage"] == [3, 3, 3, 3]
    assert found["disk_bytes"]["vectors"] > 4 * 512 * (12 + 35)


def test_info_finds_damage(tmp_path):
    run("index", DEMO, "-o", tmp_path / "d")
    (victim,) = (tmp_path / "d").glob("passage_texts.*.npy")
    data = bytearray(victim.read_bytes())
    data[-1] ^= 1
    victim.write_bytes(data)
    run("info", tmp_path / "d")
    assert victim.name in fails(1, "info", tmp_path / "d", "--verify")
    victim.write_bytes(data[:-1])
    assert victim.name in fails(1, "ask", tmp_path / "d", QUESTION)


def test_the_demo_passages_are_what_index_reads():
    passages, extraction = demo_passages()
    assert list(passages) == read_passages(DEMO)
    assert all(one.status == "parsed" for one in extraction.passages)
    ids = {passage.id for passage in passages}
    for question in passage_questions():
        assert question.passages <= ids
        assert len(question.passages) == 2
        assert question.answer.casefold() not in question.question.casefold()


def test_the_demo_shows_what_its_documents_answer(tmp_path, capsys):
    question = show_documents(tmp_path / "d")
    out = capsys.readouterr().out
    table = [line for line in out.splitlines() if line.startswith(" ")]
    assert 0 < max(map(len, table)) <= 80
    assert "4 of 4 answers are what the passages say" in out
    assert "hold all that it takes for 4 of 4" in out
    text = " ".join(out.split())
    assert "Orrell - was born in the village of - Marrow" in text
    assert "The passages say" not in out
    answered, _ = run("ask", tmp_path / "d", question)
    assert answered.splitlines()[0] == "Marrow"
