"""Splits, metrics and the harness, on data made here."""

import json
import random

import pytest

from hyperhop.evaluate import evaluate_pathquestion, pathquestion
from hyperhop.evaluate.metrics import bootstrap_interval, f1, hits_at_1, set_exact
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


def test_metrics_are_exact():
    gold = {"Peru", "Chile"}
    assert hits_at_1(["Chile", "x"], gold)
    assert not hits_at_1(["x", "Chile"], gold)
    assert not hits_at_1(["chile"], gold)
    assert not hits_at_1([], gold)
    assert set_exact(["Peru", "Chile"], gold)
    assert not set_exact(["Peru"], gold)
    assert f1(["Peru", "x"], gold) == 0.5
    assert f1([], gold) == 0
    assert f1([], set()) == 1


def test_bootstrap_resamples_units():
    values = [1.0] * 50 + [0.0] * 50
    alone = bootstrap_interval(values, list(range(100)))
    together = bootstrap_interval(values, [i // 10 for i in range(100)])
    assert alone == bootstrap_interval(values, list(range(100)))
    assert alone[0] < 0.5 < alone[1]
    assert 0.15 < alone[1] - alone[0] < 0.25
    assert together[1] - together[0] > 2 * (alone[1] - alone[0])
    assert bootstrap_interval([1.0, 1.0], ["a", "b"]) == (1.0, 1.0)
    assert bootstrap_interval([], [])[0] != bootstrap_interval([], [])[0]  # nan
    with pytest.raises(ValueError, match="1 values, but 2 units"):
        bootstrap_interval([1.0], ["a", "b"])


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
    result = evaluate_pathquestion("PQ-2H", folder, split, "test", k=2)
    assert (result.n, result.pairs) == (1, 1)
    assert result.hits == result.set_exact == result.f1 == result.path_exact == 1
    assert result.interval == (1.0, 1.0)
    assert result.split == ("folds[0]" if split == "folds" else split)
    assert result.settings["planner"] == "lexical"
    assert result.settings["max_hops"] == 2
    assert result.settings["k"] == 2
    json.dumps(result.to_dict())


def test_harness_refuses(folder):
    with pytest.raises(ValueError, match="split must be random, disjoint or folds, got 'mine'"):
        evaluate_pathquestion("PQ-2H", folder, "mine")
    with pytest.raises(ValueError, match="part must be train, dev or test, got 'all'"):
        evaluate_pathquestion("PQ-2H", folder, part="all")
