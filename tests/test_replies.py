"""JSON out of replies: what models do to it, what is repaired, and what is refused."""

import json
import pickle
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperhop.llm.cut import close_cut
from hyperhop.llm.replies import ParseFailure, ParseReport, Read, read_json, without_thinking

FENCE = "```"
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
TRIPLES = [["a", "b", "c"], ["d", "e", "f"]]


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ('{"a": "b"}', {"a": "b"}),
        ("[]", []),
        ('\ufeff {"a": 1}\n', {"a": 1}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        (f'{FENCE}json\n{{"a": "b"}}\n{FENCE}', {"a": "b"}),
        (f'Sure [1]:\n{FENCE}\n{{"a": "b"}}\n{FENCE}\nAs {{asked}} [2].', {"a": "b"}),
        (f'{{"a": "{FENCE}x{FENCE}"}}', {"a": f"{FENCE}x{FENCE}"}),
        (f'Here:\n{FENCE}json\n["{FENCE}", "x"]\n{FENCE}', [FENCE, "x"]),
        ("[" * 100 + "1" + "]" * 100, json.loads("[" * 100 + "1" + "]" * 100)),
        ('<think>perhaps {"a": 2}?</think>\n\n{"a": 1}', {"a": 1}),
        ("<Thinking>one</Thinking><think>two</think>[]", []),
        ('perhaps {"a": 2}?</think>{"a": 1}', {"a": 1}),
        ('{"a": "</think>"}', {"a": "</think>"}),
        ('The answer [2] is {"a": "b"}, see [1].', {"a": "b"}),
        ("There are none: []", []),
        ("- [ ] a list of things\n[[1, 2]]", [[1, 2]]),
    ],
)
def test_json_is_found(reply, value):
    assert read_json(reply) == Read(value, False, None)


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ('["a", "b", "c"]\n["d", "e", "f"]', TRIPLES),
        ('Triples:\n1. ["a", "b", "c"]\n2. ["d", "e", "f"]', TRIPLES),
        ('- ["a", "b", "c"],\n- ["d", "e", "f"]', TRIPLES),
        ('{"s": 1}\n{"s": 2}', [{"s": 1}, {"s": 2}]),
        ('"{\\"a\\": [\\"b\\"]}"', {"a": ["b"]}),
    ],
)
def test_values_in_a_row_are_one_array(reply, value):
    assert read_json(reply) == Read(value, True, None)


@pytest.mark.needs("llm")
@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("{'a': 'b',} and that is it.", {"a": "b"}),
        ("{'n': 'film', 'b': None, 'c': True}", {"n": "film", "b": None, "c": True}),
        ('["Peach\'s film",]', ["Peach's film"]),
        ('[["a","b","c",],["d","e","f"],]', TRIPLES),
        ('[["a","b","c"] ["d","e","f"]]', TRIPLES),
        ('{"t": [["a","b","c"],["d","e","f"]}', {"t": TRIPLES}),
        ('[{"a": 1}}', [{"a": 1}]),
        ("{answers: [Paris, Lima], citations: [1]}", {"answers": ["Paris", "Lima"],
                                                      "citations": [1]}),
        ('{"a": "she said "hi" to me"}', {"a": 'she said "hi" to me'}),
        ('{"a": “Paris”}', {"a": "Paris"}),
        ('{"a": "\\ud83d\\ude00",}', {"a": "😀"}),
        ('{"a": "no\\u00ebl \\"x\\"",}', {"a": 'noël "x"'}),
    ],
)  # fmt: skip
def test_json_is_repaired(reply, value):
    assert read_json(reply) == Read(value, True, None)


@pytest.mark.parametrize(
    ("reply", "value", "cut"),
    [
        ('{"a": ["x"], "b": [1], "c": "so', {"a": ["x"], "b": [1]}, "c"),
        ('{"a": ["x"], "b": [1], "c', {"a": ["x"], "b": [1]}, ""),
        ('{"a": ["x"], "b": [1]', {"a": ["x"], "b": [1]}, ""),
        ('{"a": ["x"], "b": [1, 2', {"a": ["x"], "b": [1]}, "b"),
        ('{"a": ["x", "Par', {"a": ["x"]}, "a"),
        ('{"a": "x, y]", "b": "it\\"', {"a": "x, y]"}, "b"),
        (f'{FENCE}json\n[["a","b","c"],["d","e","f', [["a", "b", "c"], ["d", "e"]], ""),
        ('[{"s": "a"}, {"s": "b", "o', [{"s": "a"}, {"s": "b"}], ""),
    ],
)
def test_a_cut_reply_keeps_what_is_complete(reply, value, cut):
    assert read_json(reply) == Read(value, True, cut)


