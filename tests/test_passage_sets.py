"""Questions with gold passages, as their published files have them."""

import json
import os

import pytest

from hyperhop.evaluate import passages
from hyperhop.evaluate.passages import hipporag, ketrag, pooled
from hyperhop.graph import MalformedLine
from passage_files import corpus, openie, questions, write_musique

DATA = os.environ.get("HYPERHOP_DATA", "")


def written(path, content):
    path.write_text(json.dumps(content), "utf-8")
    return path


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def titles(found, question):
    return {found.passages[int(place)].title for place in question.passages}


def test_a_set_in_the_files_of_hipporag(tmp_path):
    folder = write_musique(tmp_path)
    assert passages.is_here("musique", folder)
    assert not passages.is_here("popqa", folder)
    found = passages.load("musique", folder)
    assert len(found.passages) == 13
    assert found.triples[0] == [
        ("Lumo", "was founded by", "Ada Brook"),
        ("Lumo", "was founded in", "Harbor City"),
    ]
    assert found.triples[-1] == []
    first = found.questions[0]
    assert titles(found, first) == {"Lumo", "the Lumo lamp"}
    assert (first.answers, first.aliases) == ({"Ada Brook"}, {"Brook"})
    assert (first.id, first.level, first.topic) == ("2hop__0", "2hop", None)
    inside = passages.load("musique", folder / "hipporag_musique_train")
    assert inside.questions == found.questions


def test_passages_are_told_by_title_and_text_but_for_white_space(tmp_path):
    listed = corpus()
    spaced = {"title": "Lumo", "text": listed[0]["text"].replace(" ", "\n  ")}
    other = {"title": "Lumo", "text": "Another Lumo."}
    path = written(tmp_path / "corpus.json", [*listed, spaced, other])
    asked = written(tmp_path / "questions.json", questions())
    found = hipporag.load("x", "X", asked, path)
    assert [one.title for one in found.passages].count("Lumo") == 2
    assert titles(found, found.questions[0]) == {"Lumo", "the Lumo lamp"}
    assert "1 passages of the corpus are there twice" in found.notes[0]
    assert found.triples is None
    assert "Nobody extracted triples" in found.said[-1]


def test_a_gold_passage_that_the_corpus_lacks_is_missed_and_told(tmp_path):
    path = written(tmp_path / "corpus.json", corpus()[1:])
    found = hipporag.load("x", "X", written(tmp_path / "q.json", questions()), path)
    gone = found.questions[0].passages - {one.id for one in found.passages}
    assert gone == {"not in the corpus: Lumo"}
    assert "1 gold passages are not in the corpus" in found.notes[-1]


def test_an_openie_file_of_part_of_the_corpus(tmp_path):
    path = written(tmp_path / "corpus.json", corpus())
    asked = written(tmp_path / "q.json", questions())
    some = written(tmp_path / "some.json", {"docs": openie()["docs"][:4]})
    found = hipporag.load("x", "X", asked, path, some)
    assert sum(map(len, found.triples)) == 6
    assert "9 passages are not in the OpenIE file" in found.notes[-1]
    doc = {"passage": "Elsewhere\nNothing.", "extracted_entities": [], "extracted_triples": []}
    other = written(tmp_path / "other.json", {"docs": [doc]})
    with pytest.raises(ValueError, match="has none of the corpus"):
        hipporag.load("x", "X", asked, path, other)


def test_hotpotqa_names_titles_and_lists_sentences(tmp_path):
    entry = {
        "_id": "h1",
        "type": "bridge",
        "question": "Q?",
        "answer": "yes",
        "supporting_facts": [["B", 0]],
        "context": [["A", ["One.", " Two."]], ["B", ["Three."]]],
    }
    asked = written(tmp_path / "q.json", [entry])
    path = written(tmp_path / "c.json", {"A": ["One.", "Two."], "B": ["Three."]})
    found = hipporag.load("x", "X", asked, path)
    assert [(one.title, one.text) for one in found.passages] == [
        ("A", "One. Two."),
        ("B", "Three."),
    ]
    assert titles(found, found.questions[0]) == {"B"}
    assert found.questions[0].level == "bridge"


def test_popqa_writes_its_lists_as_text(tmp_path):
    entry = {
        "id": 7,
        "obj": "politician",
        "prop": "occupation",
        "question": "Q?",
        "possible_answers": '["politician", "pol"]',
        "o_wiki_title": "Politician",
        "o_aliases": '["polit."]',
        "paragraphs": [
            {"title": "A", "text": "a"},
            {"title": "B", "text": "b", "is_supporting": False},
        ],
    }
    found = hipporag.load("x", "X", written(tmp_path / "q.json", [entry]))
    (question,) = found.questions
    assert question.answers == {"politician", "pol"}
    assert question.aliases == {"Politician", "polit."}
    assert (question.id, question.level) == ("7", "occupation")
    assert titles(found, question) == {"A"}
    assert "pooled" in found.notes[0]
    entry["possible_answers"] = "politician"
    with pytest.raises(MalformedLine, match="possible_answers"):
        hipporag.load("x", "X", written(tmp_path / "q.json", [entry]))


