"""MetaQA: its files, and questions answered from the memory of others."""

import gzip
import os
from pathlib import Path

import pytest

from hyperhop import KnowledgeGraph
from hyperhop.evaluate import evaluate, metaqa


def folder():
    return Path(os.environ["HYPERHOP_DATA"]) / "metaqa"


def write(path, question, kind, packed):
    for name, line in (("1hop_qa_dev.txt", question), ("1hop_qa_dev_qtype.txt", kind)):
        data = f"{line}\n\n".encode()
        if packed:
            (path / f"{name}.gz").write_bytes(gzip.compress(data))
        else:
            (path / name).write_bytes(data)


@pytest.mark.parametrize("packed", [False, True])
def test_a_question_is_read(tmp_path, packed):
    write(tmp_path, "what did [Ann, Jr.] act in\tFilm A|Film B", "actor_to_movie", packed)
    (found,) = metaqa.load(1, "dev", tmp_path)
    assert found.question == "what did Ann, Jr. act in"
    assert found.question[slice(*found.mention)] == found.topic == "Ann, Jr."
    assert found.answers == {"Film A", "Film B"}
    assert found.relations == ("^starred_actors",)


@pytest.mark.parametrize(
    ("question", "kind", "message"),
    [
        ("who made Film A\tAnn", "movie_to_director", r"question 1: expected a \[topic\]"),
        ("who made [Film A]", "movie_to_director", r"question 1: expected a \[topic\]"),
        ("who made [Film A]\tAnn", "movie_to_boss", "unknown question type 'movie_to_boss'"),
        ("who made [Film A]\tAnn", "actor_to_writer", "unknown question type"),
    ],
)
def test_another_form_is_refused(tmp_path, question, kind, message):
    write(tmp_path, question, kind, False)
    with pytest.raises(ValueError, match=message):
        metaqa.load(1, "dev", tmp_path)


@pytest.mark.parametrize(("hops", "part"), [(4, "dev"), (1, "train")])
def test_there_are_three_sets_of_two_parts(tmp_path, hops, part):
    with pytest.raises(ValueError, match="MetaQA has 1 to 3 hops and dev or test"):
        metaqa.load(hops, part, tmp_path)
    with pytest.raises(FileNotFoundError):
        metaqa.load(1, "dev", tmp_path)


def test_a_fact_has_three_fields(tmp_path):
    (tmp_path / "kb.txt").write_text("a|r|b\na|r\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 2: expected head"):
        list(metaqa.facts(tmp_path))


@pytest.mark.needs("data")
@pytest.mark.parametrize(
    ("hops", "part", "count", "kinds"),
    [
        (1, "dev", 9_992, 13),
        (2, "dev", 14_872, 21),
        (3, "dev", 14_274, 15),
        (1, "test", 9_947, 11),
        (2, "test", 14_872, 21),
        (3, "test", 14_274, 15),
    ],
)
def test_sets_are_complete(hops, part, count, kinds):
    questions = metaqa.load(hops, part, folder())
    assert len(questions) == count
    assert len({question.relations for question in questions}) == kinds
    assert all(q.question[slice(*q.mention)] == q.topic for q in questions)


@pytest.mark.needs("data", "text")
@pytest.mark.parametrize(("hops", "floor"), [(1, 0.93), (2, 0.99), (3, 0.99)])
def test_remembered_questions_answer_others(hops, floor):
    """Dev against dev: nine tenths are remembered, some of the last tenth asked."""
    scores = evaluate(f"MetaQA-{hops}", folder(), limit=200, planner="memory", encoder="wordllama")
    assert scores.hits_at_1 >= floor
    assert scores.path_hit_at_1 == 1


@pytest.mark.needs("data")
def test_the_graph_is_whole():
    kg = KnowledgeGraph.from_triples(metaqa.facts(folder()))
    assert (kg.num_entities, kg.num_relations, kg.num_triples) == (43_234, 9, 133_582)
