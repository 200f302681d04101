"""HELP's retrieval against plain Python: algorithm 1, eq. 4, the quota, what must not matter."""

import math
import pickle
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyperhop as hh
from hyperhop import _core
from hyperhop.evidence import Evidence, EvidenceScoring
from hyperhop.help import HELP, Passage, RetrievalSettings, build_index
from hyperhop.help.codes import RowCodes
from hyperhop.help.dense import FlatSearch, Nearest
from hyperhop.help.hybrid import choose
from hyperhop.help.localize import Localized, distances
from hyperhop.help.scorers import Encoded
from hyperhop.help.titles import Titles
from hyperhop.help.wording import Wording
from hyperhop.text import HashingEncoder
from reference_help import (
    WordVectors,
    algorithm_1,
    composed,
    encoded,
    passage_scores,
    text_of,
)

MEASURE = {"composition": composed, "encoder": encoded, "cascade": encoded}
QUESTIONS = [f"question {number} about {name}" for number, name in enumerate("abcdefgh")]


def corpus(seed, passages=12, names=9, most=5):
    """{passage: triples}: a small multigraph with self loops and triples stated twice."""
    rng = random.Random(seed)
    entities = [f"E{number}" for number in range(names)]

    def triple():
        return rng.choice(entities), rng.choice(["r", "s"]), rng.choice(entities)

    stated = {
        Passage(f"p{number}", f"text {number}", f"title {number % 4}"): [
            triple() for _ in range(rng.randint(0, most))
        ]
        for number in range(passages)
    }
    return stated


PAPER = {"named": 0.0, "relevance": 0.0}  # the switches beyond it


def built(stated, encoder=None, **settings):
    settings = PAPER | settings
    return HELP.build(list(stated), list(stated.values()), encoder or WordVectors(), **settings)


def plain(evidence):
    """All that must not change; timings do."""
    found = evidence.to_dict()
    del found["timings"]
    return found


def found_hypernodes(evidence):
    return [frozenset(one.triples) for one in evidence.hypernodes]


# --- algorithm 1 and eq. 4


@pytest.mark.parametrize("scorer", ["composition", "encoder", "cascade"])
@pytest.mark.parametrize(
    ("levels", "keep_parents"), [(1, False), (2, False), (2, True), (3, False), (3, True)]
)
def test_retrieval_is_algorithm_1_and_equation_4(scorer, levels, keep_parents):
    for seed in range(3):
        stated = corpus(seed)
        encoder = WordVectors()
        settings = {"levels": levels, "scorer": scorer, "keep_parents": keep_parents}
        help = built(stated, encoder, n=3, k=6, passages=8, quota=8, shortlist=9, **settings)

        def vector(text, encoder=encoder):
            return encoder.encode([text])[0].astype(np.float64)

        for question in QUESTIONS[:3]:
            query = vector(question)
            evidence = help.retrieve(question)
            beam = algorithm_1(
                {triple for triples in stated.values() for triple in triples},
                query,
                vector,
                measure=MEASURE[scorer],
                levels=levels,
                n=3,
                k=6,
                keep_parents=keep_parents,
                shortlist=9 if scorer == "cascade" else None,
            )
            assert found_hypernodes(evidence) == beam
            for one in evidence.hypernodes:
                apart = MEASURE[scorer](frozenset(one.triples), vector) - query
                assert one.distance == pytest.approx(np.sqrt((apart**2).sum()), abs=1e-6)
                assert one.triples == sorted(one.triples)
            scores = passage_scores(
                beam,
                {passage.id: triples for passage, triples in stated.items()},
                query,
                MEASURE[scorer],
                vector,
            )
            by_path = [one for one in evidence.passages if one.found == "path"]
            assert len(by_path) == min(8, len(scores))
            for one in by_path:
                assert one.score == pytest.approx(scores[one.id], abs=1e-6)
            best = sorted(scores, key=lambda name: (-scores[name], name))
            assert [one.id for one in by_path] == best[: len(by_path)]


def test_one_level_returns_the_seeds():
    stated = corpus(7)
    encoder = WordVectors()
    help = built(stated, encoder, levels=1, n=4)
    triples = {triple for listed in stated.values() for triple in listed}
    for question in QUESTIONS:
        query = encoder.encode([question])[0].astype(np.float64)
        nearest = sorted(triples, key=lambda t: -float(encoder.encode([text_of([t])])[0] @ query))
        found = found_hypernodes(help.retrieve(question))
        assert found == [frozenset([triple]) for triple in nearest[:4]]


