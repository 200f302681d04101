"""Question files of others: each form, plain and packed, and every fault with its place."""

import gzip
import json
import os
from contextlib import suppress
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperhop import KnowledgeGraph, PathHD
from hyperhop.evaluate import (
    ask,
    benchmarks,
    cwq,
    evaluate,
    freebase,
    grailqa,
    nsm,
    rog,
    webqsp_official,
)
from hyperhop.evaluate.question import about, either_way
from hyperhop.graph import MalformedLine, UnreadableFile

PERU = {
    "id": "q1",
    "question": "what is the currency of peru",
    "q_entity": ["Nowhere", "Peru"],
    "a_entity": ["Sol"],
    "answer": ["Sol", "Peruvian sol"],
    "graph": [["Peru", "currency", "Sol"], ["Peru", "capital", "Lima"]],
    "ground_paths": [["currency"], []],
}
NSM = {
    "id": "n1",
    "question": "what is the currency of peru",
    "entities": [0],
    "answers": [{"kb_id": "m.02", "text": "Sol"}, {"kb_id": "m.09", "text": None}],
    "subgraph": {"tuples": [[0, 0, 1], [0, 1, 2]], "entities": [0, 1, 2]},
}
OFFICIAL = {
    "QuestionId": "WebQTest-1",
    "RawQuestion": "what is the currency of peru?",
    "Parses": [
        {
            "TopicEntityName": "Peru",
            "TopicEntityMid": "m.01",
            "InferentialChain": ["location.country.currency_used"],
            "Answers": [
                {"AnswerType": "Entity", "AnswerArgument": "m.02", "EntityName": "Sol"},
                {"AnswerType": "Value", "AnswerArgument": "1991", "EntityName": None},
            ],
        },
        {"TopicEntityName": None, "InferentialChain": None, "Answers": []},
    ],
}
CWQ = {
    "ID": "c1",
    "question": "Which currency has the country of Lima?",
    "compositionality_type": "composition",
    "topic_entity": {"m.07": "Nowhere", "m.03": "Lima"},
    "answer": "Sol",
}
GRAIL = {
    "qid": 7,
    "question": "which country has the capital lima?",
    "level": "zero-shot",
    "topic_entity": {"m.03": "Lima"},
    "answer": [
        {"answer_type": "Entity", "answer_argument": "m.01", "entity_name": "Peru"},
        {"answer_type": "Value", "answer_argument": "1535"},
    ],
    "graph_query": {
        "nodes": [
            {"nid": 0, "id": "location.country", "question_node": 1},
            {"nid": 1, "id": "m.03", "question_node": 0},
            {"nid": 2, "id": "m.05", "question_node": 0},
        ],
        "edges": [
            {"start": 0, "end": 1, "relation": "location.country.capital"},
            {"start": 2, "end": 1, "relation": "other"},
        ],
    },
}


def write(path, *values, whole=False):
    """JSON Lines, or one document."""
    text = json.dumps(values[0]) if whole else "\n\n".join(map(json.dumps, values)) + "\n"
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_rog(tmp_path, name):
    write(tmp_path / name, PERU)
    (found,) = rog.read(tmp_path / "a.jsonl")  # the packed one is found too
    assert (found.id, found.topic, found.other_topics) == ("q1", "Peru", ())
    assert found.text[slice(*found.mention)] == "peru"
    assert (found.answers, found.aliases) == ({"Sol"}, {"Peruvian sol"})
    assert found.paths == {("currency",), ("^currency",)}
    assert set(found.graph.triples()) == set(map(tuple, PERU["graph"]))


def test_rogs_gold_paths_need_nothing_else(tmp_path):
    path = write(tmp_path / "a.jsonl", {"id": "q", "question": "who", "ground_paths": [["r", "s"]]})
    (found,) = rog.read(path)
    assert found.paths == {("r", "s"), ("^r", "s"), ("r", "^s"), ("^r", "^s")}
    assert (found.topic, found.mention, found.answers, found.graph) == (None, None, set(), None)


