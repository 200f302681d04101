"""PathQuestion itself: the data as published, and the accuracy without any training."""

import os
from pathlib import Path

import pytest

from hyperhop.evaluate import evaluate, pathquestion, splits

pytestmark = pytest.mark.needs("data")


def folder():
    return Path(os.environ["HYPERHOP_DATA"]) / "pathquestion"


@pytest.mark.parametrize(
    ("name", "questions", "pairs", "paths"),
    [
        ("PQ-2H", 1908, 611, 39),
        ("PQ-3H", 5198, 2312, 115),
        ("PQL-2H", 1594, 584, 238),
        ("PQL-3H", 1031, 954, 482),
        ("PQL-3H_more", 2062, 954, 482),
    ],
)
def test_sets_are_complete(name, questions, pairs, paths):
    data = pathquestion.load(name, folder())
    assert len(data.questions) == questions
    assert len({q.pair for q in data.questions}) == pairs
    assert len({q.relations for q in data.questions}) == paths
    assert all(q.entities[-1] in q.answers for q in data.questions)
    split = splits.disjoint_split([q.pair for q in data.questions])
    assert sorted(i for part in split for i in part) == list(range(questions))


@pytest.mark.parametrize(
    ("name", "floor"), [("PQ-2H", 0.805), ("PQ-3H", 0.727), ("PQL-2H", 0.891), ("PQL-3H", 0.913)]
)
@pytest.mark.needs("text")
def test_hits_without_training(name, floor):
    """Hop count unknown, `disjoint` test. The floors rank by cosine of question and path alone."""
    scores = evaluate(name, folder(), "test", encoder="wordllama", planner="embedding")
    assert scores.hits_at_1 >= floor, scores


@pytest.mark.parametrize(("name", "floor"), [("PQL-2H", 0.95), ("PQL-3H", 0.95)])
def test_questions_that_use_relation_names_need_no_encoder(name, floor):
    assert evaluate(name, folder(), "dev").hits_at_1 >= floor


@pytest.mark.parametrize(
    ("name", "floor"), [("PQ-2H", 0.95), ("PQ-3H", 0.95), ("PQL-2H", 0.97), ("PQL-3H", 0.96)]
)
@pytest.mark.needs("text")
def test_hits_with_training_questions_remembered(name, floor):
    scores = evaluate(name, folder(), encoder="wordllama", planner="embedding+2*memory")
    assert scores.hits_at_1 >= floor, scores
