"""Splits and the harness, on data made here."""

import json
import random
import re

import pytest
from typer.testing import CliRunner

from hyperhop import PathHD
from hyperhop.cli import app
from hyperhop.evaluate import benchmarks, evaluate, examples, make_planner, pathquestion
from hyperhop.evaluate.splits import disjoint_split, fold_split, random_split


def test_random_split_is_the_published_protocol():
    split = random_split(25)
    order = list(range(25))
    random.Random(0).shuffle(order)
    assert split.train == sorted(order[:20])
    assert split.dev == sorted(order[20:22])
    assert split.test == sorted(order[22:])


def test_disjoint_split_keeps_a_key_together():
    keys = [f"k{i % 30:02}" for i in range(90)]
    split = disjoint_split(keys)
    assert sorted(split.train + split.dev + split.test) == list(range(90))
    parts = [{keys[i] for i in part} for part in split]
    assert [len(part) for part in parts] == [24, 3, 3]
    assert sum(len(part) for part in parts) == len(set().union(*parts))
    assert disjoint_split(keys[::-1]).test == sorted(89 - i for i in split.test)
    assert disjoint_split(keys, seed=1) != split


def test_folds_test_every_question_once():
    keys = [f"k{i % 33}" for i in range(70)]
    tested = []
    for fold in range(10):
        split = fold_split(keys, fold)
        tested += split.test
        assert sorted(split.train + split.dev + split.test) == list(range(70))
        assert split.dev == fold_split(keys, (fold + 1) % 10).test
    assert sorted(tested) == list(range(70))
    with pytest.raises(ValueError, match=r"fold must be in 0\.\.9, got 10"):
        fold_split(keys, 10)


@pytest.fixture
def folder(tmp_path):
    """Ten people and a made-up PQ-2H; one name holds brackets and a slash."""
    people = [f"p{i}" for i in range(9)] + ["q(1)/r"]
    facts = [(p, "spouse", people[i - 1]) for i, p in enumerate(people)]
    facts += [(p, "gender", "male") for p in people]
    lines = [
        f"what is the spouse of {p} 's spouse ?\t{people[i - 2]}({people[i - 2]}/)\t"
        f"{p}#spouse#{people[i - 1]}#spouse#{people[i - 2]}#<end>#{people[i - 2]}"
        for i, p in enumerate(people)
    ]
    (tmp_path / "2H-kb.txt").write_text("".join("\t".join(f) + "\n" for f in facts), "utf-8")
    (tmp_path / "PQ-2H.txt").write_text("\n".join(lines) + "\n", "utf-8")
    return tmp_path


def test_loader(folder):
    data = pathquestion.load("PQ-2H", folder)
    assert (data.hops, len(data.questions)) == (2, 10)
    question = data.questions[1]
    assert question.answers == {"q(1)/r"}
    assert question.pair == ("p1", ("spouse", "spouse"))
    assert question.entities == ("p1", "p0", "q(1)/r")
    assert pathquestion.names() == ["PQ-2H", "PQ-3H", "PQL-2H", "PQL-3H", "PQL-3H_more"]


@pytest.mark.parametrize(
    "line", ["no tabs", "q\ta(a/)\ts#r#a", "q\tb(b/)\ts#r#e#r#a", "q\ta[a/]\ts#r#e#r#a"]
)
def test_loader_names_file_and_line(folder, line):
    with (folder / "PQ-2H.txt").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(ValueError, match=r"PQ-2H\.txt, line 11: expected"):
        pathquestion.load("PQ-2H", folder)


def test_loader_knows_its_sets(folder):
    with pytest.raises(ValueError, match=r"has the sets PQ-2H, .*; got 'PQ-4H'"):
        pathquestion.load("PQ-4H", folder)
    with pytest.raises(FileNotFoundError):
        pathquestion.load("PQ-3H", folder)


@pytest.mark.parametrize("split", ["random", "disjoint", "folds"])
def test_harness(folder, split):
    told = []
    scores = evaluate(
        "PQ-2H", folder, "test", split=split, k=2, progress=lambda *done: told.append(done)
    )
    assert (scores.n, scores.units) == (1, 1)
    assert scores.hits_at_1 == scores.hits_at_5 == scores.hits_at_10 == 1
    assert scores.set_exact == scores.f1 == scores.path_hit_at_1 == scores.path_hit_at_3 == 1
    assert scores.interval == (1.0, 1.0)
    assert scores.truncated == 0
    assert scores.split == ("folds[0]" if split == "folds" else split)
    assert scores.settings["planner"] == "lexical"
    assert scores.settings["max_hops"] == 2
    assert scores.settings["k"] == 2
    assert set(scores.milliseconds) >= {
        "link",
        "enumerate",
        "plan",
        "score",
        "expand",
        "total",
    }
    assert scores.peak_megabytes > 10
    assert told == [(1, 1)]
    json.dumps(scores.to_dict())


def test_scores_are_those_of_the_system(folder):
    data = benchmarks.load("PQ-2H", folder)
    assert [len(part) for part in (data.train, data.dev, data.test)] == [8, 1, 1]
    scores = evaluate("PQ-2H", folder, "train", max_hops=1)
    system = PathHD(data.graph, **{**data.options, "max_hops": 1})
    found = [system.answer(q.text, q.topic).entities for q in data.train]
    hits = [f[0] in q.answers for f, q in zip(found, data.train, strict=True)]
    assert scores.hits_at_1 == sum(hits) / 8
    assert scores.path_hit_at_1 == 0
    assert evaluate("PQ-2H", folder, "train", limit=3).n == 3


