"""Decoding: ranked answers, certified paths, refused lies; random flows over random graphs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperhop import KnowledgeGraph, flow
from hyperhop.evidence import NEAR
from hyperhop.rsf.decode import Decoding, decode
from hyperhop.rsf.graphs import STAY, FlowRelations, balls
from hyperhop.rsf.network import Flows

NAMES = [f"v{i}" for i in range(6)]


def flows_of(ball, betas, reachable_only=True, rho=None):
    """What hops with these attentions do from the ball's topics."""
    count = ball.graph.num_nodes
    segments = np.array([0, count])
    now = np.zeros(count, np.float32)
    now[ball.topics] = 1 / len(ball.topics)
    found = Flows([now], [], [])
    for beta in betas:
        gate = np.ones(1, np.float32)
        row = np.asarray(beta, np.float32)[None]
        now = flow.hop(
            ball.graph, now, row, rho, gate, segments=segments, reachable_only=reachable_only
        )
        found.flows.append(now)
        found.betas.append(row)
        found.gates.append(gate)
    return found


@st.composite
def cases(draw):
    """A multigraph with parallel edges, self loops and ways back, and flows with content bias."""
    facts = draw(
        st.lists(
            st.tuples(st.sampled_from(NAMES), st.sampled_from("rst"), st.sampled_from(NAMES)),
            min_size=1,
            max_size=15,
        )
    )
    kg = KnowledgeGraph.from_triples(facts)
    relations = FlowRelations(kg, draw(st.booleans()), draw(st.booleans()))
    hops = draw(st.integers(1, 3))
    topic = draw(st.sampled_from(sorted({head for head, _, _ in facts})))
    (ball,) = balls(kg, relations, [topic], draw(st.integers(0, 3)))
    seed = draw(st.integers(0, 2**16))
    rng = np.random.default_rng(seed)
    betas = rng.random((hops, relations.num_symbols)) ** 4
    rho = (8 * rng.standard_normal(ball.graph.num_nodes)).astype(np.float32)
    return kg, relations, ball, flows_of(ball, betas, draw(st.booleans()), rho)


@given(cases(), st.sampled_from(["pi", "pi*beta"]), st.integers(1, 3))
def test_every_path_is_true_and_carried_flow(case, score, most):
    kg, relations, ball, found = case
    how = Decoding(k=20, paths=most, score=score, reachable_only=False)
    evidence = decode(kg, relations, ball, found, how, explain=True)
    topic = kg.entity_name(int(ball.entities[ball.topics[0]]))
    counts = {}
    for path in evidence.paths:
        assert path.entities[0] == topic
        assert len(path.entities) == len(path.relations) + 1
        for left, symbol, right in zip(
            path.entities, path.relations, path.entities[1:], strict=False
        ):
            inverse = symbol.startswith("^")
            assert kg.has_triple(
                right if inverse else left, symbol.lstrip("^"), left if inverse else right
            )
        assert len(path.certificate) == len(found.betas)
        for step in path.certificate:
            assert step.attention > 0
            assert step.flow > 0
        taken = [step.relation for step in path.certificate if step.relation != STAY]
        assert taken == path.relations
        end = path.entities[-1]
        counts.setdefault(end, set()).add((tuple(path.entities), tuple(path.relations)))
    answers = {answer.entity: answer.score for answer in evidence.answers}
    assert set(counts) == set(answers)
    assert sum(map(len, counts.values())) == len(evidence.paths)  # none twice
    assert all(len(walks) <= most for walks in counts.values())
    ranked = [(-answer.score, answer.entity) for answer in evidence.answers]
    assert ranked == sorted(ranked)
    assert len(evidence.hops) == len(found.betas)
    for hop in evidence.hops:
        assert -1e-6 <= hop.leaked <= 1 + 1e-6
        assert list(hop.attention) == list(dict.fromkeys(hop.attention))


