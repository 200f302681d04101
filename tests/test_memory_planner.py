"""Planners that remember questions, and planners together."""

import pickle
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperhop import KnowledgeGraph, PathHD, ghrr
from hyperhop.pathhd import (
    AssociativePlanner,
    Example,
    GoldPlanner,
    LexicalPlanner,
    MemoryPlanner,
    MixturePlanner,
    Planner,
)
from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners.features import masked
from hyperhop.paths import Paths
from hyperhop.text import HashingEncoder
from hyperhop.text.mention import find_mention

NAMES = ["father", "spouse", "born", "^father", "^spouse", "^born"]
PATHS = [
    ("father",),
    ("spouse",),
    ("father", "spouse"),
    ("spouse", "father"),
    ("father", "^father"),
    ("spouse", "born"),
]
MEMORIES = [MemoryPlanner, AssociativePlanner]
CANDIDATES = Candidates(Paths.from_lists(PATHS, names=NAMES), NAMES)


def example(question, topic, *relations):
    return Example(question, find_mention(question, topic), relations)


EXAMPLES = [
    example("who is the father of the spouse of Ann ?", "Ann", "spouse", "father"),
    example("who is the spouse of the father of Ann ?", "Ann", "father", "spouse"),
    example("whom did Bob marry ?", "Bob", "spouse"),
    example("who has the same father as Bob ?", "Bob", "father", "^father"),
    example("where was the wife of Bob born ?", "Bob", "spouse", "born"),
]


def best(planner, question, topic):
    plans = planner.plan(question, find_mention(question, topic), CANDIDATES)
    assert sorted(plans.sequences.tolist()) == list(range(len(PATHS)))
    assert np.all(np.diff(plans.weights) <= 0)
    return PATHS[plans.sequences[0]]


@pytest.mark.parametrize("planner", MEMORIES)
@pytest.mark.parametrize(
    ("question", "topic", "path"),
    [
        ("Who is the father of the spouse of Eve?", "Eve", ("spouse", "father")),
        ("Who is the spouse of the father of Eve?", "Eve", ("father", "spouse")),
        ("whom did Ann Lee marry", "Ann Lee", ("spouse",)),
        ("Where was the wife of the Duke of York born", "Duke of York", ("spouse", "born")),
    ],
)
def test_a_question_is_known_by_its_words_and_their_order(planner, question, topic, path):
    memory = planner(HashingEncoder(), EXAMPLES)
    assert isinstance(memory, Planner)
    assert best(memory, question, topic) == path


def test_an_equal_question_votes_with_one_and_its_paths_share_that():
    memory = MemoryPlanner(HashingEncoder())
    assert memory.votes("who is it", None) == {}
    memory.add([EXAMPLES[2], EXAMPLES[2], example("Whom did Eve marry?", "Eve", "^spouse")])
    assert len(memory) == 3
    votes = memory.votes("whom did X marry", (9, 10))
    assert votes == pytest.approx({("spouse",): 2 / 3, ("^spouse",): 1 / 3}, abs=1e-4)
    far = memory.votes("completely different words here", None)
    assert sum(far.values()) < 0.01


def test_a_path_that_is_no_candidate_is_not_planned():
    memory = MemoryPlanner(HashingEncoder(), [example("how old is Ann", "Ann", "age")])
    plans = memory.plan("how old is Bob", (11, 14), CANDIDATES)
    assert plans.weights.tolist() == [0.0] * len(PATHS)


