"""Query hypervectors: of one plan, of several, and of the question alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from hyperhop import KnowledgeGraph, PathHD, ghrr
from hyperhop.pathhd import Plans, TextQuery, encode_query
from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.codebooks import text_codebook
from hyperhop.paths import Paths
from hyperhop.text import HashingEncoder

NAMES = ["a", "b", "c", "d", "e"]
CODEBOOK = ghrr.Codebook(NAMES, 256, 4)
ALL = [[x] for x in NAMES] + [[x, y] for x in NAMES for y in NAMES]
CANDIDATES = Candidates(Paths.from_lists(ALL, names=NAMES), NAMES)


def plans(*weighted):
    """Plans of (sequence as a word, weight), in this order."""
    found = [CANDIDATES.find(list(word)) for word, _ in weighted]
    return Plans(np.array(found), np.array([weight for _, weight in weighted], np.float64))


def scores(query):
    return dict(
        zip(
            ("".join(path) for path in ALL),
            ghrr.score_paths(CODEBOOK, query, CANDIDATES.paths).tolist(),
            strict=True,
        )
    )


def test_a_weighted_bundle_follows_the_planners_weights():
    given_plans = plans(("ab", 0.9), ("c", 0.8), ("de", 0.5), ("d", 0.4))
    found = scores(encode_query(CODEBOOK, CANDIDATES, given_plans, "weighted", 3, temperature=0.2))
    weights = np.exp(np.array([0, -0.1, -0.4]) / 0.2)
    expected = weights / np.linalg.norm(weights)
    np.testing.assert_allclose([found["ab"], found["c"], found["de"]], expected, atol=0.05)
    assert abs(found["d"]) < 0.05  # the fourth of three
    cold = scores(encode_query(CODEBOOK, CANDIDATES, given_plans, "weighted", 3, temperature=1e-3))
    assert cold["ab"] == pytest.approx(1, abs=1e-5)


def test_a_mixture_counts_hops_as_independent():
    even = plans(("ab", 1.0), ("cd", 1.0))
    mixed = scores(encode_query(CODEBOOK, CANDIDATES, even, "mixture", 2))
    crossed = [mixed[word] for word in ("ab", "ad", "cb", "cd")]
    np.testing.assert_allclose(crossed, 0.5, atol=0.06)  # four equal terms over their norm
    others = [score for word, score in mixed.items() if word not in ("ab", "ad", "cb", "cd")]
    assert np.abs(others).max() < 0.06
    bundled = scores(encode_query(CODEBOOK, CANDIDATES, even, "weighted", 2))
    assert abs(bundled["ad"]) < 0.06


def test_a_cold_mixture_is_its_best_plan():
    given_plans = plans(("ab", 0.9), ("c", 0.8), ("de", 0.5))
    cold = scores(encode_query(CODEBOOK, CANDIDATES, given_plans, "mixture", 3, temperature=1e-300))
    assert cold["ab"] == pytest.approx(1, abs=1e-5)
    assert abs(cold["c"]) < 0.05


def test_a_mixture_adds_the_lengths_by_their_share():
    query = encode_query(
        CODEBOOK, CANDIDATES, plans(("ab", 0.3), ("e", 0.1)), "mixture", 2, temperature=0.2
    )
    found, ratio = scores(query), np.exp(-1)
    expected = np.array([1, ratio]) / np.hypot(1, ratio)
    np.testing.assert_allclose([found["ab"], found["e"]], expected, atol=0.05)


words = st.sampled_from(["".join(path) for path in ALL])


@given(
    st.lists(words, min_size=1, max_size=6, unique=True),
    st.sampled_from(["bundle", "best", "weighted", "mixture"]),
    st.integers(1, 6),
)
def test_queries_and_their_scores_agree_with_float64(chosen, kind, count):
    ranks = np.linspace(1, 0.5, len(chosen))
    given_plans = plans(*zip(chosen, ranks, strict=True))
    query = encode_query(CODEBOOK, CANDIDATES, given_plans, kind, count, temperature=0.3)
    used = chosen[: 1 if kind == "best" else count]
    array = CODEBOOK.array
    encoded = {word: reference.encode(array, map(NAMES.index, word)) for word in chosen}
    weights = np.exp((ranks[: len(used)] - 1) / 0.3)
    if kind in ("best", "bundle"):
        weights = np.arange(len(used), 0, -1)
    if kind == "mixture":
        expected = 0
        for length in {len(word) for word in used}:
            same = [(word, w) for word, w in zip(used, weights, strict=True) if len(word) == length]
            total, product = sum(w for _, w in same), 1
            for hop in range(length):
                step = sum(w / total * array[NAMES.index(word[hop])] for word, w in same)
                product = step if hop == 0 else product @ step
            expected = expected + total / weights.sum() * product
    else:
        expected = sum(w * encoded[word] for word, w in zip(used, weights, strict=True))
    np.testing.assert_allclose(reference.from_planes(query), expected, atol=2e-5)
    exact = [reference.similarity(expected, reference.encode(array, map(NAMES.index, word)))
             for word in scores(query)]  # fmt: skip
    np.testing.assert_allclose(list(scores(query).values()), exact, atol=2e-5)


def test_wrong_queries():
    one = plans(("a", 1.0))
    for kind, options, match in [
        ("text", {}, "text has no plan"),
        ("soft", {}, "query must be one of bundle, best, weighted, mixture, text, got 'soft'"),
        ("mixture", {"temperature": 0.0}, "temperature must be above 0, got 0.0"),
        ("mixture", {"temperature": float("nan")}, "temperature must be above 0, got nan"),
        ("mixture", {"count": 0}, "needs a plan and count >= 1, got 1, 0"),
    ]:
        with pytest.raises(ValueError, match=match):
            encode_query(CODEBOOK, CANDIDATES, one, kind, **options)


# --- the question alone -------------------------------------------------------------------------

TEXTS = [f"{first} {second}" for first in ("red", "green", "blue", "black")
         for second in ("house", "river", "engine", "letter", "garden")]  # fmt: skip
SINGLE = Paths.from_lists([[i] for i in range(len(TEXTS))])
ENCODER = HashingEncoder()


def hits(kind, seeds):
    """How often each of the texts, as a question, ranks its own relation first."""
    found = []
    for seed in seeds:
        if kind == "random":
            codebook = ghrr.Codebook(TEXTS, 64, 4, seed=seed)
        else:
            codebook = text_codebook(kind, TEXTS, TEXTS, ENCODER, 64, 4, seed)
        ask = TextQuery(kind, ENCODER, 64, 4, seed)
        for right, text in enumerate(TEXTS):
            topic = (len(text) + 8, len(text) + 11)
            query = ask(f"the {text} of Ann", topic)
            ranked, _ = ghrr.top_paths(codebook, query, SINGLE, 1)
            found.append(ranked[0] == right)
    return np.mean(found)


def test_a_projected_question_needs_a_codebook_made_of_texts():
    assert hits("projected", range(2)) == 1
    assert hits("semantic", range(2)) == 1
    chance, tries = 1 / len(TEXTS), 30 * len(TEXTS)
    spread = 4 * np.sqrt(chance * (1 - chance) / tries)
    assert abs(hits("random", range(30)) - chance) < spread


def test_products_of_projections_are_at_chance_and_semantic_ones_are_not():
    """Of all pairs of relations, how many does the question with both texts rank below its own?"""
    pairs = [[i, j] for i in range(len(TEXTS)) for j in range(len(TEXTS)) if i != j]
    asked = range(0, len(pairs), 19)
    share = {}
    for kind in ("projected", "semantic"):
        codebook = text_codebook(kind, TEXTS, TEXTS, ENCODER, 64, 4, 0)
        ask = TextQuery(kind, ENCODER, 64, 4, 0)
        below = []
        for right in asked:
            question = " ".join(TEXTS[i] for i in pairs[right])
            found = ghrr.score_paths(codebook, ask(question, None), Paths.from_lists(pairs))
            below.append((found < found[right]).mean())
        share[kind] = np.mean(below)
    assert abs(share["projected"] - 0.5) < 4 / np.sqrt(12 * len(asked))
    assert share["semantic"] > 0.7


def test_a_projection_is_fixed_by_its_seed_and_scaled_block_by_block():
    rows = ENCODER.encode(["capital", "the capital of", ""])
    planes = ghrr.TextProjection(ENCODER.dim, 20, 3, seed=1).planes(rows)
    assert planes.shape == (3, 3, 3, 2, 20)
    assert planes.dtype == np.float32
    assert not planes[:, :, :, 1].any()  # P is real
    norms = np.sqrt((planes**2).sum(axis=(1, 2, 3)))
    np.testing.assert_allclose(norms[:2], np.sqrt(3), atol=1e-5)
    assert not planes[2].any()
    again = ghrr.TextProjection(ENCODER.dim, 12, 3, seed=1).planes(rows)
    np.testing.assert_allclose(again, planes[..., :12], atol=1e-6)
    other = ghrr.TextProjection(ENCODER.dim, 20, 3, seed=2).planes(rows)
    assert np.abs(ghrr.similarity(planes[:2], other[:2])).max() < 0.5
    cosine = float(rows[0] @ rows[1])
    large = ghrr.TextProjection(ENCODER.dim, 400, 4).planes(rows)
    assert ghrr.similarity(large[0], large[1]) == pytest.approx(cosine, abs=1 / 16)


def test_wrong_projections():
    with pytest.raises(ValueError, match="blocks must be 1 or more, got 0"):
        ghrr.TextProjection(8, 0)
    with pytest.raises(ValueError, match=r"must have shape \(n, 8\), got \(2, 9\)"):
        ghrr.TextProjection(8).planes(np.ones((2, 9), np.float32))


# --- inside PathHD ------------------------------------------------------------------------------

FACTS = [
    ("Peru", "capital", "Lima"),
    ("Peru", "currency", "sol"),
    ("Peru", "official language", "Quechua"),
    ("Chile", "capital", "Santiago"),
    ("Peru", "border", "Chile"),
]


@pytest.mark.parametrize("k_unit", ["sequence", "path"])
@pytest.mark.parametrize("codebook", ["random", "semantic", "projected"])
@pytest.mark.parametrize("query", ["best", "bundle", "weighted", "mixture"])
def test_every_query_answers_on_every_codebook(query, codebook, k_unit):
    kg = KnowledgeGraph.from_triples(FACTS)
    system = PathHD(kg, query=query, codebook=codebook, k_unit=k_unit, max_hops=2)
    evidence = system.retrieve("What is the capital of the country that borders Peru?", "Peru")
    assert evidence.sequences[0].relations == ["border", "capital"]
    assert evidence.sequences[0].ends == ["Santiago"]
    assert evidence.paths[0].score > 0.5
    assert system.answer("What is the capital of Peru?").entities == ["Lima"]


def test_text_needs_no_plan_but_a_codebook_of_texts():
    kg = KnowledgeGraph.from_triples(FACTS)
    for codebook in ("semantic", "projected"):
        system = PathHD(kg, query="text", codebook=codebook, max_hops=1, inverse=False)
        evidence = system.retrieve("Which official language has Peru?", explain=True)
        assert evidence.sequences[0].relations == ["official language"]
        assert evidence.sequences[0].score > 2 * abs(evidence.sequences[1].score)
        assert evidence.sequences[0].explanation is not None
        silent = system.retrieve("Peru")  # no word but the topic: nothing is like it
        assert {sequence.score for sequence in silent.sequences} == {0.0}


def test_alike_relations_score_alike_in_a_semantic_codebook():
    facts = [("Ann", name, "x") for name in ("official language", "other language", "garden")]
    kg = KnowledgeGraph.from_triples(facts)
    for codebook, alike in (("semantic", 0.15), ("random", 0.0)):
        system = PathHD(kg, query="best", codebook=codebook, max_hops=1)
        found = {
            sequence.relations[0]: sequence.score
            for sequence in system.retrieve("the official language of Ann").sequences
        }
        assert found["official language"] == pytest.approx(1, abs=1e-5)
        assert (found["other language"] > alike + 0.05) == (codebook == "semantic")
        assert abs(found["garden"]) < 0.1


def test_a_relation_without_words_has_no_semantic_hypervector():
    kg = KnowledgeGraph.from_triples([("a", "->", "b")])
    with pytest.raises(ValueError, match=r"not zero, got norm 0.0 in row 0 \('->'\)"):
        PathHD(kg, codebook="semantic")
    assert PathHD(kg, codebook="projected").retrieve("a").sequences