def test_linked_names_are_crossed():
    stated = {
        Passage("a", "one"): [("Ann Lee", "born in", "the City of Lima")],
        Passage("b", "two"): [("City of Lima", "in", "Peru")],
    }
    question = "Ann Lee born in"
    apart = HELP.build(list(stated), list(stated.values()), HashingEncoder(), n=1)
    assert [len(one.triples) for one in apart.retrieve(question).hypernodes] == [1]
    joined = HELP.build(list(stated), list(stated.values()), HashingEncoder(), n=1, synonyms=0.5)
    assert len(joined.index.links) == 1
    assert [len(one.triples) for one in joined.retrieve(question).hypernodes] == [2]


@pytest.mark.parametrize("weighting", ["inverse", "root", "equal"])
def test_weightings(weighting):
    stated = {
        Passage("long", "x"): [("A", "r", "B"), ("A", "r", "C"), ("D", "r", "E"), ("D", "s", "E")],
        Passage("short", "y"): [("A", "r", "B")],
    }
    encoder = WordVectors()
    help = built(stated, encoder, weighting=weighting, levels=1, n=1)
    # a question that is a triple's text lies on it
    scores = {one.id: one.score for one in help.retrieve("A r B").passages}
    expected = {"inverse": 1 / 4, "root": 1 / 2, "equal": 1.0}[weighting]
    assert scores["short"] == pytest.approx(1.0, abs=1e-6)
    assert scores["long"] == pytest.approx(expected, abs=1e-6)


# --- the quota


def localized(*ids):
    scores = np.linspace(2.0, 1.0, len(ids))
    return Localized(np.array(ids, np.int64), scores)


def nearest(*ids):
    return Nearest(np.array(ids, np.int64), np.linspace(0.9, 0.1, len(ids)))


@pytest.mark.parametrize(
    ("path", "dense", "quota", "count", "expected", "by_path"),
    [
        ((7, 8, 9), (1, 2, 3, 4, 5), 0, 5, [1, 2, 3, 4, 5], 0),
        ((7, 8, 9), (1, 2, 3, 4, 5), 2, 5, [7, 8, 1, 2, 3], 2),
        ((7, 8, 9), (7, 8, 3, 4, 5), 2, 5, [7, 8, 3, 4, 5], 2),
        ((7, 8, 9), (7, 8, 9, 4, 5), 5, 5, [7, 8, 9, 4, 5], 3),
        ((), (1, 2, 3), 4, 3, [1, 2, 3], 0),
        ((7, 8), (8, 7), 1, 5, [7, 8], 1),
        ((7, 8, 9), (1, 2), 9, 2, [7, 8], 2),
        ((), (), 4, 5, [], 0),
    ],
)
def test_quota(path, dense, quota, count, expected, by_path):
    chosen = choose(localized(*path), nearest(*dense), quota, count)
    assert chosen.passages.tolist() == expected
    assert chosen.by_path == by_path


@given(
    st.lists(st.integers(0, 30), unique=True, max_size=20),
    st.permutations(range(12)),
    st.integers(0, 8),
    st.integers(1, 8),
)
def test_quota_fills_and_never_repeats(path, order, quota, count):
    path = [passage for passage in path if passage < 12]
    chosen = choose(localized(*path), nearest(*order[:count]), quota, count)
    ids = chosen.passages.tolist()
    assert len(ids) == len(set(ids)) == count
    assert ids[: chosen.by_path] == path[: min(quota, count)]
    assert len(chosen.scores) == count


@pytest.mark.parametrize("quota", range(6))
def test_every_quota_gives_all_passages_asked_for(quota):
    for seed in range(3):
        stated = corpus(seed)
        help = built(stated, quota=quota, passages=5)
        for evidence in help.retrieve_batch(QUESTIONS):
            ids = [one.id for one in evidence.passages]
            assert len(ids) == len(set(ids)) == 5
            found = [one.found for one in evidence.passages]
            by_path = found.count("path")
            assert found == ["path"] * by_path + ["dense"] * (5 - by_path)
            assert by_path <= quota
            texts = {passage.id: passage for passage in stated}
            for one in evidence.passages:
                assert (one.text, one.title) == (texts[one.id].text, texts[one.id].title)