@given(st.integers(0, 2**32))
def test_plans_do_not_depend_on_when_examples_came(seed):
    shuffled = EXAMPLES * 2
    random.Random(seed).shuffle(shuffled)
    extra = [example("who is the boss of Ann", "Ann", "born"), EXAMPLES[0]]
    one = MemoryPlanner(HashingEncoder(), EXAMPLES + EXAMPLES)
    other = MemoryPlanner(HashingEncoder(), [*extra, *shuffled[:4]])
    other.add(shuffled[4:])
    other.forget(extra)
    assert len(one) == len(other) == len(shuffled)
    for question in (e.question for e in EXAMPLES):
        assert one.votes(question, None) == other.votes(question, None)
        ours, theirs = (p.plan(question, None, CANDIDATES) for p in (one, other))
        assert ours.sequences.tolist() == theirs.sequences.tolist()
        assert ours.weights.tolist() == theirs.weights.tolist()


@pytest.mark.parametrize("planner", MEMORIES)
def test_only_what_is_remembered_can_be_forgotten(planner):
    memory = planner(HashingEncoder(), EXAMPLES)
    memory.forget(EXAMPLES[:1])
    with pytest.raises(LookupError, match=r"to forget: 'who is the .* with \['spouse', 'fat"):
        memory.forget(EXAMPLES[:1])
    with pytest.raises(LookupError, match="no such example"):
        memory.forget([EXAMPLES[1], EXAMPLES[1]])
    with pytest.raises(LookupError, match="no such example"):
        memory.forget([EXAMPLES[1], EXAMPLES[2]._replace(relations=["born"])])
    assert len(memory) == len(EXAMPLES) - 1
    memory.forget(EXAMPLES[1:])
    assert len(memory) == 0
    plans = memory.plan("whom did Bob marry", None, CANDIDATES)
    assert plans.weights.tolist() == [0.0] * len(PATHS)


@pytest.mark.parametrize("planner", MEMORIES)
def test_of_two_paths_the_more_frequent_is_planned(planner):
    often = example("whom did Ann marry", "Ann", "spouse")
    seldom = example("whom did Ann marry", "Ann", "father")
    memory = planner(HashingEncoder(), [often, often, seldom])
    assert best(memory, "whom did Eve marry", "Eve") == ("spouse",)
    memory.add([seldom, seldom])
    assert best(memory, "whom did Eve marry", "Eve") == ("father",)
    memory.forget([seldom] * 3)
    assert best(memory, "whom did Eve marry", "Eve") == ("spouse",)


def test_a_recall_of_an_equal_question_is_its_path():
    memory = AssociativePlanner(HashingEncoder(), EXAMPLES[:1], blocks=64, seed=3)
    recalled = memory.recall("Who is the father of the spouse of Eve", (35, 38))
    codebook = ghrr.Codebook(NAMES, 64, 4, seed=3)
    path = ghrr.encode_paths(codebook, Paths.from_lists([PATHS[3]], names=NAMES), planes=True)
    assert ghrr.similarity(recalled, path[0]) == pytest.approx(1, abs=1e-5)


