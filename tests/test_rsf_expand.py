"""Flow that expands over the whole graph: the ball's answers, within its bounds."""

import numpy as np
import pytest

from hyperhop import KnowledgeGraph
from hyperhop.graph import DamagedStore
from hyperhop.rsf import RSF, Expansion
from rsf_models import save_cosine_model, save_random_model

NO_BOUNDS = Expansion(theta=0, beam=10**6, reach=10**6, tolerance=0)
QUESTION = "who directed the film that stars e003"


def random_facts(seed, entities=40, facts=120):
    rng = np.random.default_rng(seed)
    heads, tails = rng.integers(0, entities, (2, facts))
    names = np.array(["directed", "stars", "written by"])[rng.integers(0, 3, facts)]
    return {(f"e{h:03}", r, f"e{t:03}") for h, r, t in zip(heads, names, tails, strict=True)}


@pytest.mark.parametrize(
    "switches",
    [
        {},
        {"query_update": False},
        {"content_bias": False},
        {"gate": False, "return_to_topic": False},
        {"inverse": False, "hops": 3},
        {"stay": False, "return_to_topic": False, "content_bias": False},
        {"node_text": "dropped"},
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(3))
def test_without_bounds_it_answers_as_the_ball_does(tmp_path, seed, switches):
    kg = KnowledgeGraph.from_triples(random_facts(seed))
    save_random_model(tmp_path, kg, seed=seed, **switches)
    ball = RSF.load(tmp_path, paths=3, k=40)
    expanding = RSF.load(tmp_path, paths=3, k=40, expansion=NO_BOUNDS)
    for topic in ("e003", ["e000", "e007"]):
        expected = ball.retrieve(QUESTION, topic)
        found = expanding.retrieve(QUESTION, topic)
        assert expected.answers
        scores = {one.entity: one.score for one in expected.answers}
        assert scores == pytest.approx({one.entity: one.score for one in found.answers}, abs=1e-5)
        assert not found.truncated
        assert [hop.reached for hop in found.hops] == [hop.reached for hop in expected.hops]
        assert [hop.dropped for hop in found.hops] == [0] * len(found.hops)
        paths = {(*path.entities, *path.relations) for path in found.paths}
        assert paths == {(*path.entities, *path.relations) for path in expected.paths}


def test_bounds_drop_flow_and_tell(tmp_path):
    hub = {("hub", "made", f"film {i:02}") for i in range(30)}
    kg = KnowledgeGraph.from_triples(
        hub | {(f"film {i:02}", "stars", f"actor {i}") for i in range(30)}
    )
    save_random_model(tmp_path, kg, content_bias=False, inverse=False, stay=False)

    def retrieve(**bounds):
        how = Expansion(**{"theta": 0, "tolerance": 0, **bounds})
        return RSF.load(tmp_path, k=40, expansion=how).retrieve("x", "hub")

    whole = retrieve()
    assert [hop.reached for hop in whole.hops] == [30, 30]
    beam = retrieve(beam=12)  # of equals the first by id
    assert sorted(one.entity for one in beam.answers) == sorted(f"actor {i}" for i in range(12))
    assert beam.truncated
    assert [hop.dropped for hop in beam.hops] == pytest.approx([0, 0.6])
    reach = retrieve(reach=15)
    assert [hop.reached for hop in reach.hops] == [15, 15]
    assert reach.truncated
    assert [hop.dropped for hop in reach.hops] == pytest.approx([0.5, 0])
    theta = retrieve(theta=0.1)  # asked for, so nothing was cut
    assert not theta.answers
    assert not theta.truncated
    assert [hop.dropped for hop in theta.hops] == pytest.approx([0, 1])


def test_it_halts_where_the_flow_settles(tmp_path):
    kg = KnowledgeGraph.from_triples([("a", "leads to", "b"), ("c", "leads to", "a")])
    save_cosine_model(tmp_path, kg, inverse=False, stay_text="encoded", threshold=-2.0)

    def hops(tolerance):
        how = Expansion(hops=60, theta=0, tolerance=tolerance)
        return RSF.load(tmp_path, expansion=how).retrieve("leads to", "a").hops

    assert len(hops(0)) == 60
    assert 1 < len(hops(0.01)) < 15  # half of what is left moves at each hop
    assert len(hops(0.1)) < len(hops(0.01))


def test_a_dead_flow_answers_nothing(tmp_path):
    kg = KnowledgeGraph.from_triples([("a", "leads to", "b")])
    save_random_model(tmp_path, kg, inverse=False, stay=False, hops=4)
    found = RSF.load(tmp_path, expansion=NO_BOUNDS).retrieve("x", "a")
    assert not found.answers
    assert not found.paths
    assert [hop.reached for hop in found.hops] == [1, 0]


def test_a_damaged_graph_is_named(tmp_path):
    kg = KnowledgeGraph.from_triples(random_facts(0))
    save_random_model(tmp_path, kg)
    stored = np.load(next(tmp_path.glob("out_tails*.npy")), mmap_mode="r+")
    stored[:] = 2**30
    stored.flush()
    expanding = RSF.load(tmp_path, expansion=NO_BOUNDS)
    with pytest.raises(DamagedStore):
        expanding.retrieve(QUESTION, "e003")


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"theta": -1}, "theta must be at least 0 and below 1, got -1"),
        ({"tolerance": 1}, "tolerance must be at least 0 and below 1, got 1"),
        ({"beam": 0}, "beam must be at least 1, got 0"),
        ({"hops": 0}, "hops must be at least 1, got 0"),
    ],
)
def test_bad_bounds(bounds, message):
    with pytest.raises(ValueError, match=message):
        Expansion(**bounds)


def test_bounds_of_a_ball_are_refused(tmp_path):
    kg = KnowledgeGraph.from_triples([("a", "leads to", "b")])
    save_random_model(tmp_path, kg)
    with pytest.raises(ValueError, match="an expansion has no ball"):
        RSF.load(tmp_path, expansion=Expansion(), radius=2, max_degree=9)
