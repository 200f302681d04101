"""Small corpora, an encoder that counts, and a reference index; shared by the tests of HELP."""

import numpy as np
from hypothesis import strategies as st

from hyperhop.help import Passage
from hyperhop.help.store import arrays_of
from hyperhop.text import HashingEncoder

# Forms of few names, so that most triples meet; also an em dash, a ligature, other scripts.
NAMES = ["Ann", "ANN", "ann", "Ann ", "Bob—Ray", "Bob-Ray", "Zoë", "ﬁsh", "fish", "日本", "🦔", "x"]
RELATIONS = ["likes", "Likes", "born_in", "born in", "は"]


def triples():
    name = st.sampled_from(NAMES)
    return st.lists(st.tuples(name, st.sampled_from(RELATIONS), name), max_size=5)


class Counting:
    """Hashed rows of few columns; remembers what it was given."""

    name, dim = "hashing:16", 16

    def __init__(self, rows=None):
        self.texts, self._rows, self._hashing = [], rows or {}, HashingEncoder(16)

    def encode(self, texts):
        self.texts += texts
        rows = self._hashing.encode(texts)
        for place, text in enumerate(texts):
            if text in self._rows:
                rows[place] = self._rows[text]
        return rows


def same(one, other):
    """Are two indexes equal, in every array and its dtype?"""
    first, second = arrays_of(one), arrays_of(other)
    return (
        first.keys() == second.keys()
        and one.encoder == other.encoder
        and one.synonyms == other.synonyms
        and all(
            first[name].dtype == second[name].dtype
            and np.array_equal(first[name], second[name], equal_nan=first[name].dtype.kind == "f")
            for name in first
        )
    )


def bridge():
    """Three passages that are joined by names written differently, and one without triples."""
    passages = [
        Passage("one", "Ida Brandt built the Calder Bridge.", "Calder Bridge"),
        Passage("two", "IDA BRANDT was born in Bergen.", "Ida Brandt"),
        Passage("three", "Bergen lies in Norway; Ida Brandt was born there.", "Bergen"),
        Passage("four", "Nothing to see."),
    ]
    return passages, [
        [("Calder Bridge", "engineer", "Ida Brandt")],
        [("IDA BRANDT", "born in", "Bergen")],
        [("Bergen", "lies in", "Norway"), ("Ida Brandt", "Born_in", "bergen")],
        [],
    ]