def test_more_passages_asked_for_than_there_are():
    stated = corpus(3, passages=4)
    evidence = built(stated, passages=9, quota=2).retrieve("anything")
    assert sorted(one.id for one in evidence.passages) == ["p0", "p1", "p2", "p3"]
    assert built(stated, passages=3, quota=99).retrieve("anything").passages


# --- what scoring takes


def test_composition_encodes_the_question_alone():
    encoder = WordVectors()
    help = built(corpus(1), encoder)
    encoder.texts.clear()
    evidence = help.retrieve("a question")
    assert encoder.texts == ["a question"]
    assert evidence.scoring == EvidenceScoring("composition", encoder_calls=0, cache_hits=0)


def test_encoder_calls_and_cache_hits():
    encoder = WordVectors()
    help = built(corpus(1), encoder, scorer="encoder", n=2, k=100)
    encoder.texts.clear()
    first = help.retrieve("a question")
    texts = encoder.texts[1:]
    assert len(texts) == len(set(texts)) == first.scoring.encoder_calls > 5
    assert sorted(texts) == sorted(text_of(one.triples) for one in first.hypernodes)
    assert first.scoring.cache_hits == 0
    encoder.texts.clear()
    again = help.retrieve("a question")
    assert encoder.texts == ["a question"]
    assert (again.scoring.encoder_calls, again.scoring.cache_hits) == (0, len(texts))
    assert again.passages == first.passages
    assert found_hypernodes(again) == found_hypernodes(first)


def test_cascade_encodes_its_shortlist():
    encoder = WordVectors()
    stated = corpus(1, passages=40)
    help = built(stated, encoder, scorer="cascade", n=3, k=4, shortlist=10)
    scoring = help.retrieve("a question").scoring
    assert scoring == EvidenceScoring("cascade", encoder_calls=10, cache_hits=0)
    every = built(stated, encoder, scorer="encoder", n=3, k=4).retrieve("a question")
    assert every.scoring.encoder_calls > 10
    long = built(stated, encoder, scorer="cascade", n=3, k=4, shortlist=10_000)
    assert found_hypernodes(long.retrieve("a question")) == found_hypernodes(every)


def test_the_cache_is_bounded_and_changes_nothing():
    stated = corpus(2, passages=10)
    whole = built(stated, scorer="encoder")
    for cached in (0, 7):
        encoder = WordVectors()
        small = built(stated, encoder, scorer="encoder", cached=cached)
        for question in QUESTIONS[:4] * 2:
            assert found_hypernodes(small.retrieve(question)) == found_hypernodes(
                whole.retrieve(question)
            )
        scorer = small._search._scorer
        assert isinstance(scorer, Encoded)
        assert len(scorer._kept) == cached


# --- one answer, however it is asked for


@pytest.mark.parametrize("scorer", ["composition", "encoder", "cascade"])
@pytest.mark.parametrize("storage", ["float32", "float16"])
def test_a_batch_gives_what_single_questions_give(scorer, storage):
    stated = corpus(5, passages=25, names=12)
    help = built(stated, HashingEncoder(64), scorer=scorer, storage=storage, n=2, k=4)
    questions = [f"E{i % 12} r E{i % 7} {i}" for i in range(40)]
    single = [help.retrieve(question) for question in questions]
    for threads in (1, 2):
        batch = help.retrieve_batch(questions, threads=threads)
        for one, other in zip(single, batch, strict=True):
            one, other = plain(one), plain(other)
            one.pop("scoring"), other.pop("scoring")
            assert one == other
    for question, one in zip(questions[:5], single, strict=False):
        assert help.retrieve(question, threads=3).passages == one.passages


@pytest.mark.parametrize("scorer", ["composition", "encoder"])
def test_the_order_of_the_corpus_does_not_matter(scorer):
    stated = corpus(8, passages=25)
    stated |= {Passage("twin-b", "same"): [], Passage("twin-a", "same"): []}
    help = built(stated, HashingEncoder(64), scorer=scorer, passages=20)
    expected = [plain(one) for one in help.retrieve_batch(QUESTIONS)]
    for seed in range(3):
        items = list(stated.items())
        random.Random(seed).shuffle(items)
        shuffled = {passage: triples[::-1] for passage, triples in items}
        other = built(shuffled, HashingEncoder(64), scorer=scorer, passages=20)
        assert [plain(one) for one in other.retrieve_batch(QUESTIONS)] == expected


