"""Entities in running text."""

import os
import pickle
import random
import unicodedata
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperhop import KnowledgeGraph, PathHD
from hyperhop._core import FoldedNames
from hyperhop.evaluate import pathquestion
from hyperhop.graph import DamagedStore, EntityLinker, UnknownRelation
from hyperhop.graph.names import fold
from strategies_graph import any_triples, names


def graph(*entities):
    return KnowledgeGraph.from_triples([(name, "r", name) for name in entities])


def linker(*entities, **options):
    return EntityLinker(graph(*entities), **options)


def linked(link, text):
    return [(match.name, text[slice(*match.span)], match.score) for match in link.link(text)]


def kinds(link, text):
    return [(match.name, text[slice(*match.span)], match.how) for match in link.link(text)]


CITIES = [
    ("q1", "label", "Cologne"),
    ("q1", "also", "Köln"),
    ("q1", "also", "Colonia"),
    ("q2", "label", "Colonia"),
    ("q1", "in", "Germany"),
    ("q2", "in", "Uruguay"),
]


@pytest.mark.parametrize(
    ("name", "text", "mention"),
    [
        ("Peru", "What borders Peru?", "Peru"),
        ("Peru", "what borders PERU", "PERU"),
        ("Peru", "What is Peru's currency?", "Peru"),
        ("Peru", "What is Peru\u2019s currency?", "Peru"),
        ("Peru", "peru 's currency", "peru"),
        ("Peru", '("Peru", perhaps)', "Peru"),
        ("James", "James' father", "James"),
        ("United Kingdom", "is the united  kingdom large?", "united  kingdom"),
        ("united_kingdom", "is the United Kingdom large?", "United Kingdom"),
        ("United Kingdom", "is united_kingdom large?", "united_kingdom"),
        (
            "frederica_of_mecklenburg-strelitz",
            "which nationality is frederica_of_mecklenburg-strelitz 's couple ?",
            "frederica_of_mecklenburg-strelitz",
        ),
        ("(500) Days of Summer", "who acted in (500) days of summer?", "(500) days of summer"),
        ("Who's Afraid?", "see Who's Afraid?, please", "Who's Afraid?"),
        ("O'Brien", "what did O'Brien write", "O'Brien"),
        ("Italie", "la capitale de l'Italie", "Italie"),
        ("Zoë", "zoe\u0308 or ZOË", "zoe\u0308"),
        ("Straße", "die STRASSE", "STRASSE"),
        ("秘鲁", "秘鲁的首都是什么", "秘鲁"),
        ("हिन्दी", "who speaks हिन्दी?", "हिन्दी"),
        ("_: x", "is _: x?", "_: x"),
        ("C++", "is C++ old?", "C++"),
        ("A, B", "what is A, B?", "A, B"),
    ],
)
def test_mentions(name, text, mention):
    found = linked(linker(name, "unrelated"), text)
    assert found[0] == (name, mention, 1.0 if name == mention else 0.9)


@pytest.mark.parametrize(
    "text", ["", " ", "Perugia", "Superu", "don't", "it's", "Per u", "\ud800", "_", "?"]
)
def test_no_mention(text):
    assert linker("Peru", "s", "t").link(text) == []


def test_longest_first_then_leftmost():
    link = linker("New York", "New York City", "York", "Peru", "City", "Lima")
    text = "Lima, York and New York City, not Peru"
    assert [name for name, _, _ in linked(link, text)] == ["New York City", "Lima", "York", "Peru"]


def test_partly_overlapping_mentions():
    assert [
        n for n, _, _ in linked(linker("New York", "York City Hall"), "New York City Hall")
    ] == ["York City Hall"]


def test_ambiguous_names_are_all_returned():
    link = linker("apple", "Apple", "APPLE", "pear")
    assert linked(link, "an Apple") == [
        ("Apple", "Apple", 1.0),
        ("APPLE", "Apple", 0.9),
        ("apple", "Apple", 0.9),
    ]


def test_wrong_kinds():
    with pytest.raises(TypeError, match="EntityLinker: kg must be a KnowledgeGraph, got str"):
        EntityLinker("kg")
    with pytest.raises(TypeError, match="link: text must be str, got NoneType"):
        linker("a").link(None)
    assert EntityLinker(KnowledgeGraph.from_triples([])).link("anything") == []


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(codec="ascii"), max_size=12))
def test_compiled_folding_of_ascii_equals_fold(name):
    if not name:
        return
    kg = KnowledgeGraph.from_triples([(name, "r", name)])

    def refuse(text):
        raise AssertionError(text)

    assert FoldedNames(kg._entities, refuse).find(fold(name)) == [0]