def test_answers_are_those_there_are(tmp_path):
    lines = [{**PERU, "a_entity": None}, {k: v for k, v in PERU.items() if k != "answer"}]
    first, second = rog.read(write(tmp_path / "a.jsonl", *lines))
    assert (first.answers, first.aliases) == ({"Sol", "Peruvian sol"}, set())
    assert (second.answers, second.aliases) == ({"Sol"}, set())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"question": None}, "'question' to be text, found None"),
        ({"q_entity": "Peru"}, "'q_entity' to be a list, found 'Peru'"),
        ({"a_entity": [1]}, r"'a_entity' to be a list of text, found \[1\]"),
        ({"ground_paths": ["r"]}, "'ground_paths' to be a list of lists of text"),
        ({"graph": [["a", "b"]]}, "a graph of lists of three names, found item 1"),
        ({"graph": [["a", "b", 3]]}, "a graph of lists of three names"),
        ({"graph": ["abc"]}, "a graph of lists of three names, found .'abc'"),
        ({"graph": [["a", "", "c"]]}, "a graph of lists of three names"),
    ],
)
def test_another_form_of_rog_is_refused(tmp_path, change, message):
    path = write(tmp_path / "a.jsonl", PERU, {**PERU, **change})
    with pytest.raises(MalformedLine, match=rf"a\.jsonl, line 3: expected {message}"):
        list(rog.read(path))


def test_a_question_without_anything_to_compare_with_is_refused(tmp_path):
    path = write(tmp_path / "a.jsonl", {"question": "who", "answers": ["x"]})
    with pytest.raises(MalformedLine, match="line 1: expected a_entity, answer or ground_paths"):
        list(rog.read(path))


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (b'{"question": \n', MalformedLine, "line 1: expected a JSON object, found Expecting"),
        (b"[1]\n", MalformedLine, r"line 1: expected a JSON object, found \[1\]"),
        (b'{"question": "\xff"}\n', MalformedLine, "line 1: expected UTF-8"),
        (gzip.compress(b"{}"), UnreadableFile, "compressed by gzip"),
    ],
)
def test_what_is_no_json_lines_is_refused(tmp_path, data, error, message):
    (tmp_path / "a.jsonl").write_bytes(data)
    with pytest.raises(error, match=message):
        list(rog.read(tmp_path / "a.jsonl"))
    with pytest.raises(FileNotFoundError, match=r"there is no file .*b\.jsonl"):
        list(rog.read(tmp_path / "b.jsonl"))


@pytest.mark.parametrize("named", ["numbers", "names", "objects"])
def test_nsm(tmp_path, named):
    line = dict(NSM)
    names, relations = ["m.01", "m.02", "m.03"], ["currency", "capital"]
    if named == "numbers":
        (tmp_path / "entities.txt").write_text("\n".join(names), "utf-8")
        (tmp_path / "relations.txt").write_text("\n".join(relations), "utf-8")
    else:
        of_entity = (
            (lambda i: {"kb_id": names[i], "text": "?"})
            if named == "objects"
            else names.__getitem__
        )
        of_relation = (
            (lambda i: {"rel_id": relations[i]}) if named == "objects" else relations.__getitem__
        )
        tuples = [
            [of_entity(h), of_relation(r), of_entity(t)] for h, r, t in NSM["subgraph"]["tuples"]
        ]
        line |= {"entities": [of_entity(0)], "subgraph": {"tuples": tuples}}
    (found,) = nsm.read(write(tmp_path / "test_simple.json", line))
    assert (found.id, found.topic) == ("n1", "m.01")
    assert (found.answers, found.aliases) == ({"m.02", "m.09"}, {"Sol"})
    assert set(found.graph.triples()) == {("m.01", "currency", "m.02"), ("m.01", "capital", "m.03")}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"entities": [3]}, r"a line number of entities.txt \(3 names\), found 3"),
        ({"entities": [True]}, "a name, a number or an object with kb_id, found True"),
        ({"entities": [{"text": "Peru"}]}, "an object with kb_id, found None"),
        ({"subgraph": {"tuples": [[0, 0, 1], [0, 0]]}}, "'subgraph' with tuples of three"),
        (
            {"subgraph": {"tuples": [[0, 9, 1]]}},
            r"relations.txt \(there is no such file\), found 9",
        ),
        ({"subgraph": None}, "'subgraph' to be an object, found None"),
        ({"answers": ["m.02"]}, "'answers' to be a list of objects"),
    ],
)
def test_another_form_of_nsm_is_refused(tmp_path, change, message):
    (tmp_path / "entities.txt").write_text("a\nb\nc\n", "utf-8")
    line = {**NSM, "subgraph": {"tuples": []}, **change}
    path = write(tmp_path / "a_simple.json", line)
    with pytest.raises(MalformedLine, match=rf"a_simple\.json, line 1: expected .*{message}"):
        list(nsm.read(path))


