"""Retrieval finds what scoring every sequence that exists would find."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperhop.graph import KnowledgeGraph
from hyperhop.pathhd import PathHD, Plans

NAMES = st.sampled_from("abcdef")
FACTS = st.lists(
    st.tuples(NAMES, st.sampled_from(["r", "s", "^t"]), NAMES), min_size=1, max_size=14
)


class Drawn:
    """Plans that a seed decides, over the candidates in order of their names."""

    name = "drawn"

    def __init__(self, seed):
        self._seed = seed

    def plan(self, question, mention, candidates):
        rng = np.random.default_rng(self._seed)
        named = sorted(range(len(candidates)), key=candidates.relations)
        order = rng.permutation(len(candidates))[: 1 + self._seed % 4]
        return Plans(np.array(named, np.int64)[order], -np.arange(float(len(order))))


def followed(facts, topic, relations, return_to_topic):
    """Ends of all walks along a sequence, by the definition."""
    here = {topic}
    for name in relations:
        backwards = name.startswith("^")
        relation = name[1:] if backwards else name
        relation = relation.removeprefix("\\")
        steps = [(t, h) if backwards else (h, t) for h, r, t in facts if r == relation]
        here = {after for before, after in steps if before in here}
        if not return_to_topic:
            here.discard(topic)
    return here


def scored(system, chosen, sequences):
    """Blockwise cosine of the bundle of `chosen` with each sequence, float64."""
    blocks = system.codebook.array.astype(np.complex128)
    ids = {name: i for i, name in enumerate(system.kg.symbols)}

    def encode(sequence):
        vector = np.eye(blocks.shape[-1])
        for name in sequence:
            vector = vector @ blocks[ids[name]]
        return vector

    query = sum((len(chosen) - i) * encode(one) for i, one in enumerate(chosen))
    norms = np.linalg.norm(query, axis=(1, 2))
    scores = {}
    for one in sequences:
        vector = encode(one)
        dots = (query.conj() * vector).sum(axis=(1, 2)).real
        scores[one] = (dots / (norms * np.linalg.norm(vector, axis=(1, 2)))).mean()
    return scores


@settings(max_examples=60, deadline=None)
@given(
    facts=FACTS,
    hops=st.integers(1, 3),
    inverse=st.booleans(),
    back=st.booleans(),
    k=st.integers(1, 5),
    seed=st.integers(0, 50),
)
def test_ranking_equals_scoring_all_sequences(facts, hops, inverse, back, k, seed):
    kg = KnowledgeGraph.from_triples(facts)
    topic = facts[0][0]
    options = {"max_hops": hops, "inverse": inverse, "return_to_topic": back, "k": k}
    system = PathHD(kg, planner=Drawn(seed), blocks=16, **options)
    names = kg.symbols if inverse else kg.symbols[: kg.num_relations]
    ends = {
        one: followed(facts, topic, one, back)
        for length in range(1, hops + 1)
        for one in product(names, repeat=length)
    }
    existing = sorted(one for one, where in ends.items() if where)
    evidence = system.retrieve("?", topic)
    assert not evidence.truncated
    assert len(evidence.sequences) == min(k, len(existing))
    if not existing:
        return
    rng = np.random.default_rng(seed)
    chosen = [existing[i] for i in rng.permutation(len(existing))[: 1 + seed % 4]][:k]
    exact = scored(system, chosen, existing)
    found = [tuple(one.relations) for one in evidence.sequences]
    assert len(set(found)) == len(found)
    for sequence, one in zip(found, evidence.sequences, strict=True):
        assert abs(exact[sequence] - one.score) < 1e-5
        assert list(one.ends) == sorted(ends[sequence])
    assert [one.score for one in evidence.sequences] == sorted(
        (one.score for one in evidence.sequences), reverse=True
    )
    left_out = [score for one, score in exact.items() if one not in found]
    if left_out:  # equal but for rounding may go either way
        assert max(left_out) <= evidence.sequences[-1].score + 1e-5