def test_nq_has_contexts_and_lists_of_answers(tmp_path):
    entry = {
        "question": "Q?",
        "reference": ["one", "1"],
        "contexts": [{"title": "A", "text": "a", "is_supporting": True}],
    }
    found = hipporag.load("x", "X", written(tmp_path / "q.json", [entry]))
    assert found.questions[0].answers == {"one", "1"}
    assert titles(found, found.questions[0]) == {"A"}
    del entry["reference"]
    with pytest.raises(MalformedLine, match="an answer"):
        hipporag.load("x", "X", written(tmp_path / "q.json", [entry]))


def test_files_of_hipporag_2(tmp_path):
    folder = tmp_path / "hipporag2"
    folder.mkdir()
    written(folder / "nq.json", questions())
    written(folder / "nq_corpus.json", corpus())
    assert passages.load("hipporag2/nq", tmp_path).triples is None
    written(folder / "openie_nq_results_ner_a.json", openie())
    assert sum(map(len, passages.load("hipporag2/nq", tmp_path).triples)) == 18
    written(folder / "openie_nq_results_ner_b.json", openie())
    with pytest.raises(ValueError, match="several OpenIE files"):
        passages.load("hipporag2/nq", tmp_path)


def test_gold_evidence_is_an_oracle_and_says_so(tmp_path):
    entry = {
        "_id": "w1",
        "type": "compositional",
        "question": "Q?",
        "answer": "Cy",
        "supporting_facts": [["A (film)", 0], ["B", 0]],
        "evidences": [["A", "director", "B"], ["B", "father", "Cy"]],
        "context": [["A (film)", ["A is by B."]], ["B", ["B is a son of Cy."]], ["D", ["B."]]],
    }
    bare = {key: value for key, value in entry.items() if key != "context"}
    path = lines(tmp_path / "w.json", [entry, bare])
    plain = pooled.load("x", "X", path)
    assert plain.triples is None
    assert not plain.oracle
    assert "1 questions come without passages" in plain.notes[-1]
    found = pooled.load("x", "X", path, oracle=True)
    assert found.triples == [[("A", "director", "B")], [("B", "father", "Cy")], []]
    assert found.oracle
    assert found.notes[0].startswith("ORACLE UPPER BOUND")


def test_passages_without_titles_and_judgements(tmp_path):
    asked = written(tmp_path / "q.json", [{"id": "2hop__1", "question": "Q?", "answer": "x"}])
    (tmp_path / "d.txt").write_text("One.\nTwo.\nOne.\n", "utf-8")
    found = ketrag.load("x", "X", asked, tmp_path / "d.txt")
    assert [(one.title, one.text) for one in found.passages] == [(None, "One."), (None, "Two.")]
    assert found.questions[0].passages == frozenset()
    assert "1 passages are there twice" in found.notes[-1]


def test_what_is_no_set(tmp_path):
    with pytest.raises(ValueError, match="expected one of musique"):
        passages.load("nothing", tmp_path)
    with pytest.raises(FileNotFoundError):
        passages.load("musique", tmp_path)
    empty = written(tmp_path / "q.json", [])
    for load in (hipporag.load, lambda *args: ketrag.load(*args, empty)):
        with pytest.raises(ValueError, match="no questions"):
            load("x", "X", empty)
    with pytest.raises(ValueError, match="no questions with passages"):
        pooled.load("x", "X", lines(tmp_path / "w.json", []))


@pytest.mark.needs("data")
@pytest.mark.parametrize(
    ("name", "asked", "corpus_size", "triples", "gold"),
    [
        ("musique", 100, 1890, 17319, 237),
        ("hotpotqa", 100, 994, None, 200),
        ("hotpotqa-dev", 200, 1971, None, 400),
        ("2wiki", 164, 1294, None, 414),
        ("2wiki-oracle", 164, 1294, 425, 414),
        ("popqa", 1000, 1475, None, 2000),
        ("ketrag", 500, 6761, None, 0),
    ],
)
def test_the_real_sets(name, asked, corpus_size, triples, gold):
    found = passages.load(name, DATA)
    assert (len(found.questions), len(found.passages)) == (asked, corpus_size)
    counted = None if found.triples is None else sum(map(len, found.triples))
    assert counted == triples
    assert sum(len(question.passages) for question in found.questions) == gold
    known = {one.id for one in found.passages}
    assert all(question.passages <= known for question in found.questions)
