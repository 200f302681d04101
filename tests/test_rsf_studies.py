"""The studies of the flow model, on a small family: resumable, and each row what it says."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperhop.cli import app
from hyperhop.evaluate import studies
from hyperhop.evaluate.trained.context import TrainedContext, Training
from hyperhop.rsf import RSFConfig
from hyperhop.rsf.cut import SHARES
from hyperhop.rsf.training import Example, Settings, TrainingConfig, TrainingStopped

pytestmark = pytest.mark.needs("torch")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A made-up PQ-2H: the city of the boss, or of the friend."""
    folder = tmp_path_factory.mktemp("family")
    facts, lines = [], []
    for i in range(20):
        me, boss, friend = f"p{i}", f"b{i}", f"f{i}"
        facts += [(me, "boss", boss), (me, "friend", friend)]
        facts += [(boss, "city", f"c{i % 7}"), (friend, "city", f"h{i % 5}")]
        for path, middle, end in (("boss", boss, f"c{i % 7}"), ("friend", friend, f"h{i % 5}")):
            gold = f"{me}#{path}#{middle}#city#{end}"
            lines.append(f"the city of the {path} of {me} ?\t{end}({end}/)\t{gold}")
    (folder / "2H-kb.txt").write_text("".join("\t".join(f) + "\n" for f in facts), "utf-8")
    (folder / "PQ-2H.txt").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


def settings(needs, questions):
    assert needs["hops"] == 2
    assert questions == 32
    return Settings(
        RSFConfig(hops=2, hidden=16),
        TrainingConfig(epochs=2, batch_size=8, learning_rate=0.02, radius=2),
    )


def context(data, **more):
    return TrainedContext("PQ-2H", data, settings=settings, encoder="hashing:64", **more)


def by_setting(study):
    return {row["setting"]: row for row in study.table.rows}


def test_switches(folder):
    study = studies.run_trained("switches", context(folder))
    rows = by_setting(study)
    assert list(rows) == [
        "full",
        *("without query update", "without content bias", "without dynamic gate"),
        *("without flow sparsity", "without node text", "without STAY"),
    ]  # "question tokens" needs an encoder that knows words one by one
    full = rows["full"]
    assert full["difference"] == 0
    assert rows["without content bias"]["parameters"] < full["parameters"]
    assert rows["without query update"]["parameters"] < full["parameters"]
    assert rows["without dynamic gate"]["gates"] == [1.0, 1.0]
    assert rows["without content bias"]["gates"] == [0.0, 0.0]
    for row in rows.values():
        assert 0 <= row["hits_at_1"] <= row["hits_at_5"] <= row["hits_at_10"] <= 1
        assert row["candidates"] >= 1
        assert row["answer_share"] in SHARES
        for name in ("precision", "recall", "f1"):
            assert 0 <= row["set_exact"] <= row[name] <= 1
        assert min(row["precision"], row["recall"]) <= row["f1"] + 1e-9
        assert row["epochs"] == 2
    assert study.about["settings"]["model"]["hidden"] == 16
    assert "seed 0" in study.table.title


def test_sets_of_answers_are_compared_with_all_gold_answers():
    """Three questions: right and one too many, one of two that the graph has, nothing."""
    asked = [Example.of("q", "t", answers) for answers in (["a"], ["b", "lost"], ["c"])]
    of = SimpleNamespace(asked=asked, unasked=1)
    found = SimpleNamespace(right=np.array([1, 1, 0]), answers=np.array([2, 1, 0]))
    values = Training(of, None, None, None, None)._sets(found)
    assert values["precision"] == pytest.approx((1 / 2 + 1) / 4)
    assert values["recall"] == pytest.approx((1 + 1 / 2) / 4)
    assert values["f1"] == pytest.approx((2 / 3 + 2 / 3) / 4)
    assert values["set_exact"] == 0


def test_a_heavier_entropy_leaves_fewer_candidates(folder):
    study = studies.run_trained("lambda1", context(folder))
    rows = study.table.rows
    assert [row["lambda_1"] for row in rows] == [0.0, 0.01, 0.05, 0.1, 0.2, 0.5]
    assert rows[-1]["on_the_way"] < rows[0]["on_the_way"]


def test_an_answer_out_of_the_radius_is_a_miss(folder):
    study = studies.run_trained("radius", context(folder))
    rows = study.table.rows
    assert [row["radius"] for row in rows] == [1, 2, 3]
    assert [row["in_reach"] for row in rows][1:] == [1.0, 1.0]
    assert rows[0]["hits_at_10"] == rows[0]["in_reach"] == 0
    assert "epochs" not in rows[0]
    assert rows[1]["hits_at_10"] > 0


def test_the_gate_by_hop(folder):
    rows = by_setting(studies.run_trained("gate", context(folder)))
    assert rows["lambda = 1"]["hop_1"] == rows["lambda = 1"]["hop_2"] == 1
    assert 0 < rows["with gate"]["hop_1"] < 1


def test_a_study_that_was_stopped_goes_on(folder, tmp_path):
    straight = studies.run_trained("gate", context(folder))
    told = []
    first = context(
        folder,
        folder=tmp_path,
        told=lambda label, step: told.append((label, step.epoch, step.batch)),
        stop=lambda: told[-1] == ("lambda = 1", 1, 2),
    )
    with pytest.raises(TrainingStopped):
        studies.run_trained("gate", first)
    kept = json.loads((tmp_path / "gate" / "result.json").read_text("utf-8"))
    assert list(kept["parts"]) == ["with gate"]
    told.clear()
    again = context(
        folder,
        folder=tmp_path,
        told=lambda label, step: told.append((label, step.epoch, step.batch)),
    )
    study = studies.run_trained("gate", again)
    assert told[0] == ("lambda = 1", 1, 3)
    for one, other in zip(study.table.rows, straight.table.rows, strict=True):
        for key in ("hits_at_1", "hits_at_10", "candidates", "hop_1", "hop_2"):
            assert one[key] == other[key], key


def test_each_study_has_its_own_context(folder):
    with pytest.raises(ValueError, match="operators needs another context"):
        studies.run_trained("operators", None)
    with pytest.raises(ValueError, match="gate needs another context"):
        studies.run("gate", None)


def test_a_study_from_the_command_line(folder, tmp_path):
    command = ["eval", "PQ-2H", "--study", "gate", "--data", folder, "--encoder", "hashing:64"]
    command += ["--json", tmp_path / "gate.json", "--limit", "4", "--train-limit", "8"]
    for value in ("question=pooled", "hidden=16", "epochs=1", "node_text=used"):
        command += ["--with", value]
    result = CliRunner().invoke(app, [*map(str, command)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert "The gate on PQ-2H dev" in result.stdout
    found = json.loads((tmp_path / "gate.json").read_text("utf-8"))
    assert [row["setting"] for row in found["rows"]] == ["with gate", "lambda = 1"]
    assert found["settings"]["model"]["attention"] == "cosine"