@pytest.mark.parametrize(
    ("by", "topic", "answers", "aliases"),
    [
        ("name", "Peru", {"Sol", "1991"}, {"m.02"}),
        ("mid", "m.01", {"m.02", "1991"}, {"Sol"}),
    ],
)
def test_official_webqsp(tmp_path, by, topic, answers, aliases):
    path = write(tmp_path / "WebQSP.test.json.gz", {"Questions": [OFFICIAL]}, whole=True)
    (found,) = webqsp_official.read(path, by)
    assert (found.id, found.topic, found.answers, found.aliases) == (
        "WebQTest-1",
        topic,
        answers,
        aliases,
    )
    assert found.paths == {("location.country.currency_used",)}
    with pytest.raises(ValueError, match="by must be name or mid, got 'id'"):
        list(webqsp_official.read(path, "id"))


def test_official_webqsp_on_a_graph_of_ones_own(tmp_path):
    graph = KnowledgeGraph.from_triples([("m.01", "location.country.currency_used", "m.02")])
    path = write(tmp_path / "w.json", {"Questions": [OFFICIAL]}, whole=True)
    questions = list(webqsp_official.read(path, "mid", known={"m.01", "m.02"}))
    records = ask(PathHD(graph, max_hops=1), questions)
    assert records[0].values["hits@1"] == records[0].values["path_hit@1"] == 1
    assert records[0].values["alias_hits@1"] == 1
    assert records[0].values["f1"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([OFFICIAL], "item 1: expected a JSON object"),
        ({"Question": []}, "item 1: expected 'Questions' to be a list, found None"),
        ({"Questions": [OFFICIAL, 3]}, "item 2: expected a JSON object, found 3"),
        ({"Questions": [{**OFFICIAL, "Parses": None}]}, "item 1: expected 'Parses' to be a list"),
    ],
)
def test_another_form_of_webqsp_is_refused(tmp_path, document, message):
    path = write(tmp_path / "w.json", document, whole=True)
    with pytest.raises(MalformedLine, match=message):
        list(webqsp_official.read(path))


def test_cwq(tmp_path):
    published = {
        **{key: CWQ[key] for key in ("ID", "question", "compositionality_type")},
        "answers": [
            {"answer_id": "m.02", "answer": "Sol", "aliases": ["S/"]},
            {"answer_id": "m.08", "answer": None, "aliases": []},
        ],
    }
    first, second = cwq.read(write(tmp_path / "c.json", [CWQ, published], whole=True), {"Lima"})
    assert (first.topic, first.other_topics, first.answers) == ("Lima", (), {"Sol"})
    assert (first.id, first.level, first.paths) == ("c1", "composition", set())
    assert (second.topic, second.answers, second.aliases) == (None, {"Sol", "m.08"}, {"S/"})


