"""Sets in the files of HippoRAG 1 and 2: questions, corpus, and maybe OpenIE triples."""

from collections.abc import Iterator
from pathlib import Path

from hyperhop.evaluate.files import holds_object, json_items, json_object, located
from hyperhop.evaluate.passages.corpus import Corpus, joined
from hyperhop.evaluate.passages.passage_set import PassageSet
from hyperhop.evaluate.passages.question import absent, given, question
from hyperhop.help import read_openie


def load(
    name: str,
    title: str,
    questions: str | Path,
    corpus: str | Path | None = None,
    openie: str | Path | None = None,
    notes: tuple[str, ...] = (),
) -> PassageSet:
    """Read a set, each file plain or .gz.

    Args:
        questions: a JSON list, see `question.question`.
        corpus: a JSON list of objects with `title` and `text`, or an object with the sentences of
            each title; None pools the passages that stand with the questions.
        openie: see `read_openie`; None has no triples.

    MalformedLine where a file has another form, ValueError for a set without questions.
    """
    entries = list(json_items(questions))
    if not entries:
        raise ValueError(f"passages: {questions} holds no questions")
    found = Corpus()
    pairs = (
        _corpus(corpus)
        if corpus is not None
        else ((one.title, one.text) for entry in entries for one in given(entry))
    )
    for heading, text in pairs:
        found.add(heading, text)
    said = list(notes)
    if corpus is None:
        said.append("The corpus is the passages that stand with the questions, pooled.")
    elif found.merged:
        said.append(f"{found.merged:,} passages of the corpus are there twice and count once.")
    triples = None
    if openie is not None:
        triples, unknown = found.triples(read_openie(located(openie)))
        if unknown:
            said.append(f"{unknown:,} passages are not in the OpenIE file.")
    asked = [question(entry, found) for entry in entries]
    if missing := absent(asked):
        said.append(f"{missing:,} gold passages are not in the corpus; they count as missed.")
    return PassageSet(name, title, found.passages, triples, asked, notes=tuple(said))


def _corpus(path: str | Path) -> Iterator[tuple[str, str]]:
    """(title, text) of each passage, of either form of file."""
    if holds_object(path):
        entry = json_object(path)
        for title in entry.values:
            yield title, joined(entry.texts(title))
        return
    for item in json_items(path):
        yield item.take("title", str), item.take("text", str)