@settings(max_examples=100, deadline=None)
@given(names)
def test_a_name_is_found_between_other_words(name):
    name = name.strip()
    if not name.strip("_"):
        return
    text = f"xyz {name} xyz"
    if fold(text) != f"xyz {fold(name)} xyz":
        return  # the name begins with a mark that joins the space before it
    assert linked(linker(name), text) == [(name, name, 1.0)]


@settings(max_examples=100, deadline=None)
@given(any_triples, st.lists(names, max_size=6))
def test_matches_are_disjoint_and_fold_alike(triples, words):
    kg = KnowledgeGraph.from_triples(triples)
    text = " ".join([*words, *kg.entity_names(range(min(3, kg.num_entities)))])
    spans = []
    for match in EntityLinker(kg).link(text):
        start, end = match.span
        assert fold(text[start:end]) == fold(match.name)
        assert kg.entity_id(match.name) == match.entity
        spans.append((start, end))
    assert spans == sorted(spans, key=lambda span: (span[0] - span[1], span[0]))
    distinct = sorted(set(spans))
    assert all(a[1] <= b[0] for a, b in pairwise(distinct))


# Spans


@pytest.mark.parametrize(
    ("name", "text", "mention", "how"),
    [
        ("Málaga", "is Málaga hot?", "Málaga", "exact"),
        ("Málaga", unicodedata.normalize("NFD", "is Málaga hot?"), "Ma\u0301laga", "folded"),
        ("Málaga", "is MÁLAGA hot?", "MÁLAGA", "folded"),
        ("Tokyo", "ｗｈｅｒｅ　ｉｓ　Ｔｏｋｙｏ？", "Ｔｏｋｙｏ", "folded"),
        ("🙂 bar", "👩‍👩‍👧 at the 🙂 bar 👍🏽", "🙂 bar", "exact"),
        ("ﬁn", "the fin", "fin", "folded"),
        ("İzmir", "where is i\u0307zmir", "i\u0307zmir", "folded"),
        ("a\u00a0b", "x a b y", "a b", "folded"),
        ("ẞ", "in ss.", "ss", "folded"),
    ],
)
def test_spans_count_characters_of_the_text_as_it_is(name, text, mention, how):
    assert kinds(linker(name), text) == [(name, mention, how)]


PLANTED = names.map(str.strip).filter(
    lambda name: name.strip("_") and not unicodedata.category(name[0]).startswith("M")
)