def test_a_broken_document_names_its_line(tmp_path):
    (tmp_path / "c.json").write_text("[\n{},\n", "utf-8")
    with pytest.raises(MalformedLine, match=r"c\.json, line 3: expected JSON"):
        list(cwq.read(tmp_path / "c.json"))
    write(tmp_path / "c.json", {}, whole=True)
    with pytest.raises(MalformedLine, match="expected a JSON list of questions, found dict"):
        list(cwq.read(tmp_path / "c.json"))


def test_grailqa(tmp_path):
    (found,) = grailqa.read(write(tmp_path / "g.json", [GRAIL], whole=True))
    assert (found.id, found.topic, found.level) == ("7", "Lima", "zero-shot")
    assert found.answers == {"Peru", "1535"}
    assert found.aliases == {"m.01"}
    assert found.paths == {("^location.country.capital",)}
    wrong = write(tmp_path / "g.json", [GRAIL, {**GRAIL, "level": "hard"}], whole=True)
    with pytest.raises(
        MalformedLine, match=r"item 2: expected 'level' to be one of i\.i\.d\., .*'hard'"
    ):
        list(grailqa.read(wrong))


def test_the_topic_is_one_that_can_be_asked():
    assert about(["a", "b", "a", "c"], "of b", {"c", "b"}) == ("b", (3, 4), ("c",))
    assert about(["a", "b"], "of a", set()) == ("a", (3, 4), ("b",))
    assert about([], "of a") == (None, None, ())
    assert either_way([[]]) == frozenset()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)


def changed(value, other, choose):
    """The value with one part of it, chosen by the numbers in turn, replaced."""
    turn = next(choose)
    if isinstance(value, list) and value and turn % 4:
        place = turn % len(value)
        return [*value[:place], changed(value[place], other, choose), *value[place + 1 :]]
    if isinstance(value, dict) and value and turn % 4:
        key = sorted(value)[turn % len(value)]
        return {**value, key: changed(value[key], other, choose)}
    return other


@pytest.mark.parametrize(
    ("read", "example"),
    [
        (rog.read, PERU),
        (nsm.read, NSM),
        (webqsp_official.read, {"Questions": [OFFICIAL]}),
        (cwq.read, [CWQ]),
        (grailqa.read, [GRAIL]),
    ],
    ids=["rog", "nsm", "webqsp", "cwq", "grailqa"],
)
@given(other=JSON, turns=st.lists(st.integers(0, 99), min_size=1, max_size=8))
def test_whatever_stands_there_is_read_or_refused(tmp_path, read, example, other, turns):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(changed(example, other, cycle(turns))), "utf-8")
    with suppress(MalformedLine):
        for question in read(path):
            assert isinstance(question.text, str)
            assert all(isinstance(name, str) for name in (*question.answers, *question.aliases))
            assert question.topic is None or isinstance(question.topic, str)


