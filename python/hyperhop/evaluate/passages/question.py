"""One question as the files of HotpotQA, 2WikiMultihopQA, MuSiQue, PopQA and HippoRAG 2 have it."""

import json
from collections.abc import Iterator
from typing import NamedTuple

from hyperhop.evaluate.files import Entry
from hyperhop.evaluate.passages.corpus import Corpus, joined
from hyperhop.evaluate.question import Question

_ABSENT = "not in the corpus: "
_TYPES = ("type", "prop")  # what questions are grouped by


class Given(NamedTuple):
    """A passage that stands with its question."""

    title: str
    text: str
    gold: bool


def given(entry: Entry) -> Iterator[Given]:
    """The passages that stand with a question, and which of them are gold.

    `paragraphs` or `contexts` say so themselves by `is_supporting` (where it is missing they are
    gold, as HippoRAG 2 counts them); of `context`, a list of (title, sentences), those are gold
    whose titles `supporting_facts` name.
    """
    if "context" in entry.values and "supporting_facts" in entry.values:
        titles = {fact[0] for fact in entry.take("supporting_facts", list)}
        for title, sentences in entry.take("context", list):
            yield Given(title, joined(sentences), title in titles)
        return
    for passage in entry.inside("paragraphs", entry.values.get("contexts") or []):
        text = passage.take("text", str, passage.values.get("paragraph_text"))
        yield Given(passage.take("title", str), text, passage.values.get("is_supporting", True))


def question(entry: Entry, corpus: Corpus) -> Question:
    """A question without topic; its gold passages by their ids in the corpus.

    A gold passage that the corpus lacks gets an id that no system can find, so that it is missed.
    MalformedLine where a key has another form, or without an answer.
    """
    name = str(entry.values.get("_id", entry.values.get("id", entry.number)))
    gold = [one for one in given(entry) if one.gold]
    answers, aliases = _answers(entry)
    return Question(
        entry.take("question", str),
        None,
        None,
        frozenset(answers),
        frozenset(),
        name,
        id=name,
        level=_level(entry, name),
        aliases=frozenset(aliases) - frozenset(answers),
        passages=frozenset(
            corpus.find(one.title, one.text) or f"{_ABSENT}{one.title}" for one in gold
        ),
    )


def absent(questions: list[Question]) -> int:
    """How many gold passages the corpus lacks."""
    return sum(name.startswith(_ABSENT) for one in questions for name in one.passages)


def _answers(entry: Entry) -> tuple[list[str], list[str]]:
    """Answers, and other names of them. PopQA writes its lists as JSON inside of text."""
    aliases = entry.texts("answer_aliases", [])
    for key in ("answer", "gold_ans", "reference"):
        if key in entry.values:
            value = entry.values[key]
            return entry.texts(key) if isinstance(value, list) else [entry.take(key, str)], aliases
    if "obj" not in entry.values:
        raise entry.wrong("an answer", repr(sorted(entry.values)))
    answers = [entry.take("obj", str), *_listed(entry, "possible_answers")]
    title = [entry.take("o_wiki_title", str)] if "o_wiki_title" in entry.values else []
    return answers, [*aliases, *title, *_listed(entry, "o_aliases")]


def _listed(entry: Entry, key: str) -> list[str]:
    value = entry.values.get(key)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            raise entry.wrong(f"{key!r} to be a list, or one as JSON", repr(value)) from None
    return Entry({key: value}, entry.source, entry.number, entry.unit).texts(key, [])


def _level(entry: Entry, name: str) -> str:
    """What kind of question it is; MuSiQue says so in the id alone."""
    for key in _TYPES:
        if key in entry.values:
            return entry.take(key, str)
    kind, mark, _ = name.partition("__")
    return kind if mark else ""