@given(st.lists(PLANTED, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_every_exact_name_between_separators_is_found(planted, random_state):
    separator = " ☃☃ "
    planted = [name for name in planted if "☃" not in name]
    random_state.shuffle(planted)
    text = separator + separator.join(planted) + separator
    found = {(m.name, m.span) for m in linker(*planted).link(text) if m.how == "exact"}
    end = 0
    for name in planted:
        start = end + len(separator)
        end = start + len(name)
        assert (name, (start, end)) in found


@pytest.mark.parametrize(
    "text",
    [
        "\0",
        "'; DROP TABLE entities; --",
        "(.*)+$",
        "%s{0}\\x00",
        "a" * 10_000,
        "_" * 99,
        "\ud800 \udfff",
    ],
)
def test_odd_text_means_nothing_special(text):
    link = linker("Peru", aliases={"Perú": "Peru"})
    assert link.link(text) == []
    assert kinds(link, f"{text}? Peru")[-1:] == [("Peru", "Peru", "exact")]
    assert link.candidates(text) == []


# Aliases


def test_aliases_of_a_mapping():
    link = linker(
        "Peru", "Peru (book)", aliases={"Inca land": "Peru", "PE": ["Peru", "Peru (book)"]}
    )
    assert kinds(link, "is inca  land large?") == [("Peru", "inca  land", "alias")]
    assert [(m.name, m.score) for m in link.link("PE")] == [("Peru", 0.8), ("Peru (book)", 0.8)]
    assert [(m.name, m.score) for m in link.link("pe")] == [("Peru", 0.75), ("Peru (book)", 0.75)]
    assert kinds(link, "in Peru") == [("Peru", "Peru", "exact")]


def test_a_name_comes_before_an_alias_of_the_same_text():
    link = linker("Paris", "Paris, Texas", aliases={"paris": "Paris, Texas", "Paris": "Paris"})
    assert kinds(link, "Paris") == [("Paris", "Paris", "exact"), ("Paris, Texas", "Paris", "alias")]


def test_aliases_of_a_table(tmp_path):
    table = tmp_path / "aliases.tsv"
    table.write_bytes("\ufeffthe land\tPeru\r\n\n PE \tPeru\n".encode())
    link = linker("Peru", aliases=table)
    assert kinds(link, "the land: PE") == [("Peru", "the land", "alias"), ("Peru", "PE", "alias")]
    assert kinds(linker("Peru", aliases=str(table)), "pe") == [("Peru", "pe", "alias")]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            b"a\tPeru\nb\tPero\n",
            "line 2: the graph has no entity named 'Pero'; did you mean 'Peru'?",
        ),
        (b"a\tPeru\nb\n", "line 2: expected alias TAB entity name, got 1 fields"),
        (b"a\tb\tPeru\n", "line 1: expected alias TAB entity name, got 3 fields"),
        (b" \tPeru\n", "line 1: the alias is empty"),
        (b"a\tPeru\n\xff\tPeru\n", "not UTF-8"),
    ],
)
def test_wrong_tables_name_the_line(tmp_path, lines, message):
    table = tmp_path / "aliases.tsv"
    table.write_bytes(lines)
    with pytest.raises(ValueError, match="EntityLinker: aliases, ") as error:
        linker("Peru", aliases=table)
    assert message in str(error.value)
    assert str(table) in str(error.value)


@pytest.mark.parametrize(
    ("aliases", "message"),
    [
        (3, "must be a mapping"),
        ({"a": 3}, "alias 'a': expected an entity name or several, got int"),
        ({"a": ["Peru", 3]}, "alias 'a': expected str, got int"),
        ({3: "Peru"}, "alias 3: expected str, got int"),
    ],
)
def test_wrong_kinds_of_aliases(aliases, message):
    with pytest.raises(TypeError) as error:
        linker("Peru", aliases=aliases)
    assert message in str(error.value)


def test_wrong_aliases():
    with pytest.raises(ValueError, match="alias 'a': the graph has no entity named 'Pero'"):
        linker("Peru", aliases={"a": "Pero"})
    with pytest.raises(ValueError, match="lone surrogate"):
        linker("Peru", aliases={"\ud800": "Peru"})
    with pytest.raises(FileNotFoundError):
        linker("Peru", aliases="no such table")
    assert linker("Peru", aliases={}).link("a") == []


def test_tails_of_alias_relations_mean_their_heads():
    kg = KnowledgeGraph.from_triples(CITIES)
    link = EntityLinker(kg, alias_relations=["label", "also"])
    assert kinds(link, "where is Cologne") == [
        ("Cologne", "Cologne", "exact"),
        ("q1", "Cologne", "alias"),
    ]
    assert kinds(link, "where is COLONIA?") == [
        ("Colonia", "COLONIA", "folded"),
        ("q1", "COLONIA", "alias"),
        ("q2", "COLONIA", "alias"),
    ]
    assert [m.score for m in link.link("KÖLN")] == [0.9, 0.75]
    assert kinds(link, "Germany") == [("Germany", "Germany", "exact")]
    assert kinds(EntityLinker(kg, alias_relations=["label"]), "Köln") == [("Köln", "Köln", "exact")]
    with pytest.raises(UnknownRelation, match="alsoo"):
        EntityLinker(kg, alias_relations=["alsoo"])
    with pytest.raises(TypeError, match="alias_relations must be several str, got 'also'"):
        EntityLinker(kg, alias_relations="also")


def test_damage():
    kg = KnowledgeGraph.from_triples(CITIES)
    arrays = {**kg._arrays, "in_heads": np.full_like(kg._arrays["in_heads"], 99)}
    damaged = EntityLinker(KnowledgeGraph(arrays), alias_relations=["label"])
    with pytest.raises(DamagedStore, match="neighbours"):
        damaged.link("Cologne")


# Keys


