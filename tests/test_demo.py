"""The demo's graph holds the package's facts, and its questions come out right on it."""

from __future__ import annotations

import importlib.util
import itertools
import json
import re

import pytest
from typer.testing import CliRunner

from hyperhop.cli import app
from hyperhop.demo.countries import country_triples, plain_name
from hyperhop.demo.gold import gold_answers
from hyperhop.demo.questions import demo_questions
from hyperhop.demo.records import country_records
from hyperhop.demo.training import training_examples


@pytest.fixture(scope="module")
def facts():
    return set(country_triples().triples)


def tails(facts, head, relation):
    return {tail for h, r, tail in facts if (h, r) == (head, relation)}


def test_codes_become_names(facts):
    assert ("Peru", "capital", "Lima") in facts
    assert tails(facts, "Peru", "borders") == {"Bolivia", "Brazil", "Chile", "Colombia", "Ecuador"}
    assert tails(facts, "Peru", "currency") == {"Peruvian Sol"}
    assert tails(facts, "Switzerland", "language") == {"French", "German", "Italian"}
    assert ("Tonga", "calling_code", "+676") in facts
    assert ("Ivory Coast", "also_called", "Côte d'Ivoire") in facts


def test_namesakes_are_different_entities(facts):
    assert ("United States", "province", "Georgia (province of United States)") in facts
    assert ("Georgia", "capital", "Tbilisi") in facts
    assert tails(facts, "Luxembourg", "capital") == {"Luxembourg (capital of Luxembourg)"}
    assert ("Spain", "demonym", "Spanish (demonym)") in facts
    assert ("Spain", "language", "Spanish") in facts
    # Two cities share this name, so neither keeps it.
    assert tails(facts, "Jamaica", "capital") == {"Kingston (capital of Jamaica)"}
    assert not any("Kingston" in (head, tail) for head, _, tail in facts)


def test_no_province_or_capital_belongs_to_two_countries(facts):
    owned = sorted((t, h) for h, r, t in facts if r in ("province", "capital"))
    for _, group in itertools.groupby(owned, key=lambda pair: pair[0]):
        assert len({head for _, head in group}) == 1


def test_a_note_is_all_that_plain_name_removes(facts):
    assert plain_name("Georgia (province of United States)") == "Georgia"
    assert plain_name("Spanish (demonym)") == "Spanish"
    assert plain_name("Cocos (Keeling) Islands") == "Cocos (Keeling) Islands"
    countries = {head for head, _, _ in facts}
    assert {plain_name(name) for name in countries} == countries


def test_whatever_is_left_out_is_reported():
    notes = "\n".join(country_triples().notes)
    for record in country_records():
        for code in record.get("borders") or []:
            known = [code in (r["ISO"]["alpha2"], r["ISO"]["alpha3"]) for r in country_records()]
            assert (
                any(known) or f"{record['name']}: no record for the border code {code!r}" in notes
            )
    assert "Serbia: no name for the language code 'rs'" in notes
    assert "Serbia and Montenegro: left out" in notes
    assert "'Palestine' and 'Palestine, State of' are one country" in notes


def test_no_text_is_empty_or_padded(facts):
    for name in itertools.chain.from_iterable(facts):
        assert name == name.strip() != ""


def test_iso_codes_are_no_entities(facts):
    codes = {r["ISO"][key] for r in country_records() for key in ("alpha2", "alpha3")}
    assert not codes & set(itertools.chain.from_iterable(facts))


def test_gold_is_read_from_the_records():
    assert gold_answers(["capital=Lima", "currencies"]) == {"Peruvian Sol"}
    assert gold_answers(["name=Nepal", "borders", "name"]) == {"China", "India"}
    assert gold_answers(["name=Liechtenstein", "same currencies", "name"]) == {
        "Liechtenstein",
        "Switzerland",
    }
    assert gold_answers(["capital=Atlantis", "currencies"]) == frozenset()


