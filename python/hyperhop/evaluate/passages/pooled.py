"""Sets whose corpus is the passages that stand with their questions, as JSON Lines."""

from collections.abc import Sequence
from pathlib import Path

from hyperhop.evaluate.files import Entry, json_lines
from hyperhop.evaluate.passages.corpus import Corpus
from hyperhop.evaluate.passages.passage_set import PassageSet
from hyperhop.evaluate.passages.question import given, question
from hyperhop.help import Triple

_POOLED = "The corpus is the passages that stand with the questions, pooled."
_ORACLE = (
    "ORACLE UPPER BOUND: the triples are the gold evidence of these very questions, and passages "
    "that are not gold have none; no number that uses them is a result."
)


def load(
    name: str, title: str, path: str | Path, notes: Sequence[str] = (), *, oracle: bool = False
) -> PassageSet:
    """Read questions of the form of HotpotQA and 2WikiMultihopQA, an object a line.

    A question without `context` has no passages and is left out, which a note says. `oracle` takes
    the gold `evidences` of each question for triples of its gold passages (see `_stated`).
    """
    entries = list(json_lines(path))
    asked = [entry for entry in entries if entry.values.get("context")]
    if not asked:
        raise ValueError(f"passages: {path} holds no questions with passages")
    corpus = Corpus()
    for entry in asked:
        for one in given(entry):
            corpus.add(one.title, one.text)
    said = [*notes, _POOLED]
    if len(asked) < len(entries):
        said.append(f"{len(entries) - len(asked):,} questions come without passages: left out.")
    triples = None
    if oracle:
        stated: list[dict[Triple, None]] = [{} for _ in corpus.passages]
        for entry in asked:
            for triple, place in _stated(entry, corpus):
                stated[place][triple] = None
        triples = [list(found) for found in stated]
        said.insert(0, _ORACLE)
    questions = [question(entry, corpus) for entry in asked]
    return PassageSet(
        name, title, corpus.passages, triples, questions, oracle=oracle, notes=tuple(said)
    )


def _stated(entry: Entry, corpus: Corpus) -> list[tuple[Triple, int]]:
    """Each gold triple with the position of a gold passage taken to state it.

    That is the one whose title is the triple's head; else those that hold head and tail, else those
    that hold the head, else all of the question.
    """
    gold = [one for one in given(entry) if one.gold]
    found = []
    for listed in entry.text_lists("evidences"):
        if len(listed) != 3:
            raise entry.wrong("evidences of head, relation and tail", repr(listed))
        head, relation, tail = listed
        tests = (
            [one.title == head for one in gold],
            [head in one.text and tail in one.text for one in gold],
            [head in one.text for one in gold],
            [True for _ in gold],
        )
        fitting = next(test for test in tests if any(test) or test is tests[-1])
        for one in (one for one, fits in zip(gold, fitting, strict=True) if fits):
            place = corpus.find(one.title, one.text)
            assert place is not None  # it was pooled from here
            found.append(((head, relation, tail), int(place)))
    return found
