"""WebQSP relation paths: reading, candidates and ranking, on data made here."""

import gzip
import json

import pytest

from hyperhop.evaluate import rank_paths, webqsp
from hyperhop.graph import MalformedLine

ROLES = """\
people.person people.person.born location.place
people.person people.person.spouse people.person
location.place location.place.mayor people.person extra fields
book.book book.book.author people.person
other.thing other.thing.not_in_the_vocabulary people.person
"""
RELATIONS = "people.person.born people.person.spouse location.place.mayor book.book.author untyped"
BORN, SPOUSE, AUTHOR = ("people.person.born",), ("people.person.spouse",), ("book.book.author",)
LONG = ("people.person.spouse", "people.person.spouse", "people.person.born")


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def question(number, text, *paths):
    # what must not be read is here too
    return {"id": f"q{number}", "question": text, "ground_paths": paths, "prediction": [["no"]]}


@pytest.fixture
def folder(tmp_path):
    texts, schema = tmp_path / "webqsp_cwq_grailqa", tmp_path / "freebase_schema"
    texts.mkdir()
    schema.mkdir()
    (texts / "webqsp_relations_6102.txt").write_text(RELATIONS.replace(" ", "\n") + "\n")
    with gzip.open(schema / "fb_roles.gz", "wt", encoding="utf-8") as file:
        file.write(ROLES)
    train = [question(i, f"where was person {i} born", BORN) for i in range(10)]
    train += [question(10 + i, f"who is married to person {i}", SPOUSE, LONG) for i in range(10)]
    train.append(question(20, "what is it", []))
    (texts / "webqsp_rulepath_train.jsonl").write_text(lines(train))
    asked = [
        question(1, "where was bob born", BORN),
        question(2, "who is married to bob", SPOUSE),
        question(3, "who wrote the book", AUTHOR),
        question(4, "who", ["nowhere"]),
        question(5, "who is it", []),
        {"id": "q6", "question": "what", "ground_paths": []},
    ]
    with gzip.open(texts / "webqsp_rulepath_validation.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(lines(asked))
    return tmp_path


def test_questions_without_a_gold_path_are_left_out(folder):
    found = webqsp.load("validation", folder)
    assert found[0].paths == {BORN}
    # of one whose topic is the answer no path can be right, but it is asked
    assert [(q.text, len(q.paths)) for q in found[-2:]] == [("who", 1), ("who is it", 0)]
    assert len(found) == 5
    assert len(webqsp.load("train", folder)) == 21
    with pytest.raises(ValueError, match="one of train, validation, test, got 'dev'"):
        webqsp.load("dev", folder)
    with pytest.raises(FileNotFoundError):
        webqsp.load("test", folder)


def test_a_line_of_another_form_is_named(folder):
    path = folder / "webqsp_cwq_grailqa" / "webqsp_rulepath_train.jsonl"
    path.write_text(lines([question(1, "who", "born")]))
    with pytest.raises(MalformedLine, match=r"line 1.*ground_paths"):
        webqsp.load("train", folder)


def test_schema_paths_join_where_types_meet(folder):
    paths = webqsp.schema_paths(folder)
    assert {len(path) for path in paths} == {1, 2}
    assert {path for path in paths if len(path) == 1} == {(r,) for r in RELATIONS.split()}
    assert ("book.book.author", "people.person.born") in paths
    assert ("people.person.born", "book.book.author") in paths  # either direction
    assert ("people.person.born", "people.person.born") in paths
    # all four touch people.person, and nothing joins what has no type
    assert sum(len(path) == 2 for path in paths) == 16


def test_ranking_is_scored(folder):
    told = []
    scores = rank_paths(folder, planner="linear", progress=lambda *done: told.append(done))
    assert scores.n == 5
    assert scores.hit_at_1 == pytest.approx(2 / 5)
    assert scores.covered == pytest.approx(3 / 5)
    assert scores.candidates == 16 + 5 + 1
    assert scores.from_train == 3
    assert scores.interval_at_1[0] <= 0.4 <= scores.interval_at_1[1]
    assert scores.hit_at_3 >= scores.hit_at_1
    assert told[-1] == (5, 5)
    record = json.loads(json.dumps(scores.to_dict()))
    assert record["settings"] == {"planner": "linear", "encoder": "hashing", "limit": None}
    assert rank_paths(folder, planner="gold").hit_at_1 == scores.covered


def test_folds_hold_training_questions_out(folder):
    scores = [rank_paths(folder, "train", fold=fold, planner="memory+linear") for fold in range(5)]
    assert sum(s.n for s in scores) == 21
    assert all(s.hit_at_1 == s.covered for s in scores)
    assert rank_paths(folder, "train", fold=1, limit=2).n == 2
    for arguments in ({"part": "train"}, {"part": "validation", "fold": 0}):
        with pytest.raises(ValueError, match="'train' needs a fold"):
            rank_paths(folder, **arguments)
    with pytest.raises(ValueError, match=r"fold must be in 0\.\.4, got 5"):
        rank_paths(folder, "train", fold=5)
