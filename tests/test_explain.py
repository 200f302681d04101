"""Why a sequence scores as it does."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperhop import KnowledgeGraph, PathHD, ghrr
from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.explain import explain
from hyperhop.paths import Paths

NAMES = ["a", "b", "c", "d", "^a"]
CODEBOOK = ghrr.Codebook(NAMES, 256, 4)


def encoded(*paths):
    vectors = ghrr.encode_paths(CODEBOOK, Paths.from_lists(paths, names=NAMES), planes=True)
    return ghrr.bundle(vectors, np.arange(len(paths), 0, -1, dtype=np.float32))


def explained(query, paths, chosen):
    candidates = Candidates(Paths.from_lists(paths, names=NAMES), NAMES)
    scores = ghrr.score_paths(CODEBOOK, query, candidates.paths).astype(np.float64)
    return explain(CODEBOOK, query, candidates, scores, chosen), scores


sequences = st.lists(
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map(tuple),
    min_size=1,
    max_size=6,
    unique=True,
)


@given(sequences, st.data())
def test_every_relation_is_left_with_the_score_of_the_whole(paths, data):
    query = encoded(*data.draw(sequences))
    found, scores = explained(query, paths, range(len(paths)))
    order = np.argsort(-scores, kind="stable")
    for path, score, why in zip(paths, scores, found, strict=True):
        assert [fit.relation for fit in why.fits] == list(path)
        np.testing.assert_allclose([fit.score for fit in why.fits], score, atol=2e-5)
        for i, fit in enumerate(why.fits):
            assert fit.instead_score >= fit.score - 2e-6
            other = [[*path[:i], fit.instead, *path[i + 1 :]]]
            again = ghrr.score_paths(CODEBOOK, query, Paths.from_lists(other, names=NAMES))
            assert fit.instead_score == pytest.approx(again[0], abs=2e-5)
        if why.margin is not None:
            assert why.margin >= 0
    assert sum(why.margin is None for why in found) == 1
    assert found[order[-1]].margin is None or len(set(scores.tolist())) < len(scores)


def test_a_wrong_relation_is_told_with_the_right_one():
    found, _ = explained(encoded(("a", "b")), [("a", "b"), ("a", "c"), ("d",)], [0, 1, 2])
    right, wrong, last = found
    assert [fit.instead for fit in right.fits] == ["a", "b"]
    assert right.margin > 0.9
    assert right.swapped < 0.1
    assert (wrong.fits[1].relation, wrong.fits[1].instead) == ("c", "b")
    assert wrong.fits[1].instead_score == pytest.approx(1, abs=1e-5)
    assert last.swapped is None
    assert last.margin is None or wrong.margin is None


def test_equal_neighbours_cannot_be_swapped():
    (found,), _ = explained(encoded(("a", "a")), [("a", "a")], [0])
    assert found.swapped is None
    assert found.margin is None


@pytest.mark.parametrize("k_unit", ["sequence", "path"])
def test_evidence_carries_explanations_only_when_asked(k_unit):
    kg = KnowledgeGraph.from_triples(
        [("Ada", "father", "Byron"), ("Byron", "field", "poetry"), ("Ada", "mother", "Anna")]
    )
    system = PathHD(kg, k_unit=k_unit, max_hops=2)
    question = "What is the field of the father of Ada?"
    plain, told = system.retrieve(question), system.retrieve(question, explain=True)
    assert all(sequence.explanation is None for sequence in plain.sequences)
    assert "explain" in told.timings
    assert [s.relations for s in told.sequences] == [s.relations for s in plain.sequences]
    first = told.sequences[0].explanation
    assert [fit.instead for fit in first.fits] == ["father", "field"]
    assert first.margin == pytest.approx(told.sequences[0].score - told.sequences[1].score)
    assert first.swapped < 0.2
    assert json.loads(json.dumps(told.to_dict()))["sequences"][0]["explanation"]["fits"][1] == {
        "relation": "field",
        "score": pytest.approx(told.sequences[0].score, abs=2e-5),
        "instead": "field",
        "instead_score": pytest.approx(told.sequences[0].score, abs=2e-5),
    }
