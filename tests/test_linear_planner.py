"""The planner that is trained, and what it is made of."""

import random

import numpy as np
import pytest

from hyperhop.pathhd import Example, LinearPlanner, Planner
from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners.softmax import fit_softmax, probabilities
from hyperhop.pathhd.planners.wording import WordingFeatures
from hyperhop.paths import Paths
from hyperhop.text import HashingEncoder
from hyperhop.text.mention import find_mention

NAMES = ["born", "spouse", "unseen", "wrote"]
PATHS = [("born",), ("spouse",), ("spouse", "born"), ("unseen",), ("wrote",)]
CANDIDATES = Candidates(Paths.from_lists(PATHS, names=NAMES), NAMES)
WORDINGS = {
    ("born",): ["where was {} born", "in which town was {} born", "what is the birthplace of {}"],
    ("spouse",): ["whom did {} marry", "who is the wife of {}", "who was {} married to"],
    ("spouse", "born"): ["where was the wife of {} born", "in which town was {} 's wife born"],
    ("wrote",): ["what did {} write", "which books did {} write"],
}
EXAMPLES = [
    Example(text.format("Ann"), find_mention(text.format("Ann"), "Ann"), path)
    for path, texts in WORDINGS.items()
    for text in texts
]


@pytest.fixture(scope="module")
def planner():
    return LinearPlanner(HashingEncoder(), EXAMPLES)


def plan(planner, question, topic, candidates=CANDIDATES):
    return planner.plan(question, find_mention(question, topic), candidates)


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("in what town was Bob born", ("born",)),
        ("who is the wife of Bob", ("spouse",)),
        ("where was the wife of Bob born", ("spouse", "born")),
        ("what books did Bob write", ("wrote",)),
    ],
)
def test_it_learns_wordings(planner, question, path):
    assert isinstance(planner, Planner)
    plans = plan(planner, question, "Bob")
    assert sorted(plans.sequences.tolist()) == list(range(len(PATHS)))
    assert PATHS[plans.sequences[0]] == path


def test_weights_are_probabilities_of_the_paths_that_are_known(planner):
    plans = plan(planner, "whom did Bob marry", "Bob")
    weights = dict(zip(plans.sequences.tolist(), plans.weights.tolist(), strict=True))
    assert sum(weights.values()) == pytest.approx(1, abs=1e-5)
    assert weights[PATHS.index(("unseen",))] == 0


def test_what_is_no_candidate_keeps_its_probability(planner):
    some = Candidates(Paths.from_lists([("spouse",), ("unseen",)], names=NAMES), NAMES)
    sure = plan(planner, "whom did Bob marry", "Bob", some).weights
    unsure = plan(planner, "where was Bob born", "Bob", some).weights
    assert sure[0] > 2 * unsure[0] > 0
    none = Candidates(Paths.from_lists([("unseen",)], names=NAMES), NAMES)
    assert plan(planner, "where was Bob born", "Bob", none).weights.tolist() == [0]
    empty = Candidates(Paths.from_lists([], names=NAMES), NAMES)
    assert len(plan(planner, "where was Bob born", "Bob", empty)) == 0


def test_the_order_of_examples_and_repeats_change_nothing(planner):
    shuffled = EXAMPLES * 2
    random.Random(3).shuffle(shuffled)
    again = LinearPlanner(HashingEncoder(), shuffled)
    for question in ("who is Bob", "", "where was Bob born", "ボブ"):
        one, other = plan(planner, question, "Bob"), plan(again, question, "Bob")
        assert np.array_equal(one.sequences, other.sequences)
        assert np.array_equal(one.weights, other.weights)


def test_without_examples_nothing_is_planned():
    plans = plan(LinearPlanner(HashingEncoder(), []), "where was Bob born", "Bob")
    assert plans.sequences.tolist() == list(range(len(PATHS)))  # by name
    assert not plans.weights.any()


def test_penalty_must_be_positive():
    with pytest.raises(ValueError, match="penalty must be positive, got 0"):
        LinearPlanner(HashingEncoder(), EXAMPLES, penalty=0)


def test_one_of_several_right_classes_takes_all():
    """Class 2 comes with 0 or 1 at random: the others tell that it is the one to plan."""
    rng = np.random.default_rng(0)
    targets = np.zeros((400, 3), np.float32)
    targets[np.arange(400), rng.integers(0, 2, 400)] = 1
    targets[:, 2] = 1
    inputs = rng.standard_normal((400, 4)).astype(np.float32)
    weights = fit_softmax(inputs, targets, penalty=1e-3, epochs=30, rate=0.1)
    scores = np.hstack([inputs, np.ones((400, 1), np.float32)]) @ weights
    assert probabilities(scores)[:, 2].min() > 0.9


class Tokens:
    """An encoder whose token states are its words' vectors."""

    def __init__(self):
        self._inner = HashingEncoder()
        self.name, self.dim = "tokens", self._inner.dim

    def encode(self, texts):
        return self._inner.encode(texts)

    def encode_tokens(self, texts):
        words = [text.split() for text in texts]
        offsets = np.cumsum([0, *map(len, words)]).astype(np.int64)
        return self.encode([word for listed in words for word in listed]), offsets


@pytest.mark.parametrize("encoder", [HashingEncoder(), Tokens()], ids=["plain", "tokens"])
def test_rows_of_wordings_do_not_depend_on_each_other(encoder):
    texts = [text.format("_") for texts in WORDINGS.values() for text in texts]
    wording = WordingFeatures(encoder, texts)
    asked = [*texts, "", "_", "something else"]
    rows = wording(asked)
    assert rows.shape == (len(asked), wording.dim)
    assert rows.dtype == np.float32
    for text, row in zip(asked, rows, strict=True):
        np.testing.assert_allclose(wording([text])[0], row, atol=1e-5)
    # ten points in any space keep their distances in nine dimensions
    distances = np.linalg.norm(rows[:10, None] - rows[None, :10], axis=-1)
    assert distances[~np.eye(10, dtype=bool)].min() > 0.1