@pytest.mark.parametrize(
    ("planner", "name"),
    [
        ("memory", "memory"),
        ("associative", "associative"),
        ("gold", "gold"),
        ("lexical+2*memory", "1 lexical + 2 memory"),
        ("0.5*embedding + gold", "0.5 embedding + 1 gold"),
    ],
)
def test_planners_that_learn_from_questions(folder, planner, name):
    scores = evaluate("PQ-2H", folder, "test", planner=planner)
    assert scores.settings["planner"] == name
    assert scores.path_hit_at_1 == 1


def test_gold_knows_the_questions_it_was_given_alone(folder):
    data = benchmarks.load("PQ-2H", folder)
    gold = make_planner("gold", data.graph.symbols, None, data.train, data.test)
    system = PathHD(data.graph, planner=gold, max_hops=2, inverse=False)
    first, other = data.test[0], data.train[0]
    known = system.retrieve(first.text, first.topic).sequences
    assert (known[0].relations, known[0].plan) == (["spouse", "spouse"], 1)
    assert all(s.plan == 0 for s in system.retrieve(other.text, other.topic).sequences)
    assert examples(data.test)[0].relations == ("spouse", "spouse")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"split": "mine"}, "split must be random, disjoint or folds, got 'mine'"),
        ({"part": "all"}, "part must be train, dev, test, got 'all'"),
        (
            {"planner": "oracle"},
            "planner must be one of lexical, embedding, contextual, memory, .* 'oracle'",
        ),
        ({"planner": "lexical+"}, "planner must be one of"),
        ({"limit": 0}, "PQ-2H has no questions in dev"),
        (
            {"name": "PQ-9H"},
            "expected one of PQ-2H, .* GrailQA or a file ending in .jsonl or .json, got 'PQ-9H'",
        ),
        ({"name": "MetaQA-1", "split": "random"}, "MetaQA-1 has the split published alone"),
    ],
)
def test_harness_refuses(folder, arguments, message):
    with pytest.raises(ValueError, match=message):
        evaluate(**{"name": "PQ-2H", "data_dir": folder, **arguments})


def test_data_may_lie_in_a_folder_of_its_name(folder):
    inner = folder / "pathquestion"
    inner.mkdir()
    for name in ("2H-kb.txt", "PQ-2H.txt"):
        (folder / name).rename(inner / name)
    assert evaluate("PQ-2H", folder).n == 1


def test_eval_on_the_command_line(folder, monkeypatch, tmp_path):
    runner = CliRunner()
    monkeypatch.delenv("HYPERHOP_DATA", raising=False)
    missing = runner.invoke(app, ["eval", "PQ-2H"])
    assert missing.exit_code == 2
    assert "name the folder of the data" in missing.output
    monkeypatch.setenv("HYPERHOP_DATA", str(folder))
    written = tmp_path / "scores.json"
    ran = runner.invoke(app, ["eval", "PQ-2H", "--part", "train", "--json", str(written)])
    assert ran.exit_code == 0
    assert re.search(r"hits@1 +1\.000 \(1\.000 to 1\.000\)", ran.output)
    assert re.search(r"questions +8 about 8 facts", ran.output)
    assert json.loads(written.read_text("utf-8"))["hits_at_1"] == 1
    wrong = runner.invoke(app, ["eval", "PQ-9H"])
    assert wrong.exit_code == 1
    assert "expected one of PQ-2H" in wrong.output


@pytest.fixture
def refused(folder, monkeypatch):
    """The output of `eval` with these options, which it must refuse before it measures."""
    monkeypatch.setenv("HYPERHOP_DATA", str(folder))

    def run(*options):
        ran = CliRunner().invoke(app, ["eval", "PQ-2H", "--part", "train", *map(str, options)])
        assert ran.exit_code in (1, 2), ran.output
        assert "hits@1" not in ran.output
        return ran.output

    return run


def test_options_without_an_effect_are_refused(refused):
    assert "fold 3 needs split='folds'" in refused("--fold", 3)
    assert "must be a number from 0" in refused("--fold", -1)
    needs = "needs an encoder with encode_tokens, such as minilm, got 'hashing'"
    assert needs in refused("--planner", "contextual")


def test_files_that_cannot_be_written_are_refused(refused, tmp_path):
    assert "its folder does not exist" in refused("--json", tmp_path / "none" / "a.json")
    assert "is a folder, expected a file" in refused("--markdown", tmp_path)
    same = tmp_path / "a.json"
    assert "is named twice" in refused("--json", same, "--records", same)
    assert not same.exists()


def test_a_reader_that_is_named_is_asked(folder, monkeypatch):
    monkeypatch.setenv("HYPERHOP_DATA", str(folder))
    arguments = ["eval", "PQ-2H", "--part", "train", "--reader", "vector"]
    ran = CliRunner().invoke(app, arguments)
    assert ran.exit_code == 0, ran.output
    assert "VectorReader" in ran.output


def test_no_number_of_a_table_is_cut(folder, monkeypatch):
    monkeypatch.setenv("HYPERHOP_DATA", str(folder))
    arguments = ["eval", "PQ-2H", "--part", "train", "--planner", "lexical", "--planner", "gold"]
    ran = CliRunner().invoke(app, arguments, env={"COLUMNS": "30"})
    assert ran.exit_code == 0, ran.output
    assert "…" not in ran.output
    assert re.search(r"gold +1\.000 +1\.000 to 1\.000 +1\.000 +1\.000 +1\.000", ran.output)