def test_many_threads_at_once():
    help = built(corpus(9, passages=40), scorer="cascade", shortlist=20)
    expected = {question: plain(help.retrieve(question)) for question in QUESTIONS}
    with ThreadPoolExecutor(8) as pool:
        for question, evidence in zip(
            QUESTIONS * 4, pool.map(help.retrieve, QUESTIONS * 4), strict=True
        ):
            found = plain(evidence)
            assert found["passages"] == expected[question]["passages"]
            assert found["hypernodes"] == expected[question]["hypernodes"]


def test_pickles_and_answers_alike():
    help = built(corpus(4), HashingEncoder(64), scorer="cascade", quota=2)
    copy = pickle.loads(pickle.dumps(help, protocol=5))
    assert copy.settings == help.settings
    evidence = help.retrieve("E1 r E2")
    assert plain(copy.retrieve("E1 r E2")) == plain(evidence)
    assert plain(pickle.loads(pickle.dumps(evidence))) == plain(evidence)


# --- a corpus that changes, and one that is saved


def test_changes_are_searched_at_once():
    stated = corpus(6, passages=10)
    items = list(stated.items())
    help = built(dict(items[:6]), HashingEncoder(64))
    before = help.retrieve("E1 r E2")
    help.add([passage for passage, _ in items[6:]], [triples for _, triples in items[6:]])
    whole = built(stated, HashingEncoder(64))
    for question in QUESTIONS:
        assert plain(help.retrieve(question)) == plain(whole.retrieve(question))
    assert len(before.hypernodes[0].triples) > 0  # of the index as it was
    help.update([Passage(items[0][0].id, "news")], [[("E1", "r", "news")]])
    stated = {Passage("p0", "news"): [("E1", "r", "news")]} | dict(items[1:])
    whole = built(stated, HashingEncoder(64))
    assert plain(help.retrieve("E1 news")) == plain(whole.retrieve("E1 news"))
    help.remove([passage.id for passage, _ in items[6:]])
    assert help.index.num_passages == 6
    assert {one.id for one in help.retrieve("E1").passages} <= {f"p{i}" for i in range(6)}


def test_saved_and_opened(tmp_path):
    help = built(corpus(6), HashingEncoder(64), quota=2, levels=3, weighting="root")
    help.save(tmp_path / "index")
    opened = HELP.open(tmp_path / "index")
    assert opened.settings == help.settings
    for question in QUESTIONS:
        assert plain(opened.retrieve(question)) == plain(help.retrieve(question))
    assert HELP.open(tmp_path / "index", quota=1).settings.quota == 1
    with pytest.raises(ValueError, match="made with the encoder 'hashing:64'"):
        HELP.open(tmp_path / "index", encoder="hashing:32")


# --- odd corpora


def test_an_empty_corpus():
    help = HELP.build([], [])
    evidence = help.retrieve("anything")
    assert (list(evidence.passages), list(evidence.hypernodes)) == ([], [])
    assert help.answer("anything").text.startswith("No answer")
    assert help.retrieve_batch([]) == []


def test_one_passage():
    help = HELP.build(["Lima is in Peru."], [[("Lima", "in", "Peru")]])
    evidence = help.retrieve("Where is Lima?")
    assert [(one.id, one.found) for one in evidence.passages] == [("0", "path")]
    assert evidence.hypernodes[0].triples == [("Lima", "in", "Peru")]
    assert evidence.hypernodes[0].passages == [0]


def test_no_triples_is_dense_retrieval():
    texts = ["the sun is hot", "", "water is wet", "   ", "the moon is cold"]
    help = HELP.build(texts, scorer="composition")
    evidence = help.retrieve("is water wet")
    assert evidence.passages[0].text == "water is wet"
    assert len(evidence.passages) == 5
    assert {one.found for one in evidence.passages} == {"dense"}
    assert list(evidence.hypernodes) == []
    answer = help.answer("is water wet")
    assert (answer.entities, answer.citations, answer.llm_calls) == ([], [0, 1, 2, 3, 4], 0)


def test_a_question_without_words():
    stated = corpus(2)
    help = built(stated, HashingEncoder(64))
    evidence = help.retrieve("  ")
    assert len(evidence.passages) == 5
    assert all(one.distance == pytest.approx(math.sqrt(2)) for one in evidence.hypernodes)
    assert plain(evidence) == plain(help.retrieve("\t"))


class Odd(WordVectors):
    """Some texts have no vector, or one that is no number."""

    def encode(self, texts):
        rows = super().encode(texts)
        for place, text in enumerate(texts):
            if "zero" in text:
                rows[place] = 0
            if "broken" in text:
                rows[place] = np.nan
        return rows