@pytest.fixture
def freebase_folder(tmp_path):
    """The three sets, one question each, on one graph."""
    facts = [
        ("Peru", "location.country.currency_used", "Sol"),
        ("Peru", "location.country.capital", "Lima"),
    ]
    (tmp_path / "fb_union_graph.tsv").write_text(
        "".join("\t".join([*fact, "G"]) + "\n" for fact in facts), "utf-8"
    )
    topics = {key: PERU[key] for key in ("id", "question", "q_entity", "a_entity")}
    paths = {"id": "q1", "question": "?", "ground_paths": [["location.country.currency_used"]]}
    write(tmp_path / "webqsp_test_topics.jsonl.gz", topics)
    write(tmp_path / "webqsp_rulepath_test.jsonl", paths)
    write(
        tmp_path / "webqsp_rulepath_train.jsonl",
        {**paths, "question": "what is the currency of chile"},
    )
    write(tmp_path / "cwq_test.json", [CWQ], whole=True)
    write(tmp_path / "cwq_rulepath_test.jsonl", {**paths, "id": "c1", "ground_paths": []})
    write(tmp_path / "grailqa_1000.json", [GRAIL], whole=True)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "topic", "with_paths", "levels", "reached"),
    [
        ("WebQSP", "Peru", 1, [], 1),
        ("CWQ", "Lima", 0, ["composition"], 1),
        ("GrailQA", "Lima", 1, ["zero-shot"], 1),
    ],
)
def test_sets_on_the_partial_graph_say_so(
    freebase_folder, name, topic, with_paths, levels, reached
):
    data = benchmarks.load(name, freebase_folder)
    assert (len(data.dev), len(data.test), data.test[0].topic) == (0, 1, topic)
    scores = evaluate(name, freebase_folder, "test")
    assert "partial graph" in scores.note
    assert "not comparable with published" in scores.note
    assert (scores.split, scores.with_paths, list(scores.by_level)) == (
        freebase.SPLIT,
        with_paths,
        levels,
    )
    assert scores.metrics["topic_in_graph"] == scores.metrics["answer_in_graph"] == 1
    assert scores.metrics["answer_coverage"] == reached
    assert scores.metrics.get("candidate_coverage") == (1 if with_paths else None)
    assert (scores.path_hit_at_1 is None) == (not with_paths)
    with pytest.raises(ValueError, match=f"{name} has no questions in dev .* some are in .*test"):
        evaluate(name, freebase_folder)
    with pytest.raises(ValueError, match=f"{name} has the split test-only alone, got 'random'"):
        evaluate(name, freebase_folder, split="random")


def test_memory_needs_something_to_remember(freebase_folder):
    scores = evaluate("WebQSP", freebase_folder, "test", planner="memory")
    assert scores.hits_at_1 == scores.path_hit_at_1 == 1
    with pytest.raises(ValueError, match="planner memory needs training questions with gold paths"):
        evaluate("CWQ", freebase_folder, "test", planner="memory")


def test_a_line_of_the_graph_has_four_fields(tmp_path):
    (tmp_path / "g.tsv").write_text("a\tr\tb\tG\na\tr\tb\n", "utf-8")
    with pytest.raises(MalformedLine, match=r"g\.tsv, line 2: expected head TAB relation"):
        list(freebase.facts(tmp_path / "g.tsv"))


@pytest.mark.needs("data")
@pytest.mark.parametrize(
    ("name", "questions", "askable", "with_paths", "train"),
    [
        ("WebQSP", 1_628, 1_566, 1_552, 2_826),
        ("CWQ", 3_531, 3_432, 2_831, 0),
        ("GrailQA", 1_000, 962, 988, 0),
    ],
)
def test_published_sets_are_complete(name, questions, askable, with_paths, train):
    data = benchmarks.load(name, os.environ["HYPERHOP_DATA"])
    known = set(data.graph.entity_names(data.graph.entity_ids))
    assert len(data.test) == len({question.id for question in data.test}) == questions
    assert sum(question.topic in known for question in data.test) == askable
    assert sum(bool(question.paths) for question in data.test) == with_paths
    assert (len(data.train), data.graph.num_triples) == (train, 65_297)


@pytest.mark.needs("data")
def test_subgraphs_of_webqsp_are_read():
    """Real ones, with names for ids; the first are enough."""
    folder = Path(os.environ["HYPERHOP_DATA"]) / "webqsp_cwq_grailqa"
    data = benchmarks.load_file(folder / "webqsp_dev250_subgraphs.jsonl", limit=50)
    assert len(data.test) == 50
    first = data.test[0]
    assert (first.id, first.topic, first.answers) == ("WebQTrn-9", "m.0c9c0", {"1971-10-13"})
    assert first.graph.num_triples == 17


def test_gold_needs_gold_paths(tmp_path):
    line = {"question": "q", "q_entity": ["a"], "a_entity": ["c"], "graph": [["a", "b", "c"]]}
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps(line), "utf-8")
    with pytest.raises(ValueError, match="planner gold needs gold paths"):
        evaluate(str(file), planner="gold")
