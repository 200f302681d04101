"""Entities in running text."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperhop import KnowledgeGraph
from hyperhop._core import FoldedNames
from hyperhop.graph import EntityLinker
from hyperhop.graph.names import fold
from strategies_graph import any_triples, names


def linker(*entities):
    return EntityLinker(KnowledgeGraph.from_triples([(name, "r", name) for name in entities]))


def linked(link, text):
    return [(match.name, text[slice(*match.span)], match.score) for match in link.link(text)]


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