@pytest.mark.parametrize("scorer", ["composition", "encoder", "cascade"])
@pytest.mark.parametrize("context", [0.0, 0.5])
def test_zero_and_broken_embeddings_lose_nothing(scorer, context):
    stated = {
        Passage("good", "good"): [("A", "r", "B"), ("B", "r", "C")],
        Passage("zero", "zero"): [("B", "zero", "D"), ("A", "r", "B")],
        Passage("broken", "broken"): [("B", "broken", "E"), ("X", "broken", "Y")],
    }
    help = built(stated, Odd(), scorer=scorer, n=10, k=50, context=context, relevance=context)
    evidence = help.retrieve("question")
    assert {one.id for one in evidence.passages} == {"good", "zero", "broken"}
    assert all(math.isfinite(one.distance) for one in evidence.hypernodes)
    assert all("broken" not in text_of(one.triples) for one in evidence.hypernodes)
    by_path = [one for one in evidence.passages if one.found == "path"]
    assert {one.id for one in by_path} == {"good", "zero"}
    assert all(math.isfinite(one.score) for one in by_path)
    assert evidence.passages[-1].id == "broken"
    with pytest.raises(ValueError, match="gave NaN or infinity for a question"):
        help.retrieve("a broken question")


def test_a_large_passage_and_hostile_names():
    names = ['a"b', "tab\there", "Перу -> 秘鲁", "(x, y); {z}", "it's 😀"]
    text = "word " * 200_000
    passages = [{"id": "big", "text": text}, {"id": names[2], "text": names[3], "title": names[4]}]
    help = HELP.build(passages, [[], [(names[0], names[1], names[2])]])
    evidence = help.retrieve(names[0])
    found = {one.id: one for one in evidence.passages}
    assert found["big"].text == text
    assert (found[names[2]].text, found[names[2]].title) == (names[3], names[4])
    assert evidence.hypernodes[0].triples == [(names[0], names[1], names[2])]


