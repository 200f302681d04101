"""The wording of relations and paths: kinds of names, directions, labels, mediators."""

import pickle

import pytest

from hyperhop.text.relations import relation_words, split_symbol
from hyperhop.text.verbalize import (
    Template,
    Verbalizer,
    is_opaque,
    verbalize_path,
    verbalize_relation,
)

CAST = ["Alien", "m.0k3p", "Ripley"]
STARRING = ["film.film.starring", "film.performance.character"]


@pytest.mark.parametrize(
    ("name", "core", "context"),
    [
        ("place_of_birth", "place of birth", ""),
        ("birthPlace", "birth place", ""),
        ("people.person.place_of_birth", "place of birth", "people person"),
        ("/people/person/place_of_birth", "place of birth", "people person"),
        ("/film/film/starring./film/performance/actor", "actor", "film starring performance"),
        ("__people__person__place_of_birth", "place of birth", "people person"),
        ("film.film.genre", "genre", "film"),
        ("sports.sports_team.roster", "roster", "sports team"),
        ("music.release_track.release", "release", "music track"),
        ("people.person.spouse_s", "spouse", "people person"),
        ("http://dbpedia.org/ontology/birthPlace", "birth place", ""),
        ("http://example.org/vocab#hasPart", "has part", ""),
        ("http://rdf.freebase.com/ns/film.film.genre", "genre", "film"),
        ("born in the U.S. of", "born in the of", ""),
        ("P", "p", ""),
        ("首都", "首都", ""),
        ("->", "->", ""),
        ("/", "/", ""),
    ],
)
def test_relation_words(name, core, context):
    found = relation_words(name)
    assert " ".join(found.core) == core
    assert " ".join(found.context) == context
    assert verbalize_relation(name) == f"{context} {core}".strip()
    assert verbalize_relation(f"^{name}") == f"{context} {core} of".strip()
    assert Verbalizer(context=False).relation(name) == core


def test_symbols():
    assert split_symbol("capital") == ("capital", False)
    assert split_symbol("^capital") == ("capital", True)
    assert split_symbol("\\^odd") == ("^odd", False)
    assert split_symbol("^\\^odd") == ("^odd", True)
    assert split_symbol("\\\\x") == ("\\x", False)


def test_path_wording_keeps_names_and_shows_direction():
    line = verbalize_path(["Lima", "Peru", "a -> b, (c) 😀"], ["^capital", "shares_border"])
    assert line == "Lima <-capital- Peru -shares border-> a -> b, (c) 😀"
    assert verbalize_path(["Lima"], []) == "Lima"
    assert verbalize_path(["a", "b"], ["\\^up"]) == "a -up-> b"
    with pytest.raises(ValueError, match="1 relations need 2 entities, got 1"):
        verbalize_path(["a"], ["r"])


@pytest.mark.parametrize(
    ("symbols", "keep", "skip", "join"),
    [
        (
            STARRING,
            "Alien -starring-> m.0k3p -character-> Ripley",
            "Alien -starring-> -character-> Ripley",
            "Alien -starring, character-> Ripley",
        ),
        (
            ["^film.performance.character", "^film.film.starring"],
            "Alien <-character- m.0k3p <-starring- Ripley",
            "Alien <-character- <-starring- Ripley",
            "Alien <-starring, character- Ripley",
        ),
        (
            ["^film.performance.actor", "film.performance.character"],
            "Alien <-actor- m.0k3p -character-> Ripley",
            "Alien <-actor- -character-> Ripley",
            "Alien -actor of, character-> Ripley",
        ),
    ],
)
def test_mediators(symbols, keep, skip, join):
    for policy, line in (("keep", keep), ("skip", skip), ("join", join)):
        assert Verbalizer(mediators=policy, context=False).path(CAST, symbols) == line


@pytest.mark.parametrize("policy", ["skip", "join"])
def test_what_is_a_mediator(policy):
    path = ["m.0a", "m.0b", "m.0c", "Spouse of 1990", "m.0d"]
    symbols = ["p", "q", "r", "s"]
    between = "-p-> -q->" if policy == "skip" else "-p, q->"
    # the ends are always printed, a label makes a name
    named = Verbalizer({"m.0c": "Ann"}, mediators=policy)
    assert named.path(path, symbols) == f"m.0a {between} Ann -r-> Spouse of 1990 -s-> m.0d"
    for given in ({"Spouse of 1990"}, lambda name: name.startswith("Spouse")):
        line = Verbalizer(mediators=policy, is_mediator=given).path(path, symbols)
        between = "-r-> -s->" if policy == "skip" else "-r, s->"
        assert line == f"m.0a -p-> m.0b -q-> m.0c {between} m.0d"
    three = Verbalizer(mediators="join").path(["a", "_:b0", "_:b1", "c"], ["p", "q", "r"])
    assert three == "a -p, q, r-> c"


def test_labels():
    words = Verbalizer({"Q419": "Peru (país)"}, {"P36": "capital City", "P0": "^up"})
    assert words.path(["Q419", "Q2868"], ["P36"]) == "Peru (país) -capital City-> Q2868"
    assert words.relation("^P36") == "capital City of"
    assert [words.symbol(s) for s in ("P36", "^P36", "P37", "^P0")] == [
        "capital City", "^capital City", "P37", "^\\^up",
    ]  # fmt: skip
    assert split_symbol(words.symbol("^P0")) == ("^up", True)


def test_everything_is_quoted_where_asked():
    words = Verbalizer(mediators="join", context=False)
    assert words.path(CAST, STARRING, quote=repr) == "'Alien' -'starring, character'-> 'Ripley'"


def test_one_template():
    arrows = Template(forward="--[{relation}]-->", inverse="<--[{relation}]--", joined=" + ")
    words = Verbalizer(mediators="join", template=arrows, context=False)
    assert words.path(CAST, STARRING) == "Alien --[starring + character]--> Ripley"
    assert words.path(["Lima", "{relation}"], ["^capital"]) == "Lima <--[capital]-- {relation}"


def test_share_of_unnamed_entities():
    paths = [CAST, ["Alien", "m.0k3q", "Ash"], ["Ash", "m.0k3p", "Alien"]]
    assert Verbalizer().share_unnamed(paths) == 2 / 5
    assert Verbalizer({"m.0k3p": "a role"}).share_unnamed(paths) == 1 / 5
    assert Verbalizer().share_unnamed([]) == 0


def test_opaque_ids():
    for name in ("m.0abc", "/m/0abc_1", "g.11b7kt", "_:b0", "http://rdf.freebase.com/ns/m.0abc"):
        assert is_opaque(name)
    for name in ("m.ward", "Lima", "m.0a c", "m/s", "gm.0abc", "Q42", "", "_:"):
        assert not is_opaque(name)


def test_policy_is_checked_and_a_verbalizer_pickles():
    with pytest.raises(ValueError, match="mediators must be keep, skip or join, got 'drop'"):
        Verbalizer(mediators="drop")
    words = Verbalizer({"a": "b"}, is_mediator={"x"})
    assert pickle.loads(pickle.dumps(words)) == words
