"""``hyperhop train rsf`` and ``hyperhop eval --system rsf``, on a small family."""

import json
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from hyperhop.cli import app
from hyperhop.evaluate.trained import read_examples
from hyperhop.evaluate.trained.results import Results
from hyperhop.evaluate.trained.sets import hold_out
from hyperhop.graph import MalformedLine
from hyperhop.rsf.training import Example, checkpoint, curve, toml

SMALL = ["--with", "question=pooled", "--with", "hidden=16", "--with", "batch_size=8"]
SMALL += ["--with", "learning_rate=0.02", "--epochs", "3"]


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def family(tmp_path_factory):
    """A graph directory, questions on it, and a made-up PQ-2H of the same."""
    folder = tmp_path_factory.mktemp("family")
    facts, asked, lines = [], [], []
    for i in range(30):
        me, boss, city = f"p{i}", f"b{i}", f"c{i % 7}"
        facts += [(me, "boss", boss), (me, "friend", f"f{i}"), (boss, "city", city)]
        facts += [(f"f{i}", "city", f"h{i % 5}")]
        asked.append({"question": f"who is the boss of {me}", "topic": me, "answers": [boss]})
        for path, ends in (("boss", city), ("friend", f"h{i % 5}")):
            middle = boss if path == "boss" else f"f{i}"
            text = f"what is the city of the {path} of {me}"
            asked.append({"question": text, "topic": [me], "answers": [ends]})
            gold = f"{me}#{path}#{middle}#city#{ends}"
            lines.append(f"{text} ?\t{ends}({ends}/)\t{gold}")
    for name in ("facts.tsv", "2H-kb.txt"):
        (folder / name).write_text("".join("\t".join(f) + "\n" for f in facts), "utf-8")
    (folder / "PQ-2H.txt").write_text("\n".join(lines) + "\n", "utf-8")
    text = "\n".join(map(json.dumps, asked))
    (folder / "questions.jsonl").write_text(f"{text}\n", "utf-8")
    run("index", folder / "facts.tsv", "-o", folder / "graph", "--encoder", "hashing:64")
    return folder


@pytest.fixture(scope="module")
def model(family):
    pytest.importorskip("torch")
    output = family / "model"
    result = run("train", "rsf", family / "graph", family / "questions.jsonl", "-o", output, *SMALL)
    return output, result


def test_questions_are_read_line_by_line(tmp_path):
    file = tmp_path / "q.jsonl"
    file.write_text('{"question": "q", "topic": ["a", "b"], "answers": ["y", "x"]}\n', "utf-8")
    assert read_examples(file) == [Example("q", ("a", "b"), ("x", "y"))]
    for line, expected in (
        ('{"question": "q", "answers": []}', "'topic' to be a name or a list"),
        ('{"question": "q", "topic": [], "answers": []}', "'topic' to be a name or a list"),
        ('{"question": "q", "topic": "a", "answers": "x"}', "'answers' to be a list"),
        ("[1]", "a JSON object"),
    ):
        file.write_text(f"\n{line}\n", "utf-8")
        with pytest.raises(MalformedLine, match=f"line 2.*{expected}"):
            read_examples(file)
    file.write_text("\n")
    with pytest.raises(ValueError, match="holds no questions"):
        read_examples(file)


def test_a_tenth_of_the_topics_is_held_out():
    examples = [Example.of(f"{i} of {t}", f"t{t:02}", ["x"]) for t in range(20) for i in range(3)]
    training, dev = hold_out(examples)
    assert {one.topics for one in dev} == {("t00",), ("t10",)}
    assert sorted([*training, *dev], key=str) == sorted(examples, key=str)
    assert hold_out(examples[:3]) == (examples[:3], [])


def test_results_of_another_run_are_refused(tmp_path):
    results = Results(tmp_path, {"seed": 1, "tuple": (1, 2)})
    results.add("a", {"hits": 0.1 + 0.2})
    again = Results(tmp_path, {"seed": 1, "tuple": (1, 2)})
    assert "a" in again
    assert again.parts == {"a": {"hits": 0.1 + 0.2}}
    with pytest.raises(ValueError, match="is of a run with seed 1, got 2"):
        Results(tmp_path, {"seed": 2, "tuple": (1, 2)})
    (tmp_path / "result.json").write_text("{}")
    with pytest.raises(ValueError, match="is not the result of a run of hyperhop"):
        Results(tmp_path, {})


@pytest.mark.needs("torch")
def test_train_makes_a_model_that_answers(family, model):
    output, result = model
    assert "questions to train on" in result.stderr
    assert "epoch 3/3, loss" in result.stderr
    assert "graphs/s" in result.stderr
    assert f"hyperhop ask {output}" in result.stdout
    assert len(curve.read_csv(output / curve.FILE)) == 3
    tables = toml.read_toml(output / "config.toml")
    assert tables["model"]["hidden"] == 16
    assert tables["training"]["learning_rate"] == 0.02
    assert tables["encoder"] == {"name": "hashing:64", "query_prompt": ""}
    assert not (output / "checkpoint").exists()
    question = "what is the city of the boss of p3"
    answer = run("ask", output, question, "--system", "rsf", "--json").stdout
    assert json.loads(answer)["answer"]["entities"][0] == "c3"