@pytest.mark.parametrize(
    "key",
    [fold, str.upper, lambda text: text[::-1], lambda text: text[1:], lambda text: text[:2] + "b"],
    ids=["fold", "upper", "reversed", "rest", "start"],
)
@given(
    entities=st.lists(
        names | st.sampled_from("aAbBß") | st.just("ß\u0301"), min_size=1, max_size=12
    )
)
def test_keys_find_what_comparing_all_names_finds(key, entities):
    """Whether or not a key is its own key: names that are theirs are looked up elsewhere."""
    kg = graph(*entities)
    folded = FoldedNames(kg._entities, key, ascii=key is fold)
    every = kg.entity_names(range(kg.num_entities))
    for text in {*every, *map(key, every), *(key(key(name)) for name in every)} - {""}:
        assert folded.find(text) == [i for i, name in enumerate(every) if key(name) == text]
        if folded.find(text):
            assert all(folded.has_prefix(text[:i]) for i in range(len(text)))
    assert folded.keys() == sorted({key(name) for name in every} - {""})


def test_folding_twice_differs_from_folding_once():
    twice = fold(fold("ß\u0301"))
    assert twice != fold("ß\u0301")
    link = linker("ß\u0301", twice)
    assert kinds(link, "ß\u0301") == [("ß\u0301", "ß\u0301", "exact")]
    assert kinds(link, twice) == [(twice, twice, "exact")]


def test_a_normalisation_of_ones_own():
    def sorted_words(text):
        return " ".join(sorted(fold(text.replace(",", " ")).split()))

    link = linker("Lovelace, Ada", "Peru", normalize=sorted_words, aliases={"Land, big": "Peru"})
    assert kinds(link, "Who was Ada Lovelace?") == [("Lovelace, Ada", "Ada Lovelace", "folded")]
    assert kinds(link, "a big land") == [("Peru", "big land", "alias")]
    assert kinds(link, "in Peru") == [("Peru", "Peru", "exact")]
    short = linker("a b c", normalize=sorted_words, max_words=2)
    assert short.link("a b c") == []
    assert linker("Peru", normalize=lambda text: "").link("Peru") == []


def test_wrong_normalisations():
    with pytest.raises(TypeError, match="normalize must be callable, got str"):
        linker("Peru", normalize="fold")
    with pytest.raises(TypeError, match="normalize must return str, got int"):
        linker("Peru", normalize=len).link("Peru")
    with pytest.raises(ValueError, match="normalize returned a lone surrogate for 'Peru'"):
        linker("Peru", normalize=lambda text: "\ud800").link("Peru")


def test_stop_words():
    words = "Who knows IT in New York"
    link = linker("who", "It", "In", "The Who", "New York", stop_words=["WHO", "it"])
    assert kinds(link, words) == [("New York", "New York", "exact"), ("In", "in", "folded")]
    assert kinds(link, "the who") == [("The Who", "the who", "folded")]
    assert [m.name for m in link.candidates("who")] == ["who"]
    with pytest.raises(TypeError, match="stop_words must be several str"):
        linker("who", stop_words="who")


# Likeness


TOWNS = [
    f"{a}{b}{c} {d}"
    for a in ("Stein", "Neu", "Alt", "Ober", "Wester", "Wald", "Gross", "Klein")
    for b in ("bach", "berg", "burg", "moor", "dorf", "hausen", "stadt", "kirchen", "see", "tal")
    for c in ("", "en", "ingen", "lein", "er", "isch", "itz", "au")
    for d in ("Nord", "West", "am Rhein", "an der Isar", "im Wald", "ob der Tauber", "bei Ulm")
]


@pytest.mark.needs("link")
@pytest.mark.parametrize("entities", [TOWNS[:500], TOWNS], ids=["all", "candidates"])
def test_fuzzy(entities):
    """Up to 4,000 names are all compared; of more those that share trigrams."""
    link = linker(*entities, "Zürich", fuzzy=85)
    text = "what lies between Zürch and Steinbahc am Rhein, or Steinbach West?"
    first, *_, last = link.link(text)
    assert (first.name, first.how) == ("Steinbach West", "exact")
    assert (last.name, text[slice(*last.span)], last.how) == ("Zürich", "Zürch", "fuzzy")
    best = next(m for m in link.link(text) if text[slice(*m.span)] == "Steinbahc am Rhein")
    assert (best.name, best.how) == ("Steinbach am Rhein", "fuzzy")
    assert best.score == pytest.approx(0.5 + 0.2 * 34 / 36)
    assert linker(*entities, fuzzy=100).link("Steinbahc am Rhein") == []


