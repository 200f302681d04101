"""Adding, removing and updating passages: always exactly what a rebuild would give."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from help_corpora import Counting, bridge, same, triples
from hyperhop.help import Passage, add, build_index, remove, update
from hyperhop.text import HashingEncoder

ids = st.sampled_from([f"p{i}" for i in range(8)])
contents = st.tuples(st.sampled_from(["", "Ann", "日本 x", "likes fish"]), triples())
edits = st.lists(
    st.tuples(st.sampled_from(["add", "remove", "update"]), st.dictionaries(ids, contents)),
    max_size=6,
)


def passages_of(rows):
    return [Passage(of, text) for of, (text, _) in rows.items()], [t for _, t in rows.values()]


@given(
    st.dictionaries(ids, contents),
    edits,
    st.sampled_from(["float32", "float16"]),
    st.sampled_from([None, 0.3, 0.8]),
)
def test_any_edits_equal_a_rebuild(held, changes, storage, synonyms):
    index = build_index(*passages_of(held), Counting(), storage=storage, synonyms=synonyms)
    for what, rows in changes:
        there = what != "add"
        rows = {of: row for of, row in rows.items() if (of in held) == there}
        encoder = Counting()
        if what == "remove":
            index = remove(index, rows, encoder)
            held = {of: row for of, row in held.items() if of not in rows}
        else:
            changed = add if what == "add" else update
            index = changed(index, *passages_of(rows), encoder)
            held = {**held, **rows}
        rebuilt = build_index(*passages_of(held), Counting(), storage=storage, synonyms=synonyms)
        assert same(index, rebuilt)
        assert list(index.passages) == list(rebuilt.passages)


def test_only_what_is_new_is_encoded():
    passages, listed = bridge()
    index = build_index(passages[:3], listed[:3], Counting(), synonyms=0.9)
    encoder = Counting()
    new = [("Norway", "borders", "Sweden"), ("Bergen", "lies in", "Norway")]
    more = add(index, [Passage("five", "A text.")], [new], encoder)
    assert encoder.texts == ["A text.", "Norway borders Sweden", "Sweden"]
    encoder = Counting()
    assert same(remove(more, ["five"], encoder), index)
    assert encoder.texts == []


def test_a_name_that_is_shown_in_another_form_is_encoded():
    listed = [[("Ann", "likes", "x"), ("Ann", "is", "y")], [("ANN", "is", "z")]]
    index = build_index(["", ""], listed, Counting())
    encoder = Counting()
    assert list(remove(index, ["0"], encoder).entities) == ["ANN", "z"]
    assert encoder.texts == ["ANN is z"]


def test_rows_are_taken_over_as_they_are_stored():
    rows = {"a": np.full(16, np.nan)}
    index = build_index(["a"], None, Counting(rows), storage="float16")
    more = add(index, ["b"], None, Counting())
    assert np.isnan(more.passage_embeddings[0]).all()
    assert more.passage_embeddings.dtype == np.float16


def test_the_old_index_stays_as_it_was():
    passages, listed = bridge()
    index = build_index(passages, listed)
    add(index, ["new"], [[("a", "b", "c")]])
    update(index, [Passage("one", "other")])
    remove(index, ["one", "two"])
    assert same(index, build_index(passages, listed))


def test_an_update_keeps_the_position_and_without_triples_there_are_none():
    index = update(build_index(*bridge()), [Passage("two", "other")])
    assert [passage.id for passage in index.passages] == ["one", "two", "three", "four"]
    assert index.passages[1] == Passage("two", "other")
    assert index.triple_counts.tolist() == [1, 0, 2, 0]


def test_added_texts_are_called_by_their_position():
    index = add(build_index(["a", "b"]), ["c"])
    assert [passage.id for passage in index.passages] == ["0", "1", "2"]


def test_what_cannot_be_done():
    index = build_index(*bridge())
    with pytest.raises(ValueError, match="add: the index has a passage 'one' already; use update"):
        add(index, [Passage("one", "")])
    with pytest.raises(ValueError, match="update: the index has no passage 'six'"):
        update(index, [Passage("six", "")])
    with pytest.raises(ValueError, match="remove: the index has no passage 'six'"):
        remove(index, ["six"])
    with pytest.raises(ValueError, match="remove: the passage 'one' is given twice"):
        remove(index, ["one", "one"])
    with pytest.raises(TypeError, match="iterable of passage ids, got one str"):
        remove(index, "one")
    with pytest.raises(ValueError, match="update: triples must hold one list for each of 1"):
        update(index, [Passage("one", "")], [])
    with pytest.raises(ValueError, match=r"made with the encoder 'hashing' \(dim 512\)"):
        add(index, ["x"], None, HashingEncoder(8))