@pytest.mark.needs("torch")
def test_the_settings_of_a_model_train_another(family, model, tmp_path):
    output, _ = model
    again = ["train", "rsf", family / "graph", family / "questions.jsonl", "-o", tmp_path / "m"]
    run(*again, "--config", output / "config.toml")
    one, other = (curve.read_csv(folder / curve.FILE) for folder in (output, tmp_path / "m"))
    assert [epoch.loss for epoch in one] == [epoch.loss for epoch in other]
    assert toml.read_toml(output / "config.toml") == toml.read_toml(tmp_path / "m" / "config.toml")


@pytest.mark.needs("torch")
def test_the_radius_follows_the_hops(family, tmp_path):
    graph, questions, output = family / "graph", family / "questions.jsonl", tmp_path / "model"
    run("train", "rsf", graph, questions, "-o", output, *SMALL, "--with", "hops=3")
    assert toml.read_toml(output / "config.toml")["training"]["radius"] == 3
    short = [*SMALL, "--with", "radius=1", "--with", "layout=lanes"]
    done = run("train", "rsf", graph, questions, "-o", tmp_path / "other", *short, code=1)
    assert "radius must be at least hops = 2, got 1" in done.output


@pytest.mark.needs("torch")
def test_one_question_leaves_nothing_to_stop_by(family, tmp_path):
    one = tmp_path / "one.jsonl"
    one.write_text((family / "questions.jsonl").read_text("utf-8").split("\n")[0], "utf-8")
    output = tmp_path / "model"
    done = run("train", "rsf", family / "graph", one, "-o", output, *SMALL)
    assert "1 questions to train on, 0 to stop by" in done.output
    assert [epoch.epoch for epoch in curve.read_csv(output / curve.FILE)] == [1, 2, 3]
    again = run("train", "rsf", family / "graph", one, "-o", output, *SMALL, "--resume", code=1)
    assert "holds a finished model" in again.output


@pytest.mark.needs("torch")
def test_one_training_a_directory(family, tmp_path):
    command = ["train", "rsf", family / "graph", family / "questions.jsonl", *SMALL]
    with checkpoint.locked(tmp_path / "model"):
        done = run(*command, "-o", tmp_path / "model", code=1)
    assert "another process is training in it" in done.output
    done = run(*command, "-o", family / "graph", code=1)  # told before anything is trained
    assert "kind 'graph'" in done.output
    assert not (family / "graph" / "training.csv").exists()


@pytest.mark.needs("torch")
def test_a_model_may_take_another_encoder_than_its_graph(family, tmp_path):
    graph, questions, output = family / "graph", family / "questions.jsonl", tmp_path / "model"
    run("train", "rsf", graph, questions, "-o", output, *SMALL, "--encoder", "hashing:32")
    assert "hashing:32" in (output / "config.toml").read_text("utf-8")
    found = json.loads(run("ask", output, "who is the boss of p1", "--json").stdout)
    assert found["answer"]["entities"]
    assert "hashing:64" in json.loads((graph / "meta.json").read_text("utf-8"))["settings"].values()


@pytest.mark.needs("torch")
def test_the_encoder_of_the_settings_is_taken(family, tmp_path):
    graph, questions, config = family / "graph", family / "questions.jsonl", tmp_path / "c.toml"
    config.write_text('[encoder]\nname = "hashing:32"\n', "utf-8")
    command = ["train", "rsf", graph, questions, *SMALL, "--config", config]
    run(*command, "-o", tmp_path / "m")
    tables = toml.read_toml(tmp_path / "m" / "config.toml")
    assert tables["encoder"] == {"name": "hashing:32", "query_prompt": ""}
    refused = run(*command, "-o", tmp_path / "n", "--encoder", "hashing:64", code=1)
    assert "is for the encoder 'hashing:32', got --encoder hashing:64: leave one" in refused.stderr
    study = ["eval", "PQ-2H", "--study", "gate", "--data", family, "--config", config, *SMALL[:4]]
    run(*study, "--with", "epochs=1", "--json", tmp_path / "gate.json")
    assert json.loads((tmp_path / "gate.json").read_text("utf-8"))["encoder"] == "hashing:32"
    config.write_text('[encoder]\nname = "hashing:32"\ndim = 3\n', "utf-8")
    refused = run(*command, "-o", tmp_path / "n", code=1)
    assert "[encoder] must have a name and may have a query_prompt, both text" in refused.stderr


@pytest.mark.needs("torch")
def test_questions_that_teach_nothing_are_counted(family, tmp_path):
    file = tmp_path / "more.jsonl"
    strange = {"question": "who is the aunt of p1", "topic": "p1", "answers": ["nobody"]}
    text = (family / "questions.jsonl").read_text("utf-8")
    file.write_text(f"{text}{json.dumps(strange)}\n", "utf-8")
    done = run("train", "rsf", family / "graph", file, "-o", tmp_path / "m", *SMALL)
    assert "(1 not learned from: no answer in reach), " in done.stderr