@pytest.mark.needs("link")
def test_candidates_of_many_names_are_those_of_all():
    """One typo anywhere: what comparing all 4,480 names ranks first is among the candidates."""
    from rapidfuzz import fuzz, process

    kg = graph(*TOWNS)
    link = EntityLinker(kg, fuzzy=70)
    keys = [fold(name) for name in TOWNS]
    state = random.Random(0)
    for name in state.sample(TOWNS, 60):
        place = state.randrange(len(name))
        typo = name[:place] + state.choice("aeinrst") + name[place + state.randrange(2) :]
        best = process.extract(fold(typo), keys, scorer=fuzz.ratio, limit=None)
        expected = {TOWNS[i] for _, ratio, i in best if ratio == best[0][1]}
        found = link.candidates(typo, k=len(expected))
        assert {m.name for m in found} == expected
        if found[0].how == "fuzzy":
            assert found[0].score == pytest.approx(0.5 + 0.002 * best[0][1])


@pytest.mark.needs("link")
def test_fuzzy_through_aliases():
    kg = KnowledgeGraph.from_triples(CITIES)
    link = EntityLinker(
        kg, alias_relations=["label", "also"], aliases={"Agrippina": "q1"}, fuzzy=80
    )
    assert kinds(link, "in Colognne") == [
        ("Cologne", "Colognne", "fuzzy"),
        ("q1", "Colognne", "fuzzy"),
    ]
    assert kinds(link, "in Agripina") == [("q1", "Agripina", "fuzzy")]


@pytest.mark.needs("link")
def test_fuzzy_ties_by_name_and_top():
    link = linker("Petu", "Peru", "Pezu", fuzzy=70, top=2)
    assert [m.name for m in link.link("Pegu")] == ["Peru", "Petu"]
    assert [m.name for m in link.candidates("Pegu", k=3)] == ["Peru", "Petu", "Pezu"]
    assert linker("Peru", fuzzy=60, stop_words=["per"]).link("Per") == []
    assert linker("ab", fuzzy=60).link("abc abe ac") != []
    assert linker("ab", fuzzy=60).link("ac") == []  # under three characters


@pytest.mark.needs("link")
def test_small_and_odd_graphs():
    assert EntityLinker(KnowledgeGraph.from_triples([]), fuzzy=80).link("Peru") == []
    assert EntityLinker(KnowledgeGraph.from_triples([]), fuzzy=80).candidates("Peru") == []
    link = linker(*TOWNS, "\0", "𐍈𐍈𐍈𐍈", "\uffff" * 70, fuzzy=60)
    assert kinds(link, "𐍈𐍈x𐍈𐍈") == [("𐍈𐍈𐍈𐍈", "𐍈𐍈x𐍈𐍈", "fuzzy")]
    assert link.candidates("\ud800" * 9) == []
    assert link.link("\ud800" * 9) == []


def test_a_missing_extra_is_named():
    import importlib.util

    if importlib.util.find_spec("rapidfuzz"):
        pytest.skip("rapidfuzz is installed")
    with pytest.raises(ImportError, match=r"fuzzy needs the extra 'link'"):
        linker("Peru", fuzzy=80)


# Meaning