# --- flat search


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_flat_search_is_exact_alone_and_in_batches(dtype):
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((5000, 24)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[100:140] = rows[7]  # ties
    rows[200] = np.nan
    rows[300] = 0
    rows = rows.astype(dtype)
    ranks = rng.permutation(len(rows)).astype(np.int64)
    queries = np.concatenate([rows[5:9], rng.standard_normal((20, 24))]).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    search = FlatSearch(rows, ranks)
    for k in (1, 7, 50):
        batch = search.search(queries, k)
        for query, found in zip(queries, batch, strict=True):
            exact = np.minimum((rows.astype(float) * query.astype(float)).sum(axis=1), 1.0)
            assert found.rows.tolist() == np.lexsort((ranks, -exact))[:k].tolist()
            assert found.scores.tobytes() == exact[found.rows].tobytes()
            alone = search.search(query[None], k)[0]
            assert alone.rows.tobytes() == found.rows.tobytes()
            assert alone.scores.tobytes() == found.scores.tobytes()
    everything = search.search(queries[:2], 10_000)
    assert all(one.rows[-1] == 200 and len(one.rows) == 5000 for one in everything)
    assert search.search(queries[:0], 3) == []
    assert [len(one.rows) for one in FlatSearch(rows[:0]).search(queries[:3], 5)] == [0, 0, 0]


@pytest.mark.parametrize("many", [True, False])
def test_a_large_batch_is_searched_in_blocks(monkeypatch, many):
    from hyperhop.help import dense

    rng = np.random.default_rng(4)
    rows = rng.standard_normal((5000 if many else 300, 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    queries = rows[:30]
    whole = FlatSearch(rows).search(queries, 9)
    monkeypatch.setattr(dense, "_SCORES", 1)
    for one, other in zip(whole, FlatSearch(rows).search(queries, 9), strict=True):
        assert one.rows.tolist() == other.rows.tolist()
        assert one.scores.tobytes() == other.scores.tobytes()


def test_distances_come_from_the_difference():
    query = np.array([1.0, 0, 0])
    tiny = np.array([np.cos(1e-6), np.sin(1e-6), 0])
    rows = np.stack([query, tiny, -query, np.zeros(3), [np.nan, 0, 0]])
    found = distances(rows, query)
    assert found[:4] == pytest.approx([0, 1e-6, 2, math.sqrt(2)], rel=1e-9)
    assert np.isnan(found[4])
    assert distances(rows[:1], np.zeros(3)).tolist() == [math.sqrt(2)]


# --- arguments and the shared shape


def test_bad_arguments():
    index = build_index(["a"], [[]])
    for settings, message in (
        (
            {"scorer": "best"},
            "HELP: scorer must be one of composition, encoder, cascade, got 'best'",
        ),
        ({"weighting": "w"}, "HELP: weighting must be one of inverse, root, equal, got 'w'"),
        ({"levels": 0}, "HELP: levels must be at least 1, got 0"),
        ({"n": 0}, "HELP: n must be at least 1, got 0"),
        ({"k": 0}, "HELP: k must be at least 1, got 0"),
        ({"quota": -1}, "HELP: quota must be at least 0, got -1"),
        ({"passages": 0}, "HELP: passages must be at least 1, got 0"),
        ({"sharpness": -1}, "HELP: sharpness must be from 0 to 100, got -1"),
        ({"context": math.nan}, "HELP: context must be from 0 to 10, got nan"),
        ({"relevance": math.inf}, "HELP: relevance must be from 0 to 100, got inf"),
        ({"lexical": 1.5}, "HELP: lexical must be from 0 to 1, got 1.5"),
    ):
        with pytest.raises(ValueError, match=message):
            HELP(index, **settings)
    for settings in ({"levels": 1.5}, {"k": "9"}, {"keep_parents": 1}):
        with pytest.raises(TypeError, match="HELP: "):
            HELP(index, **settings)
    help = HELP(index)
    with pytest.raises(ValueError, match="HELP: it takes no topic"):
        help.retrieve("q", "Lima")
    with pytest.raises(ValueError, match="HELP: it takes no topic"):
        help.retrieve_batch(["q", "r"], [None, "Lima"])
    with pytest.raises(ValueError, match="2 questions, but 1 topics"):
        help.retrieve_batch(["q", "r"], [None])
    with pytest.raises(TypeError, match="question must be str, got int"):
        help.retrieve(3)
    with pytest.raises(ValueError, match="made with the encoder 'hashing"):
        HELP(index, encoder="wordllama")


def test_the_shared_shape():
    help = hh.HELP.build(
        [{"text": "Ann was born in Lima.", "title": "Ann"}, "Lima is in Peru."],
        [[("Ann", "born in", "Lima")], [("Lima", "is in", "Peru")]],
    )
    assert RetrievalSettings() == help.settings
    evidence = help.retrieve("In which country was Ann born?")
    assert isinstance(evidence, Evidence)
    assert set(evidence.timings) == {"encode", "seeds", "expand", "dense", "locate"}
    answer = help.answer("In which country was Ann born?")
    assert (answer.text, answer.entities, answer.llm_calls) == ("Peru", ["Peru"], 0)
    cited = [evidence.passages[place] for place in answer.citations]
    assert {one.text for one in cited} == {"Ann was born in Lima.", "Lima is in Peru."}
    assert "read" in answer.timings
    told = []
    answers = help.answer_batch(
        ["In which country was Ann born?"] * 3, progress=lambda *p: told.append(p)
    )
    assert [one.entities for one in answers] == [["Peru"]] * 3
    assert told[-1] == (3, 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("dim", [1, 15, 16, 33, 384])
def test_codes_are_near_their_rows(isa, dtype, dim):
    rng = np.random.default_rng(dim)
    rows = rng.standard_normal((50, dim)).astype(dtype)
    rows[3] = 0
    rows[4, -1] = np.nan
    rows[5, 0] = -np.inf
    rows[6] = 1e-40 if dtype == np.float32 else 6e-8
    codes, scales, errors = _core.code_rows(rows, 1)
    assert codes.dtype == np.int8
    for number, (row, code) in enumerate(zip(rows.astype(float), codes.astype(float), strict=True)):
        if number in (4, 5):
            assert np.isnan([scales[number], errors[number]]).all()
            assert not code.any()
            continue
        lost = np.sqrt(((row - scales[number] * code) ** 2).sum())
        assert lost <= errors[number]
        if number != 6:  # too small for codes, of float32
            assert errors[number] <= 1.01 * np.abs(row).max() / 127 * np.sqrt(dim)


@given(st.integers(1, 40), st.integers(0, 99), st.integers(1, 6), st.integers(1, 9))
def test_codes_never_miss_a_row(isa, dim, seed, k, count):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((200, dim))
    rows[seed % 7 :: 9] = rows[0] + 1e-3 * rng.standard_normal((len(rows[seed % 7 :: 9]), dim))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    queries = rows[rng.permutation(200)[:count]] * (np.arange(count) % 5 > 0)[:, None]
    extra = rng.random((count, 200)) if seed % 3 else None
    scores = queries.astype(float) @ rows.T.astype(float) + (0 if extra is None else extra)
    codes = RowCodes(rows)
    found = codes.candidates(queries, k, 1, extra)
    for place, (row, one) in enumerate(zip(scores, found, strict=True)):
        best = np.sort(row)[-k]
        assert set(np.flatnonzero(row >= best)) <= set(one.tolist())
        assert (row[one] >= best - 0.1 * np.sqrt(dim)).all() or not queries[place].any()
        more = None if extra is None else extra[place : place + 1]
        (alone,) = codes.candidates(queries[place : place + 1], k, 1, more)
        assert np.array_equal(alone, one)


def test_codes_of_many_rows_are_alike_for_any_threads_and_batch(isa):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((20_000, 33)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[::50] = np.nan
    queries = rows[1:8]
    codes = RowCodes(rows)
    found = codes.candidates(queries, 5, 1)
    assert max(map(len, found)) < 2000
    for threads in (2, 3):
        for one, other in zip(found, codes.candidates(queries, 5, threads), strict=True):
            assert np.array_equal(one, other)
    for place, one in enumerate(found):
        assert np.array_equal(one, codes.candidates(queries[place : place + 1], 5, 1)[0])
    few = RowCodes(rows[::50])  # no numbers at all
    assert np.array_equal(few.candidates(queries[:1], 5, 1)[0], np.arange(400))


# --- words


def test_shares_of_a_questions_words():
    texts = ["The cat sat", "a Cat, a dog!", "", "dog dog dog", "ＣＡＴ naïve"]
    wording = Wording.of(texts)
    rare = math.log(1 + 4.5 / 1.5)
    cat = math.log(1 + 2.5 / 3.5)
    nowhere = math.log(1 + 5.5 / 0.5)
    total = rare + cat + nowhere
    found = wording.shares("sat, cat cat zebra?")
    expected = [(rare + cat) / total, cat / total, 0, 0, cat / total]
    assert found == pytest.approx(expected, abs=1e-12)
    assert wording.shares(" ?! ").tolist() == [0] * 5
    assert Wording.of([]).shares("cat").tolist() == []


def test_words_help_dense_retrieval():
    texts = [f"filler {number}" for number in range(6)] + ["the zebra of filler"]
    encoder = WordVectors()
    plain_order = HELP.build(texts, None, encoder, quota=0, passages=7).retrieve("a zebra")
    helped = HELP.build(texts, None, encoder, quota=0, passages=7, lexical=1.0)
    evidence = helped.retrieve("a zebra")
    assert evidence.passages == sorted(evidence.passages, key=lambda one: -one.score)
    assert [one.id for one in evidence.passages] != [one.id for one in plain_order.passages]
    scores = {one.id: one.score for one in plain_order.passages}
    shares = Wording.of(texts).shares("a zebra")
    for one in evidence.passages:
        assert one.score == pytest.approx(scores[one.id] + shares[int(one.id)], abs=1e-12)
    batch = helped.retrieve_batch(["a zebra"] * 9 + ["filler 3"])
    assert plain(batch[0]) == plain(evidence)
    assert plain(batch[-1]) == plain(helped.retrieve("filler 3"))


def test_sharpness_lets_the_nearest_decide():
    stated = corpus(11)
    encoder = WordVectors()
    for sharpness in (0.0, 1.0, 7.5):
        help = built(stated, encoder, sharpness=sharpness, quota=9, passages=9)
        evidence = help.retrieve("question")
        scores = {}
        for one in evidence.hypernodes:
            for triple in one.triples:
                for passage, triples in stated.items():
                    if triple in triples:
                        share = math.exp(-sharpness * one.distance) / len(set(triples))
                        scores[passage.id] = scores.get(passage.id, 0.0) + share
        for one in evidence.passages:
            if one.found == "path":
                assert one.score == pytest.approx(scores[one.id], abs=1e-6)


def test_context_draws_triples_towards_their_passages():
    stated = corpus(12, passages=20)
    encoder = WordVectors()
    plain_help = built(stated, encoder, n=3, k=6)
    help = built(stated, encoder, n=3, k=6, context=0.7)

    def vector(text, encoder=encoder):
        return encoder.encode([text])[0].astype(np.float64)

    rows = {}
    for triple in {triple for triples in stated.values() for triple in triples}:
        around = sum(vector(p.full_text) for p, triples in stated.items() if triple in triples)
        row = vector(text_of([triple])) + 0.7 * around / np.linalg.norm(around)
        rows[text_of([triple])] = row / np.linalg.norm(row)
    differ = 0
    for question in QUESTIONS:
        expected = algorithm_1(
            {triple for triples in stated.values() for triple in triples},
            vector(question),
            rows.__getitem__,
            measure=composed,
            levels=2,
            n=3,
            k=6,
        )
        found = found_hypernodes(help.retrieve(question))
        assert found == expected
        differ += found != found_hypernodes(plain_help.retrieve(question))
    assert differ


@pytest.mark.parametrize("lexical", [0.0, 0.5])
def test_relevance_multiplies_the_score_of_a_path(lexical):
    stated = corpus(13, passages=15)
    encoder = WordVectors()
    settings = {"quota": 15, "passages": 15, "lexical": lexical}
    question = "text 3 of E1"
    before = built(stated, encoder, **settings).retrieve(question)
    after = built(stated, encoder, relevance=3.0, **settings).retrieve(question)
    dense = built(stated, encoder, **settings | {"quota": 0}).retrieve(question)
    similar = {one.id: one.score for one in dense.passages}
    expected = {
        one.id: one.score * math.exp(3.0 * (similar[one.id] - 1))
        for one in before.passages
        if one.found == "path"
    }
    found = {one.id: one.score for one in after.passages if one.found == "path"}
    assert found == pytest.approx(expected, rel=1e-9)
    assert list(found) == sorted(expected, key=lambda name: -expected[name])


def test_every_switch_at_once_alone_in_a_batch_and_in_any_order():
    stated = corpus(14, passages=30)
    settings = {"context": 0.5, "lexical": 0.5, "relevance": 10.0, "sharpness": 3.0, "quota": 3}
    settings["named"] = 0.2
    help = built(stated, HashingEncoder(64), **settings)
    questions = [f"E{i} r text {i} title {i}" for i in range(12)]
    expected = [plain(help.retrieve(question)) for question in questions]
    assert [plain(one) for one in help.retrieve_batch(questions)] == expected
    items = list(stated.items())
    random.Random(1).shuffle(items)
    other = built(dict(items), HashingEncoder(64), **settings)
    assert [plain(one) for one in other.retrieve_batch(questions)] == expected


def test_titles_that_a_question_names():
    titles = Titles(["Ann Lee", "", "ANN lee (singer)", "Lee", "(film)", "C++", "東京", "Ann Lee"])
    assert titles.named("Was ann  LEE here?").tolist() == [0, 2, 3, 7]
    assert titles.named("Lees and Anna").tolist() == []
    assert titles.named("c 東京 film").tolist() == [5, 6]
    assert titles.named("").tolist() == []
    assert Titles([]).named("Ann").tolist() == []


def test_named_passages_rise_and_seed():
    stated = corpus(15, passages=16)
    encoder = WordVectors()
    settings = {"levels": 1, "n": 4, "passages": 16}
    question = "what of title 2"
    dense = built(stated, encoder, quota=0, **settings).retrieve(question)
    helped = built(stated, encoder, quota=0, named=0.3, **settings).retrieve(question)
    before = {one.id: one.score for one in dense.passages}
    titles = {passage.id: passage.title for passage in stated}
    for one in helped.passages:
        bonus = 0.3 if titles[one.id] == "title 2" else 0.0
        assert one.score == pytest.approx(before[one.id] + bonus, abs=1e-12)
    query = encoder.encode([question])[0].astype(float)

    def seed(triple):
        named = any(p.title == "title 2" and triple in triples for p, triples in stated.items())
        return float(encoder.encode([text_of([triple])])[0] @ query) + 0.3 * named

    triples = {triple for listed in stated.values() for triple in listed}
    best = sorted(triples, key=lambda triple: -seed(triple))[:4]
    found = found_hypernodes(helped)
    assert set(found) == {frozenset([triple]) for triple in best}
    assert found != found_hypernodes(dense)
    # distances are plain ones: what is named seeds, and is no nearer for that
    apart = {frozenset(one.triples): one.distance for one in dense.hypernodes}
    assert all(one.distance == apart.get(frozenset(one.triples), one.distance)
               for one in helped.hypernodes)  # fmt: skip