@pytest.mark.needs("torch")
def test_ctrl_c_leaves_a_checkpoint_that_goes_on(family, tmp_path):
    command = [sys.executable, "-m", "hyperhop", "train", "rsf", family / "graph"]
    command += [family / "questions.jsonl", "-o", tmp_path / "m", *SMALL[:-1], "60"]
    process = subprocess.Popen([*map(str, command)], stderr=subprocess.PIPE, text=True)
    said = process.stderr.readline()  # how many questions there are
    said += process.stderr.readline()  # the first epoch
    process.send_signal(signal.SIGINT)
    said += process.communicate()[1]
    assert process.returncode == 130, said
    assert "give the same command with --resume" in said
    assert (tmp_path / "m" / "checkpoint" / "meta.json").exists()
    refused = run(*command[3:], code=1)
    assert "holds a training that is not finished: go on with it by --resume" in refused.stderr
    run(*command[3:], "--resume")
    assert len(curve.read_csv(tmp_path / "m" / curve.FILE)) == 60


@pytest.mark.needs("torch")
def test_a_trained_model_is_measured_like_any_system(family, tmp_path):
    command = ["train", "rsf", "pathquestion", "--set", "PQ-2H", "--data", family]
    run(*command, "--encoder", "hashing:64", "-o", tmp_path / "m", *SMALL)
    files = [tmp_path / name for name in ("r.json", "records.jsonl")]
    asked = ["eval", "PQ-2H", "--system", "rsf", "--model", tmp_path / "m", "--data", family]
    result = run(*asked, "--json", files[0], "--records", files[1])
    found = json.loads(files[0].read_text("utf-8"))
    assert found["n"] == len(files[1].read_text("utf-8").splitlines()) > 0
    assert found["hits_at_1"] >= 0.5
    assert "hits@1" in result.stdout
    assert found["settings"]["planner"] == "rsf"


@pytest.mark.needs("torch")
def test_seeds_are_trained_and_kept(family, tmp_path):
    command = ["eval", "PQ-2H", "--system", "rsf", "--data", family, "--encoder", "hashing:64"]
    command += ["--train-seeds", "0,1", "--work", tmp_path / "w", "--json", tmp_path / "r.json"]
    changes = [value for value in SMALL[:-2] if value != "--with"]
    command += [part for value in [*changes, "epochs=2"] for part in ("--with", value)]
    first = run(*command)
    rows = json.loads((tmp_path / "r.json").read_text("utf-8"))["rows"]
    assert [row["seed"] for row in rows] == ["0", "1", "mean"]
    assert rows[2]["hits_at_1"] == pytest.approx((rows[0]["hits_at_1"] + rows[1]["hits_at_1"]) / 2)
    kept = json.loads((tmp_path / "w" / "seeds" / "result.json").read_text("utf-8"))
    for seed in (0, 1):  # the flow in lanes and the saved model, asked one by one, agree
        part = kept["parts"][f"seed {seed}"]
        assert part["hits_at_1"] == pytest.approx(part["scores"]["PQ-2H"]["hits_at_1"], abs=0.1)
        assert (tmp_path / "w" / "seeds" / f"seed-{seed}" / "config.toml").exists()
    begin = time.perf_counter()
    second = run(*command)
    assert time.perf_counter() - begin < 30
    assert second.stdout == first.stdout
    assert "epoch" not in second.stderr  # all was found
    refused = run(*command, "--limit", "3", code=1)
    assert "is of a run with limit None, got 3: choose another folder" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "rsf", "pathquestion"], "pathquestion needs --set, one of PQ-2H"),
        (["train", "rsf", "PQ-2H", "--set", "PQ-3H"], "--set belongs to pathquestion and metaqa"),
        (["train", "rsf", "g", "q.jsonl", "--split", "random"], "belong to benchmarks"),
        (["train", "rsf", "PQ-2H", "--dev", "d.jsonl"], "--dev belongs to a file of questions"),
        (["eval", "PQ-2H", "--system", "rsf", "--planner", "gold"], "has no use for --planner"),
        (["eval", "PQ-2H", "--study", "gate", "--planner", "gold"], "has no use for --planner"),
        (["eval", "PQ-2H", "--work", "w"], "a run has no use for --work"),
        (["eval", "PQ-2H", "--system", "rsf", "--train-seeds", "1,1"], "takes different numbers"),
        (["eval", "PQ-2H", "--system", "rsf", "--with", "x=1"], "--with takes NAME=VALUE"),
        (["eval", "PQ-2H", "--system", "rsf", "--with", "gate=1"], "takes true or false, got '1'"),
    ],
)
def test_wrong_usage_is_told(family, arguments, message):
    if arguments[0] == "eval" or "q.jsonl" not in arguments:
        arguments = [*arguments, "--data", str(family)]
    result = run(*arguments, code=2)
    assert message in " ".join(result.stderr.replace("│", " ").split())


def test_help_teaches():
    text = run("train", "rsf", "--help").stdout
    for part in ('{"question": ', "--resume", "--with", "hyperhop train rsf metaqa", "lambda_1"):
        assert part in text