class Letters:
    """Counts of letters, as an encoder; counts what it is asked for."""

    name = "letters"
    dim = 26

    def __init__(self):
        self.asked = 0

    def encode(self, texts):
        self.asked += len(texts)
        rows = np.zeros((len(texts), 26), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for letter in text.lower():
                if "a" <= letter <= "z":
                    row[ord(letter) - 97] += 1
            row /= max(np.sqrt((row * row).sum()), 1)
        return rows


def test_dense():
    encoder = Letters()
    link = linker("silent", "peru", "enlist", "tinsel_x", encoder=encoder, min_score=0.9, top=3)
    assert kinds(link, "a listen?") == [
        ("enlist", "listen", "dense"),
        ("silent", "listen", "dense"),
        ("tinsel_x", "listen", "dense"),
    ]
    scores = [m.score for m in link.link("listen")]
    assert scores == pytest.approx([0.5, 0.5, 0.5 * 6 / 42**0.5])
    assert max(scores) <= 0.5
    before = encoder.asked
    assert kinds(link, "up er") == [("peru", "up er", "dense")]
    assert encoder.asked - before == 3  # up, er, up er: names are encoded once
    assert kinds(link, "silent") == [("silent", "silent", "exact")]


def test_dense_by_name_and_through_aliases():
    kg = KnowledgeGraph.from_triples(CITIES)
    link = EntityLinker(
        kg, alias_relations=["label"], aliases={"city of the cathedral": "q1"}, encoder="hashing",
        min_score=0.3,
    )  # fmt: skip
    found = link.link("a city with the cathedral")
    assert {(m.name, m.how) for m in found} == {("q1", "dense")}
    assert kinds(link, "Germanyy")[0] == ("Germany", "Germanyy", "dense")
    assert EntityLinker(KnowledgeGraph.from_triples([]), encoder="hashing").link("x") == []
    with pytest.raises(ValueError, match="get_encoder"):
        EntityLinker(kg, encoder="no such encoder")


@pytest.mark.needs("faiss")
def test_faiss_and_numpy_agree(monkeypatch):
    from hyperhop.graph.linking import nearest

    mentions = ["Steinbach am Rhein", "Neuberg West", "im Wald", "zzz"]
    link = linker(*TOWNS, encoder=Letters(), min_score=0.3)
    with_faiss = [link.candidates(mention, k=50) for mention in mentions]
    monkeypatch.setattr(nearest, "_faiss", lambda: None)
    link = linker(*TOWNS, encoder=Letters(), min_score=0.3)
    for mention, expected in zip(mentions, with_faiss, strict=True):
        found = link.candidates(mention, k=50)
        assert [m.score for m in found] == pytest.approx([m.score for m in expected], abs=1e-5)
        certain = [m for m in expected if m.score > expected[-1].score + 1e-5]
        assert found[: len(certain)] == certain


# All together


@pytest.mark.needs("link")
def test_kinds_keep_their_order():
    link = linker(
        "Peru", "peru", "Inca", "Perus", "super",
        aliases={"PERU": "Inca"}, fuzzy=70, encoder=Letters(), min_score=0.1,
    )  # fmt: skip
    found = link.candidates("Peru")
    assert [(m.name, m.how) for m in found] == [
        ("Peru", "exact"),
        ("peru", "folded"),
        ("Inca", "alias"),
        ("Perus", "fuzzy"),
        ("super", "dense"),
    ]
    assert [m.span for m in found] == [(0, 4)] * 5
    assert [m.score for m in found] == sorted((m.score for m in found), reverse=True)
    for k in range(1, 6):
        assert link.candidates("Peru", k=k) == found[:k]
    order = ["exact", "folded", "alias", "fuzzy", "dense"]
    text = "Peru, perus and Perrus purse"
    hows = [m.how for m in link.link(text)]
    assert set(hows) == set(order)
    assert all(order.index(a) <= 2 or order.index(a) <= order.index(b) for a, b in pairwise(hows))


@pytest.mark.needs("link")
def test_answers_do_not_depend_on_the_order_of_the_file():
    triples = [(name, "called", f"{name}s") for name in TOWNS[:2_200]]
    answers = []
    for seed in range(3):
        random.Random(seed).shuffle(triples)
        kg = KnowledgeGraph.from_triples(triples)
        link = EntityLinker(kg, alias_relations=["called"], fuzzy=75, encoder=Letters())
        answers.append(
            [(m.name, m.span, m.score, m.how) for m in link.link("from Neuberg Wst to Altburg Ulm")]
        )
    assert answers[0] == answers[1] == answers[2] != []


@pytest.mark.needs("link")
def test_a_changed_graph_is_linked_like_a_rebuilt_one():
    """Ids are then no longer ranks of names, and some are out of use."""
    facts = [(name, "called", f"{name}s") for name in TOWNS[:2_200]]
    added = [("Zz Top", "called", "aa"), ("AA", "called", "Ab"), ("aa", "called", "Neuberg")]
    kg = (
        KnowledgeGraph.from_triples(facts)
        .without(facts[::7])
        .merge(KnowledgeGraph.from_triples(added))
    )
    left = [fact for i, fact in enumerate(facts) if i % 7]
    answers = []
    for graph in (kg, KnowledgeGraph.from_triples(left + added)):
        link = EntityLinker(graph, alias_relations=["called"], fuzzy=75, encoder=Letters())
        texts = ["aa and ZZ top", "from Neuberg Wst to Altburg Ulm", "ab", facts[0][0], facts[1][0]]
        answers.append(
            [[(m.name, m.span, m.score, m.how) for m in link.link(text)] for text in texts]
        )
    assert answers[0] == answers[1]
    assert [name for name, *_ in answers[0][0][:4]] == ["Zz Top", "aa", "AA", "Zz Top"]


def test_pickles():
    link = linker("Peru", aliases={"Inca land": "Peru"}, encoder=Letters(), stop_words=["a"])
    expected = link.link("a Inca land, Perus")
    assert {m.how for m in expected} == {"alias", "dense"}
    assert pickle.loads(pickle.dumps(link)).link("a Inca land, Perus") == expected


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"fuzzy": "90"}, TypeError, "fuzzy must be a number, got str"),
        ({"fuzzy": True}, TypeError, "fuzzy must be a number, got bool"),
        ({"fuzzy": 0}, ValueError, "fuzzy must be above 0 and at most 100, got 0"),
        ({"fuzzy": 101}, ValueError, "fuzzy must be above 0 and at most 100, got 101"),
        ({"fuzzy": float("nan")}, ValueError, "got nan"),
        ({"min_score": 2}, ValueError, "min_score must be above 0 and at most 1, got 2"),
        ({"top": 0}, ValueError, "top must be at least 1, got 0"),
        ({"max_words": 1.5}, TypeError, "max_words must be an integer, got float"),
        ({"stop_words": [1]}, TypeError, r"stop_words must be several str, got \[1\]"),
    ],
)
def test_wrong_options(options, error, message):
    with pytest.raises(error, match=message):
        linker("Peru", **options)