@pytest.mark.needs("llm")
def test_a_cut_reply_in_single_quotes():
    reply = "{'a': ['Peach, or', 'x'], 'b': 'Kenneth Peach's fi"
    assert read_json(reply) == Read({"a": ["Peach, or", "x"]}, True, "b")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "the reply is empty"),
        (" \n", "the reply is empty"),
        ("<think>{}</think>", "the reply holds nothing but its thinking"),
        ("<think>Let me see: {}", "the reply ends before its thinking does"),
        ("Paris", "the reply holds no JSON object or array"),
        ('"Paris"', "the reply holds no JSON object or array"),
        ("null", "the reply holds no JSON object or array"),
        ("The set {Paris} of [1]", "the reply holds no JSON object or array"),
        ('{"a": 1} or {"a": 2}', "the reply holds 2 JSON values, with text between"),
        ('{"a": [1], "a": [2]}', "the JSON has the key 'a' twice"),
        (f'{{"a": {"1" * 9999}}}', "the JSON has a number of 9999 digits"),
        ("[" * 100_000, "the JSON is nested too deeply"),
        ('{"a": [' * 50_000, "the JSON is nested too deeply"),
        ("[" * 100_000 + "]" * 100_000, "the JSON is nested too deeply"),
        ("[" * 101 + "1" + "]" * 101, "the JSON is nested too deeply"),
        ("[{" * 200, "the JSON is nested too deeply"),
        ("{" * 200_000, "the JSON is nested too deeply"),
        ("[{" * 30_000, "the JSON is nested too deeply"),
        ('[{"a" "b"}' * 200, "the JSON is nested too deeply"),
        (
            f'{{"a": {"x y " * 4_000}}}',
            "the JSON is broken, and too long to repair: more than 16000 characters",
        ),
        ('{"a": ["Par', "the JSON is broken: a repair would leave a list empty"),
        ('{"a": [', "the JSON is broken: a repair would leave a list empty"),
        ('{"a": [\'Par', "the JSON is broken: a repair would leave a list empty"),
        ('{"', "the JSON is broken beyond repair"),
        ('{"a": [["b"], [", ', "the JSON is broken: its quotes do not pair up"),
        ('{"s": "a"}\n{"s": "b', "the reply ends in the middle of a second JSON value"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason(reply, reason):
    with pytest.raises(ParseFailure) as caught:
        read_json(reply)
    assert caught.value.reason == str(caught.value) == reason
    assert caught.value.text == reply


def test_long_replies_take_no_longer_than_their_length():
    """The worst of these took minutes."""
    start = perf_counter()
    for reply in ("{" * 200_000, "[{" * 100_000, '{"a": 1}' + " " * 200_000 + 'x {"b": 2}',
                  "<think></think>" * 50_000, '["' + ':"a"a' * 40_000 + "'1,}"):  # fmt: skip
        with pytest.raises(ParseFailure):
            read_json(reply)
    assert perf_counter() - start < 10


@pytest.mark.needs("llm")
@pytest.mark.parametrize("error", [ValueError("x"), RecursionError("x"), IndexError("x")])
def test_whatever_the_repair_raises_is_a_failure_to_parse(monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("json_repair.loads", fail)
    with pytest.raises(ParseFailure, match="broken beyond repair"):
        read_json("{'a': 'b'}")


@pytest.mark.needs("llm")
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ('{"a": [...]}', "a repair would change what it says"),
        ('[["a]", "b"", "c"", "{d}]"],]', "a repair would change what it says"),
        ('{"a": [1,], "a": [2]}', "a repair would change what it says"),
        ('{"a": "b" // why\n}', "a repair would change what it says"),
        ('{"a": "5" tall"}', "its quotes do not pair up"),
        ("['Peach's film', 'x']", "its quotes do not pair up"),
        ('["5" nail", "is a", "nail"]', "its quotes do not pair up"),
    ],
)
def test_a_repair_that_would_lose_something_is_refused(reply, reason):
    with pytest.raises(ParseFailure, match="the JSON is broken") as caught:
        read_json(reply)
    assert reason in caught.value.reason


def test_without_json_repair_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "json_repair", None)
    with pytest.raises(ImportError, match=r'pip install "hyperhop\[llm\]"'):
        read_json("{'a': 'b'}")


@given(st.lists(st.lists(NAMES, min_size=3, max_size=3), min_size=1, max_size=4), st.data())
def test_any_names_survive_and_no_cut_invents_one(triples, data):
    text = json.dumps({"triples": triples}, ensure_ascii=data.draw(st.booleans()))
    assert read_json(text).value == {"triples": triples}
    assert read_json(f"Here:\n{FENCE}json\n{text}\n{FENCE}\n").value == {"triples": triples}
    try:
        found = read_json(text[: data.draw(st.integers(0, len(text) - 1))])
    except ParseFailure:
        return
    assert found.repaired
    assert found.cut is not None
    *whole, last = found.value["triples"]
    assert whole == triples[: len(whole)]
    assert last == triples[len(whole)][: len(last)]


@given(st.text(max_size=40), st.text("{}[]\"':, \\a1", max_size=40))
def test_any_text_is_read_or_refused(text, brackets):
    for reply in (text, brackets):
        try:
            value = read_json(reply).value
        except (ParseFailure, ImportError):
            continue
        assert isinstance(value, dict | list)


def test_close_cut():
    for text in ('{"a": 1}', "no bracket", "{]", '[{"a": 1], "b"'):
        assert close_cut(text) == (text, None)
    assert close_cut('{"a": 1} so {"b') == ('{"a": 1}', None)
    for text in ('{"a": "5" tall"}', '{"a": [1], "b": ", '):
        assert close_cut(text) is None
    assert close_cut("[" * 100) == ("[" * 100 + "]" * 100, "")
    with pytest.raises(RecursionError, match="more than 100 open brackets"):
        close_cut("[" * 101)


def test_thinking():
    assert without_thinking("Answer: x") == "Answer: x"
    assert without_thinking("<think>a</think>b</think>c") == "b</think>c"


def test_the_report_counts_every_reply():
    report = ParseReport()
    for reply in ('{"a": 1}', '{"a": 1}, {"b": 2}', "no", '{"a": 2}'):
        try:
            report.count(read_json(reply).repaired)
        except ParseFailure as failure:
            report.failures.append(failure)
    assert (report.parsed, report.repaired, report.failed) == (2, 1, 1)
    assert json.loads(json.dumps(report.to_dict()))["failures"] == [
        {"reason": "the reply holds no JSON object or array", "text": "no"}
    ]
    again = pickle.loads(pickle.dumps(report))
    assert again.failures[0].text == "no"