def test_questions_are_varied_and_answerable():
    questions = demo_questions()
    assert len({question.question for question in questions}) == len(questions) == 20
    assert all(gold_answers(question.steps) for question in questions)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demo run once: its output and the graph it left."""
    folder = tmp_path_factory.mktemp("demo") / "graph"
    result = CliRunner().invoke(app, ["demo", "--out", str(folder)], catch_exceptions=False)
    assert result.exit_code == 0
    return result, folder


def test_at_least_18_of_20_answers_are_what_the_records_say(demo):
    result, folder = demo
    right, hops = 0, set()
    for question in demo_questions():
        asked = CliRunner().invoke(app, ["ask", str(folder), question.question, "--json"])
        found = json.loads(asked.stdout)
        names = {plain_name(name) for name in found["answer"]["entities"]}
        if names == gold_answers(question.steps):
            right += 1
            hops.add(len(found["evidence"]["sequences"][0]["relations"]))
    assert right >= 18
    assert hops == {1, 2, 3}
    assert f"{right} of 20 answers" in result.stdout
    assert result.stdout.count("The records say:") == 20 - right


def test_the_demo_shows_every_question_within_80_columns(demo):
    result, folder = demo
    text = " ".join(result.stdout.split())
    assert all(question.question.split()[-1] in text for question in demo_questions())
    assert "Lima <-capital- Peru -currency-> Peruvian Sol" in text
    table = result.stdout[: result.stdout.index(" of 20 answers")].splitlines()[2:]
    assert max(map(len, table)) <= 80
    assert f"hyperhop ask {folder}" in result.stdout


def test_the_flow_model_is_asked_about_other_names_than_it_learned():
    asked = [question.question for question in demo_questions()]
    triples = country_triples().triples
    examples = training_examples(triples, asked)
    assert len(examples) > 300
    known = {(example.question, example.topics) for example in examples}
    assert len(known) == len(examples)
    for example in examples:
        assert not any(example.topics[0] in question for question in asked)
        assert example.answers
    facts = set(triples)
    capital = next(one for one in examples if one.question.startswith("What is the capital of"))
    assert {(capital.topics[0], "capital", end) for end in capital.answers} <= facts


@pytest.mark.needs("torch")
def test_the_demo_trains_a_flow_model_where_torch_is(demo):
    result, folder = demo
    right = int(re.search(r"has (\d+) of the same 20 right", result.stdout)[1])
    assert right >= 15
    table = result.stdout[result.stdout.index("a path of PathHD, a path of RSF") :].splitlines()
    assert max(map(len, table[: table.index(next(x for x in table if "learned from" in x))])) <= 80
    model = folder.with_name(f"{folder.name}-rsf")
    asked = CliRunner().invoke(app, ["ask", str(model), "What is the capital of Peru?"])
    assert asked.stdout.splitlines()[0] == "Lima"


def test_the_demo_without_torch_says_what_is_missing(tmp_path, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "torch" else find(name)
    )
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "graph")])
    assert result.exit_code == 0
    assert 'pip install "hyperhop[torch]"' in result.stdout
    assert not (tmp_path / "graph-rsf").exists()


def test_the_demo_runs_twice_in_one_place_and_lists_what_it_left_out(demo):
    result, folder = demo
    notes = country_triples().notes
    assert result.stderr.startswith(f"hyperhop: {len(notes)} records or codes of countryinfo")
    again = CliRunner().invoke(app, ["demo", "--out", str(folder), "--notes"])
    assert again.exit_code == 0
    said = [line for line in again.stderr.splitlines() if " flow model " not in line]
    assert said == [f"hyperhop: countryinfo: {note}" for note in notes]
    asked = CliRunner().invoke(app, ["ask", str(folder), "What is the capital of Peru?"])
    assert asked.stdout.splitlines()[0] == "Lima"


def test_the_demo_overwrites_nothing_else(tmp_path):
    (tmp_path / "meta.json").write_text("{}", encoding="utf-8")
    refused = CliRunner().invoke(app, ["demo", "--out", str(tmp_path)])
    assert refused.exit_code == 1
    assert (tmp_path / "meta.json").read_text(encoding="utf-8") == "{}"
