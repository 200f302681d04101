"""Systems side by side on a made-up set with passages; HELP's tuning and its studies."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperhop.cli import app
from hyperhop.evaluate import compare, judge, passages, plots, read_records, studies, tables
from hyperhop.evaluate.passages import comparison
from hyperhop.evaluate.passages.tuning import folds, recalls
from hyperhop.evidence import Answer, Evidence, EvidencePassage
from hyperhop.llm import VectorReader
from passage_files import questions, write_musique

GRID = {"levels": (2, 1), "quota": (4, 0), "synonyms": (None, 0.6)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_musique(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def context(folder):
    return passages.PassageContext("musique", folder, encoder="hashing:64")


def evidence(context, *places):
    found = [context.set.passages[place] for place in places]
    return Evidence(passages=[EvidencePassage(p.id, p.text, 1.0, p.title) for p in found])


def test_metrics_of_passages(context):
    question = context.questions[0]  # gold 0 and 1
    values = judge(question, evidence(context, 1, 12, 3, 4, 5, 0))
    assert [values[f"recall@{k}"] for k in (2, 5, 10)] == [0.5, 0.5, 1]
    assert [values[f"all_passages@{k}"] for k in (2, 5, 10)] == [0, 0, 1]
    assert [values[f"passage_hit@{k}"] for k in (2, 5, 10)] == [1, 1, 1]
    assert [values[f"answer@{k}"] for k in (2, 5, 10)] == [0, 0, 1]
    assert "alias_exact_match" not in values  # nobody has read an answer
    read = judge(question, evidence(context, 0), Answer("Brook"))
    assert (read["exact_match"], read["alias_exact_match"]) == (0, 1)
    assert (read["token_f1"], read["alias_token_f1"]) == (pytest.approx(2 / 3), 1)
    unjudged = judge(replace(question, passages=frozenset()), evidence(context, 0))
    assert "recall@5" not in unjudged
    assert unjudged["answer@2"] == 1


def test_help_is_asked_like_any_system(context):
    run = passages.measure(context, "help", {"quota": 5}, reader=VectorReader())
    assert run.scores.benchmark == "MuSiQue-train-100"
    assert run.scores.n == 6
    assert run.scores.settings["quota"] == 5
    assert run.scores.settings["reader"] == "VectorReader"
    assert run.scores.metrics["recall@5"] >= 0.5
    record = run.records[0]
    assert len(record.passages) == 5
    assert record.gold_passages == ["0", "1"]
    assert record.encoder_calls == 0
    system = context.help(quota=5)
    found = system.retrieve(context.questions[0].text)
    assert [one.id for one in found.passages] == record.passages


def test_at_10_help_is_asked_for_10(context):
    options = {"quota": 2, "passages": 4}
    run = passages.measure(context, "help", options)
    system = context.help(quota=5, passages=10)
    for question, record in zip(context.questions, run.records, strict=True):
        assert len(record.passages) == 4
        wanted = judge(question, system.retrieve(question.text))
        assert record.values["recall@10"] == wanted["recall@10"]


def test_what_scoring_took_is_recorded(context):
    run = passages.measure(context, "help", {"scorer": "encoder"})
    assert run.scores.encoder_calls == sum(one.encoder_calls for one in run.records) > 0
    assert comparison.row(run)["encoder_calls"] == run.scores.encoder_calls / 6


def test_one_table_of_systems_with_paired_differences(context, tmp_path):
    runs = [passages.measure(context, name) for name in ("help", "dense")]
    table = passages.passages_table(runs)
    first, dense = table.rows
    gain = compare(runs[0].records, runs[1].records, "recall@5")
    assert first["gain"] == pytest.approx(100 * gain.mean)
    assert first["gain_interval"] == pytest.approx((100 * gain.low, 100 * gain.high))
    assert "gain" not in dense
    shown = tables.markdown(table)
    assert "| help |" in shown
    assert "| EM |" not in shown  # nobody read
    assert "quota in proportion" in table.notes[1]
    assert passages.passages_figure(runs).rows is not None
    json.dumps(comparison.to_dict(runs, context.about))


def test_only_what_has_triples_can_be_walked(folder, tmp_path):
    file = folder / "multihop_text_qa"
    file.mkdir(exist_ok=True)
    (file / "popqa_1000.json").write_text(json.dumps(questions()), "utf-8")
    context = passages.PassageContext("popqa", folder)
    assert context.systems == ("dense", "bm25")
    with pytest.raises(ValueError, match="help needs triples, and nobody extracted any"):
        context.system("help")
    with pytest.raises(ValueError, match="system must be"):
        context.system("rsf")
    run = passages.measure(context, "dense")
    assert "Nobody extracted triples" in run.scores.note
    with pytest.raises(ValueError, match="options of help are"):
        passages.PassageContext("popqa", folder, options={"beams": 3})


def test_folds_are_parts():
    parts = folds(13)
    assert sorted(place for part in parts for place in part) == list(range(13))
    assert {len(part) for part in parts} == {2, 3}
    assert folds(13) == parts != folds(13, seed=1)


def test_no_question_chooses_its_own_settings(context):
    done = []
    tuning = passages.tune(context, GRID, progress=lambda *told: done.append(told))
    assert done[-1] == (8, 8)
    points = [
        {"levels": levels, "quota": quota, "synonyms": synonyms}
        for levels in GRID["levels"]
        for quota in GRID["quota"]
        for synonyms in GRID["synonyms"]
    ]
    table = np.array([recalls(context, point) for point in points])
    for part, chosen in zip(folds(6), tuning.chosen, strict=True):
        rest = [place for place in range(6) if place not in part]
        means = table[:, rest].mean(axis=1)
        best = next(i for i, mean in enumerate(means) if mean >= means.max() - 1e-9)
        assert chosen["settings"] == points[best]
        assert chosen["tuned"] == pytest.approx(means[best])
        for place in part:
            record = tuning.run.records[place]
            assert record.id == context.questions[place].id
            assert record.values["recall@5"] == table[best, place]
    assert [row["fold"] for row in tuning.table.rows] == ["0", "1", "2", "3", "4", "all"]
    json.dumps(tuning.to_dict())


def test_a_killed_tuning_goes_on(context, tmp_path, monkeypatch):
    grid = {"quota": (4, 3, 0)}
    whole = passages.tune(context, grid)
    asked = []

    def counted(context, point):
        asked.append(point["quota"])
        if len(asked) == 2:
            raise KeyboardInterrupt
        return recalls(context, point)

    monkeypatch.setattr("hyperhop.evaluate.passages.tuning.recalls", counted)
    with pytest.raises(KeyboardInterrupt):
        passages.tune(context, grid, folder=tmp_path)
    again = passages.tune(context, grid, folder=tmp_path)
    assert asked == [4, 3, 3, 0]
    assert again.to_dict() == whole.to_dict()
    with pytest.raises(ValueError, match="is of a run with grid"):
        passages.tune(context, {"quota": (4, 3)}, folder=tmp_path)


def test_what_cannot_be_tuned(folder, context):
    few = passages.PassageContext("musique", folder, limit=4)
    with pytest.raises(ValueError, match="at least 5 questions, got 4"):
        passages.tune(few)
    blind = passages.PassageContext("musique", folder)
    blind.questions = [replace(one, passages=frozenset()) for one in blind.questions]
    with pytest.raises(ValueError, match="no gold passages"):
        passages.tune(blind)
    with pytest.raises(ValueError, match="no gold passages"):
        studies.run_on_passages("quota", blind)


@pytest.mark.parametrize(("name", "rows"), [("quota", 6), ("levels", 4), ("beam", 20)])
def test_studies_of_settings(folder, name, rows):
    options = {"named": 0.0}  # else M = 0 is more than dense retrieval
    context = passages.PassageContext("musique", folder, encoder="hashing:64", options=options)
    study = studies.run_on_passages(name, context)
    assert len(study.table.rows) == rows
    assert study.to_dict()["options"]["scorer"] == "composition"
    dense = passages.measure(context, "dense").scores.metrics["recall@5"]
    for row in study.table.rows:
        assert row["gain"] == pytest.approx(row["recall@5"] - 100 * dense)
    if name == "quota":
        assert study.table.rows[0]["recall@5"] == pytest.approx(100 * dense)  # M = 0 is dense
        assert [row["quota"] for row in study.table.rows] == list(range(6))
    assert tables.latex(study.table)
    json.dumps(study.to_dict())


@pytest.mark.needs("igraph", "bm25")
def test_speed_of_all_systems_and_scorers(context):
    study = studies.run_on_passages("speed", context)
    rows = {row["system"]: row for row in study.table.rows}
    assert set(rows) == {
        *("ppr", "dense", "bm25"),
        *(f"help, {scorer}" for scorer in ("composition", "encoder", "cascade")),
    }
    assert all(row["alone"] > 0 for row in rows.values())
    assert rows["help, composition"]["batched"] > 0
    assert rows["help, encoder"]["encoder_calls"] > 0
    assert rows["help, composition"]["encoder_calls"] is None


def command(*args):
    result = CliRunner().invoke(app, ["eval", *map(str, args)])
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.needs("igraph", "bm25")
def test_the_command_measures_all_that_can_run(folder, tmp_path):
    code, out, _ = command(
        *("musique", "--data", folder, "--encoder", "hashing:64", "--with", "quota=3"),
        *("--reader", "vector", "--json", tmp_path / "r.json", "--markdown", tmp_path / "r.md"),
        *("--records", tmp_path / "r.jsonl"),
    )
    assert code == 0
    assert all(name in out for name in ("help", "ppr", "dense", "bm25", "recall@5", "EM"))
    found = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert list(found["runs"]) == ["help", "ppr", "dense", "bm25"]
    assert found["runs"]["help"]["settings"]["quota"] == 3
    assert (tmp_path / "r.md").read_text("utf-8").startswith("**MuSiQue-train-100**")
    records = read_records(tmp_path / "r-ppr.jsonl")
    assert [one.id for one in records] == [one["id"] for one in questions()]


def test_the_command_tunes_and_studies(folder, tmp_path):
    code, out, _ = command(
        *("musique", "--data", folder, "--encoder", "hashing:64", "--tune", "--system", "help"),
        *("--system", "dense", "--json", tmp_path / "t.json"),
        *(f"--with={one}" for one in ("n=5", "k=50", "levels=2", "synonyms=0.7")),
    )
    assert code == 0
    assert "Settings of help" in out
    found = json.loads((tmp_path / "t.json").read_text("utf-8"))
    assert len(found["tuning"]["folds"]) == 5
    assert found["tuning"]["grid"]["synonyms"] == [0.7]
    code, out, _ = command(
        *("musique", "--data", folder, "--study", "levels", "--limit", 3, "--encoder"),
        *("hashing:64", "--json", tmp_path / "s.json"),
    )
    assert code == 0
    assert "Levels N on MuSiQue-train-100" in out
    assert json.loads((tmp_path / "s.json").read_text("utf-8"))["questions"] == 3


@pytest.mark.parametrize(
    ("args", "wrong"),
    [
        (["musique", "--system", "pathhd"], "over passages the systems are help, ppr"),
        (["musique", "--study", "operators"], "over passages the studies are quota"),
        (["musique", "--planner", "gold"], "no use for --planner"),
        (["musique", "--with", "beams=3"], "--with takes NAME=VALUE with one of"),
        (["musique", "--with", "quota=many"], "takes a whole number"),
        (["PQ-2H", "--system", "dense"], "over a graph give one --system"),
        (["PQ-2H", "--system", "pathhd", "--system", "rsf"], "over a graph give one --system"),
        (["PQ-2H", "--study", "quota"], "the study quota is over passages"),
    ],
)
def test_the_command_refuses_what_has_no_meaning(folder, args, wrong):
    code, _, err = command(*args, "--data", folder)
    assert code == 2
    assert wrong in " ".join(err.replace("│", " ").split())


def test_the_command_lists_the_sets(folder):
    code, out, _ = command("--list", "--data", folder)
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in out.splitlines()[1:]}
    assert code == 0
    assert rows["musique"] == "found"
    assert rows["hipporag2/nq"] == "not found"


@pytest.mark.needs("matplotlib")
def test_a_plot_of_systems(context, tmp_path):
    runs = [passages.measure(context, name) for name in ("help", "dense")]
    plots.draw(passages.passages_figure(runs), tmp_path / "systems.svg")
    assert "dense" in (tmp_path / "systems.svg").read_text("utf-8")


@pytest.mark.needs("data", "text", "bm25")
def test_musique_with_wordllama():
    """What was measured once: a floor that catches a broken system, not a goal."""
    context = passages.PassageContext("musique", os.environ["HYPERHOP_DATA"], encoder="wordllama")
    for name, least in (("dense", 46), ("bm25", 48), ("help", 53)):
        recall = 100 * passages.measure(context, name).scores.metrics["recall@5"]
        assert recall >= least, name