def test_with_flow_only_where_it_can_go_every_answer_has_a_path():
    kg = KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "s", "c"), ("a", "s", "d")])
    relations = FlowRelations(kg, inverse=False)
    (ball,) = balls(kg, relations, ["a"], 3)
    beta = [0.9, 0.4, 0, 0, 0.5]  # r, s, their inverses, STAY
    found = flows_of(ball, [beta, beta])
    evidence = decode(kg, relations, ball, found, Decoding())
    total = sum(answer.score for answer in evidence.answers)
    assert total == pytest.approx(1, abs=1e-6)
    assert [hop.leaked for hop in evidence.hops] == [0, 0]
    # b comes by r then STAY (.9 * .5) and by STAY then r: the same path, shown once
    (path,) = [path for path in evidence.paths if path.entities[-1] == "b"]
    assert path.relations == ["r"]
    assert {step.relation for step in path.certificate} == {"r", STAY}


def star(count):
    return KnowledgeGraph.from_triples(("hub", "r", f"e{i:04}") for i in range(count))


def decoded(kg, rho=None, **how):
    relations = FlowRelations(kg, inverse=False, stay=False)
    (ball,) = balls(kg, relations, ["hub"], 1)
    found = flows_of(ball, [[1, 0, 0]], rho=rho)
    return decode(kg, relations, ball, found, Decoding(**how))


def test_more_answers_than_k_where_they_are_nearly_as_good():
    evidence = decoded(star(25))
    assert len(evidence.answers) == 25  # all equal, so all answer
    assert not evidence.truncated
    assert evidence.answering() == sorted(evidence.answering())
    cut = decoded(star(25), k=3, cap=12)
    assert len(cut.answers) == 12
    assert cut.truncated
    assert [answer.entity for answer in cut.answers] == [f"e{i:04}" for i in range(12)]
    rho = np.zeros(26, np.float32)
    rho[3] = 5  # e0003 alone answers, and k more are listed
    one = decoded(star(25), rho=rho, k=4)
    assert len(one.answers) == 4
    assert not one.truncated
    assert one.answers[0].score > one.answers[1].score / NEAR
    assert one.answering() == [one.answers[0].entity] == ["e0003"]


def test_a_share_says_how_many_answer():
    rho = np.zeros(26, np.float32)
    rho[:12], rho[3] = 4, 6  # one stands out, eleven answer as well, the others hold little
    half = decoded(star(25), rho=rho, k=4)
    assert half.answering() == ["e0003"]
    assert (half.answered, len(half.answers)) == (1, 4)
    many = decoded(star(25), rho=rho, k=4, share=0.1)
    assert many.answered == len(many.answers) == len(many.paths) == 12
    assert many.answering() == [one.entity for one in many.answers]
    assert not many.truncated
    cut = decoded(star(25), rho=rho, k=4, share=0.1, cap=6)
    assert (cut.answered, len(cut.answers), cut.truncated) == (6, 6, True)
    assert cut.answers == many.answers[:6]


def test_a_path_that_is_no_fact_is_refused(monkeypatch):
    """Not even a graph that lies can make evidence of what is not there."""
    from hyperhop.rsf import decode as module

    kg = KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "r", "c")])
    relations = FlowRelations(kg, inverse=False, stay=False)
    (ball,) = balls(kg, relations, ["a"], 2)
    found = flows_of(ball, [[1, 0, 0]])
    other = KnowledgeGraph.from_triples([("a", "r", "c"), ("b", "r", "c")])
    with pytest.raises(RuntimeError, match="which is no fact of the graph"):
        decode(other, relations, ball, found, Decoding())
    real = module.backtrack

    def lying(*given, **more):
        traced = real(*given, **more)
        found.betas[0][:] = 0
        return traced

    monkeypatch.setattr(module, "backtrack", lying)
    with pytest.raises(RuntimeError, match="carried no flow"):
        decode(kg, relations, ball, found, Decoding())


def test_a_nan_is_no_answer():
    kg = star(3)
    relations = FlowRelations(kg, inverse=False, stay=False)
    (ball,) = balls(kg, relations, ["hub"], 1)
    found = flows_of(ball, [[np.nan, 0, 0]])
    evidence = decode(kg, relations, ball, found, Decoding())
    assert evidence.answers == [] == evidence.paths