def test_wrong_candidates():
    with pytest.raises(TypeError, match="candidates: mention must be str, got int"):
        linker("Peru").candidates(3)
    with pytest.raises(ValueError, match="candidates: k must be at least 1, got 0"):
        linker("Peru").candidates("Peru", k=0)
    assert linker("Peru").candidates("") == []


def test_pathhd_takes_a_linker():
    kg = KnowledgeGraph.from_triples(CITIES)
    system = PathHD(kg, linker=EntityLinker(kg, alias_relations=["label", "also"]), blocks=16)
    assert system.retrieve("Köln is in what?").topic in ("q1", "Köln")
    assert {"Germany"} <= {e for s in system.retrieve("Köln is in what?").sequences for e in s.ends}
    with pytest.raises(ValueError, match="linker must be one of the same graph"):
        PathHD(kg, linker=linker("Peru"), blocks=16)


# Real graphs


@pytest.fixture(scope="module")
def geonames():
    folder = Path(os.environ["HYPERHOP_DATA"]) / "scale_graphs"
    return KnowledgeGraph.from_triples(folder / "geonames_cities500.tsv.gz")


@pytest.mark.needs("data")
def test_aliases_of_geonames(geonames):
    link = EntityLinker(geonames, alias_relations=["name", "alternate_name"])
    found = kinds(link, "Which country is Unislav part of?")
    assert ("city:3082785", "Unislav", "alias") in found
    assert ("Unislav", "Unislav", "exact") in found


@pytest.mark.needs("data", "link")
def test_typos_of_geonames(geonames):
    link = EntityLinker(geonames, alias_relations=["name", "alternate_name"], fuzzy=90)
    names_found = [m.name for m in link.candidates("Unislaav", k=3)]
    assert {"Unislav", "city:3082785"} <= set(names_found)


@pytest.mark.needs("data")
@pytest.mark.parametrize("name", ["PQ-2H", "PQ-3H", "PQL-2H", "PQL-3H"])
def test_topics_of_pathquestion_are_linked(name):
    data = pathquestion.load(name, Path(os.environ["HYPERHOP_DATA"]) / "pathquestion")
    link = EntityLinker(KnowledgeGraph.from_triples(data.graph))
    missed = [
        q.question
        for q in data.questions[::10]
        if q.subject not in [match.name for match in link.link(q.question)]
    ]
    assert missed == []