def test_what_is_forgotten_leaves_nothing_behind():
    memory = AssociativePlanner(HashingEncoder(), EXAMPLES[:2])
    before = memory.recall("whom did Bob marry", None)
    memory.add(EXAMPLES * 3)
    memory.forget(EXAMPLES * 3)
    np.testing.assert_allclose(memory.recall("whom did Bob marry", None), before, atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"neighbours": 0}, "neighbours must be 1 or more, got 0"),
        ({"sharpness": -1.0}, "sharpness must be 0 or more, got -1.0"),
        ({"sharpness": float("nan")}, "sharpness must be 0 or more, got nan"),
        ({"order": 1.5}, r"order must be in \[0, 1\], got 1.5"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        MemoryPlanner(HashingEncoder(), **arguments)


def test_the_topic_is_left_out_wherever_it_stands():
    assert masked("Who wrote 'It'?", (11, 13)) == "who wrote _"
    assert masked("Is ANN the Boss", (3, 6)) == "is _ the boss"
    assert masked("Is ANN the Boss", None) == "is ann the boss"


def test_a_mixture_adds_what_its_planners_say():
    memory, lexical = MemoryPlanner(HashingEncoder(), EXAMPLES), LexicalPlanner(NAMES)
    mixture = MixturePlanner([(lexical, 1.0), (memory, 2.0)])
    assert mixture.name == "1 lexical + 2 memory"
    assert best(lexical, "whom did Eve marry", "Eve") != ("spouse",)
    assert best(mixture, "whom did Eve marry", "Eve") == ("spouse",)
    assert best(mixture, "Who is the spouse of Eve", "Eve") == ("spouse",)
    alone = MixturePlanner([(memory, 1.0)]).plan("whom did Eve marry", (9, 12), CANDIDATES)
    assert (
        alone.weights.tolist()
        == memory.plan("whom did Eve marry", (9, 12), CANDIDATES).weights.tolist()
    )


@pytest.mark.parametrize("weight", [-0.1, float("nan"), float("inf")])
def test_weights_of_a_mixture_are_checked(weight):
    with pytest.raises(ValueError, match="weight must be finite and 0 or more"):
        MixturePlanner([(LexicalPlanner(NAMES), weight)])
    with pytest.raises(ValueError, match="needs a planner"):
        MixturePlanner([])


def test_pathhd_answers_from_memory():
    kg = KnowledgeGraph.from_triples(
        [("Eve", "spouse", "Tom"), ("Eve", "father", "Max"), ("Tom", "born", "Lima")]
    )
    memory = MemoryPlanner(HashingEncoder(), EXAMPLES)
    system = PathHD(kg, planner=memory, max_hops=2)
    assert system.answer("Whom did Eve marry?").entities == ["Tom"]
    assert system.answer("Where was the wife of Eve born?").entities == ["Lima"]
    memory.add([example("who raised Bob", "Bob", "father")])
    assert system.answer("Who raised Eve?").entities == ["Max"]


def test_a_candidate_is_found_by_its_names():
    for index, path in enumerate(PATHS):
        assert CANDIDATES.find(path) == index
    for absent in [("born",), ("father", "born"), ("father",) * 5, ("age",), ()]:
        assert CANDIDATES.find(absent) is None


@pytest.mark.parametrize("planner", MEMORIES)
def test_memories_and_their_systems_pickle(planner):
    kg = KnowledgeGraph.from_triples([("Eve", "spouse", "Tom"), ("Eve", "father", "Max")])
    mixture = MixturePlanner(
        [(LexicalPlanner(kg.symbols), 1.0), (planner(HashingEncoder(), EXAMPLES), 2.0)]
    )
    system = PathHD(kg, planner=mixture)
    copy = pickle.loads(pickle.dumps(system))
    for question in ("Whom did Eve marry?", "Who is the father of Eve?"):
        assert copy.answer(question).entities == system.answer(question).entities


def test_votes_that_are_kept_follow_the_examples():
    asked = Example("Who is the spouse of Eve?", (21, 24), ("spouse",))
    memory = MemoryPlanner(HashingEncoder(), [asked])
    assert memory.votes(*asked[:2]) == {("spouse",): 1.0}
    memory.votes(*asked[:2]).clear()  # the caller's own
    again = asked._replace(relations=("spouse", "spouse"))
    memory.add([again])
    assert memory.votes(*asked[:2]) == {("spouse",): 0.5, ("spouse", "spouse"): 0.5}
    memory.add([again, again])
    assert memory.votes(*asked[:2])["spouse",] == 0.25
    memory.forget([again, again, again])
    assert memory.votes(*asked[:2]) == {("spouse",): 1.0}


def test_examples_of_another_form_are_refused():
    example = Example("who raised Ann", (11, 14), ["father"])
    for make in (lambda examples: MemoryPlanner(HashingEncoder(), examples), GoldPlanner):
        with pytest.raises(TypeError, match="must be a list of Example, got str in it"):
            make(example)
        with pytest.raises(TypeError, match="relations must be a list of names, got one: 'father'"):
            make([example._replace(relations="father")])
