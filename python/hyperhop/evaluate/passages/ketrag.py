"""KET-RAG's files: questions with answers, and passages without titles that nobody judged."""

from pathlib import Path

from hyperhop.evaluate.files import json_items, lines
from hyperhop.evaluate.passages.corpus import Corpus
from hyperhop.evaluate.passages.passage_set import PassageSet
from hyperhop.evaluate.passages.question import question


def load(name: str, title: str, questions: str | Path, document: str | Path) -> PassageSet:
    """Read a JSON list of questions, and a file of text that holds a passage a line.

    ValueError without questions, MalformedLine where one has another form.
    """
    corpus = Corpus()
    for _, line in lines(document):
        corpus.add(None, line)
    asked = [question(entry, corpus) for entry in json_items(questions)]
    if not asked:
        raise ValueError(f"passages: {questions} holds no questions")
    said = ["No passage is marked as gold, so there is no recall: answer@k is what can be told."]
    if corpus.merged:
        said.append(f"{corpus.merged:,} passages are there twice and count once.")
    return PassageSet(name, title, corpus.passages, None, asked, notes=tuple(said))
