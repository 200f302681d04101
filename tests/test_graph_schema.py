"""The relation-schema graph against plain Python, stored and opened, damaged, and on real data."""

import gzip
import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperhop import KnowledgeGraph
from hyperhop._core import GraphLimits, graph_schema
from hyperhop.graph import DamagedStore, RelationSchema, SchemaTooLarge, UnknownRelation, schema
from reference_graph import ReferenceGraph
from reference_schema import ReferenceSchema
from strategies_graph import some_triples

FACTS = [
    ("Lima", "capital_of", "Peru"),
    ("Peru", "borders", "Chile"),
    ("Chile", "borders", "Peru"),
    ("Chile", "currency", "Peso"),
    ("Peru", "self", "Peru"),
]


def both(triples):
    return KnowledgeGraph.from_triples(triples), ReferenceSchema(ReferenceGraph(triples))


def as_lists(paths):
    return [tuple(map(int, sequence)) for sequence in paths]


def as_counts(found):
    return {
        (first, int(second)): int(count)
        for first in range(found.num_symbols)
        for second, count in zip(*found.followers(first), strict=True)
    }


def check(kg, reference):
    found = kg.schema
    assert as_counts(found) == reference.counts
    assert found.num_pairs == len(reference.counts)
    assert [found.domain_size(s) for s in range(found.num_symbols)] == [
        reference.domain_size(s) for s in range(found.num_symbols)
    ]
    for entity, symbols in reference.leaving.items():
        assert kg.leaving(entity).tolist() == sorted(symbols)


@settings(max_examples=200, deadline=None)
@given(some_triples)
def test_counts_equal_the_reference(triples):
    kg, reference = both(triples)
    check(kg, reference)
    half = kg.num_relations
    for first in range(2 * half):
        for second in range(2 * half):
            count = kg.schema.count(first, second)
            assert count == reference.counts.get((first, second), 0)
            # The other way round it is the same walk, read backward.
            assert count == kg.schema.count(
                (second + half) % (2 * half), (first + half) % (2 * half)
            )


def test_many_entities_with_few_distinct_sets():
    """Sets that are met again, also after another took their place among the recent ones."""
    rng = np.random.default_rng(0)
    triples = {
        (f"e{a}", f"r{r}", f"e{b}")
        for a, r, b in zip(
            *(rng.integers(0, high, 1_200).tolist() for high in (400, 3, 400)), strict=True
        )
    }
    kg = KnowledgeGraph.from_triples(triples)
    leaving = np.zeros((kg.num_entities, 6), bool)
    for head, relation, tail in triples:
        leaving[kg.entity_id(head), kg.relation_id(relation)] = True
        leaving[kg.entity_id(tail), 3 + kg.relation_id(relation)] = True
    both_leave = leaving.T.astype(np.int64) @ leaving
    expected = np.roll(both_leave, 3, axis=0)
    found = np.zeros((6, 6), np.int64)
    for (first, second), count in as_counts(kg.schema).items():
        found[first, second] = count
    np.testing.assert_array_equal(found, expected)


@settings(max_examples=200, deadline=None)
@given(
    some_triples,
    st.data(),
    st.integers(0, 3),
    st.none() | st.integers(1, 6),
    st.integers(1, 30) | st.just(100_000),
    st.booleans(),
)
def test_sequences_equal_the_reference(triples, data, hops, beam, cap, inverse):
    kg, reference = both(triples)
    symbols = range(2 * kg.num_relations)
    first = data.draw(st.none() | st.lists(st.sampled_from(symbols)))
    found = kg.schema.sequences(first, hops, beam=beam, cap=cap, inverse=inverse)
    begin = symbols if first is None else first
    expected, truncated = reference.sequences(begin, hops, beam, cap, inverse)
    assert as_lists(found) == expected
    assert found.truncated == truncated
    assert [kg.schema.support(s) for s in found] == [reference.support(s) for s in expected]


@settings(max_examples=100, deadline=None)
@given(some_triples, st.integers(1, 3), st.booleans())
def test_every_walk_is_type_consistent(triples, hops, inverse):
    kg = KnowledgeGraph.from_triples(triples)
    for topic in range(kg.num_entities):
        walked = set(as_lists(kg.sequences(topic, hops, inverse=inverse)))
        found = kg.schema.sequences(kg.leaving(topic), hops, inverse=inverse)
        assert walked <= set(as_lists(found))


def test_names_stand_for_symbols():
    kg = KnowledgeGraph.from_triples(FACTS)
    found = kg.schema
    assert kg.schema is found
    assert repr(found) == f"RelationSchema(8 symbols, {found.num_pairs} pairs)"
    assert found.count("capital_of", "borders") == 1
    assert found.count("capital_of", "currency") == 0
    assert found.domain_size("borders") == 2
    assert found.range_size("currency") == found.domain_size("^currency") == 1
    assert found.support(["capital_of", "borders", "currency"]) == 1
    assert found.support(["currency", "borders"]) == 0
    named = found.sequences(["currency", "^capital_of"], 1, inverse=True)
    assert as_lists(named) == [(2,), (5,)]
    assert as_lists(found.sequences(["currency", "^capital_of"], 1)) == [(2,)]


def test_a_beam_keeps_the_most_supported():
    """Ten entities go on by `often`, one by `rare`; among equals the name decides."""
    kg = KnowledgeGraph.from_triples(
        [("t", "in", f"e{i}") for i in range(10)]
        + [(f"e{i}", "often", "x") for i in range(10)]
        + [("e0", "rare", "y"), ("e1", "also_rare", "y")]
    )
    names = kg.schema.names
    found = kg.schema.sequences(max_hops=1, beam=1)
    assert [[names[s] for s in sequence] for sequence in found] == [["often"]]
    found = kg.schema.sequences(["in"], 2, beam=2, inverse=True)
    assert [[names[s] for s in sequence] for sequence in found] == [
        ["in"],
        ["in", "often"],
        ["in", "^in"],
    ]
    found = kg.schema.sequences(["in"], 2, beam=1, inverse=True)
    assert [[names[s] for s in sequence] for sequence in found] == [["in"], ["in", "^in"]]


def test_a_beam_below_many_steps():
    """More extensions at one depth than are held before the beam narrows them."""
    kg = KnowledgeGraph.from_triples((f"e{i % 7}", f"r{i:03}", f"e{i * i % 7}") for i in range(310))
    everything = kg.schema.sequences(max_hops=2, cap=10**6, inverse=True)
    assert len(everything) > 65_536 + 620
    pairs = as_lists(everything)[620:]
    best = sorted(pairs, key=lambda s: (-kg.schema.support(s), [kg.symbols[i] for i in s]))
    found = kg.schema.sequences(max_hops=2, beam=620, inverse=True)
    assert as_lists(found)[620:] == sorted(best[:620])
    assert not found.truncated


def test_limits_are_reported(monkeypatch):
    kg = KnowledgeGraph.from_triples([(f"e{i}", f"r{i % 5}", f"e{i % 7}") for i in range(40)])
    full = as_lists(kg.schema.sequences(inverse=True))
    for limits in (GraphLimits(500, 10**8, 0), GraphLimits(10**9, 3_000, 0)):
        monkeypatch.setattr(schema, "_LIMITS", limits)
        cut = kg.schema.sequences(inverse=True)
        assert cut.truncated
        assert as_lists(cut) == full[: len(cut)]
        assert 0 < len(cut) < len(full)
        assert kg.schema.sequences(inverse=True, beam=10**6).truncated


def test_too_many_pairs_are_refused(monkeypatch):
    kg = KnowledgeGraph.from_triples(FACTS)
    monkeypatch.setattr(schema, "_MOST_PAIRS", 5)
    with pytest.raises(SchemaTooLarge, match="expected at most 5 pairs of relations") as raised:
        kg.schema
    assert pickle.loads(pickle.dumps(raised.value)).most == 5
    monkeypatch.undo()
    check(kg, ReferenceSchema(ReferenceGraph(FACTS)))


def test_a_graph_without_facts():
    found = KnowledgeGraph.from_triples([]).schema
    assert (found.num_symbols, found.num_pairs) == (0, 0)
    assert len(found.sequences(inverse=True, beam=3)) == 0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda s: s.count(8, 0), IndexError, "count: a symbol must be an id below 8, got 8"),
        (lambda s: s.followers(-1), IndexError, "followers: a symbol must be an id below 8"),
        (lambda s: s.domain_size(1.5), TypeError, "domain_size: a symbol must be an integer"),
        (lambda s: s.range_size("border"), UnknownRelation, "did you mean 'borders'"),
        (lambda s: s.support([]), ValueError, "support: sequence must hold at least one symbol"),
        (lambda s: s.sequences([True]), TypeError, "sequences: a symbol must be an integer"),
        (lambda s: s.sequences(max_hops=-1), ValueError, "max_hops must be at least 0, got -1"),
        (lambda s: s.sequences(beam=0), ValueError, "sequences: beam must be at least 1, got 0"),
        (lambda s: s.sequences(cap=0), ValueError, "sequences: cap must be at least 1, got 0"),
    ],
)
def test_bad_arguments_say_what_is_wrong(call, error, message):
    with pytest.raises(error, match=message):
        call(KnowledgeGraph.from_triples(FACTS).schema)


def test_huge_bounds_are_accepted():
    found = KnowledgeGraph.from_triples(FACTS).schema
    assert as_lists(found.sequences(["currency"], 10**30, beam=10**30, cap=10**30)) == [(2,)]


def test_a_changed_graph_has_a_schema_of_its_own(tmp_path):
    kg = KnowledgeGraph.from_triples(FACTS)
    kg.schema
    fewer = kg.without([("Lima", "capital_of", "Peru")])
    more = fewer.merge([("Lima", "twin_of", "Lima")])
    assert fewer.num_relation_ids == 4 > fewer.num_relations  # the id of capital_of is retired
    for graph in (fewer, more):
        graph.save(tmp_path / "kg")
        opened = KnowledgeGraph.open(tmp_path / "kg")
        _, reference = both(list(graph.triples()))
        named = {
            (reference.names[first], reference.names[second]): count
            for (first, second), count in reference.counts.items()
        }
        names = graph.schema.names
        assert named == {
            (names[first], names[second]): count
            for (first, second), count in as_counts(opened.schema).items()
        }
        assert graph.schema.num_symbols == 2 * graph.num_relation_ids
    assert fewer.schema.domain_size("capital_of") == 0
    assert as_lists(fewer.schema.sequences(max_hops=1)) == [(0,), (2,), (3,)]


# Stored


def files(directory):
    return {path.name for path in Path(directory).iterdir() if path.suffix == ".npy"}


def test_it_is_stored_once_it_was_used(tmp_path, monkeypatch):
    kg = KnowledgeGraph.from_triples(FACTS)
    kg.save(tmp_path / "without")
    assert not any("schema" in name for name in files(tmp_path / "without"))
    expected = as_counts(kg.schema)
    kg.save(tmp_path / "with")
    opened = KnowledgeGraph.open(tmp_path / "with", verify=True)
    copied = pickle.loads(pickle.dumps(kg, protocol=5))
    monkeypatch.setattr(schema, "graph_schema", None)  # nothing may be computed from here on
    for graph in (opened, copied):
        assert as_counts(graph.schema) == expected
        assert isinstance(graph.schema, RelationSchema)
    assert not opened.schema.counts.flags.owndata
    opened.save(tmp_path / "again")
    assert as_counts(KnowledgeGraph.open(tmp_path / "again").schema) == expected
    monkeypatch.undo()
    assert as_counts(KnowledgeGraph.open(tmp_path / "without").schema) == expected


def test_old_generations_of_it_are_removed(tmp_path):
    kg = KnowledgeGraph.from_triples(FACTS)
    kg.schema
    kg.save(tmp_path)
    other = KnowledgeGraph.from_triples([("a", "b", "c")])
    for _ in range(2):
        other.save(tmp_path)
    assert not any("schema" in name for name in files(tmp_path))


def use_schema(kg):
    found = kg.schema
    for symbol in range(found.num_symbols):
        found.followers(symbol)
        found.domain_size(symbol)
        found.count(symbol, symbol)
    for beam in (None, 3):
        found.sequences(max_hops=3, inverse=True, beam=beam, cap=500)
    for entity in range(kg.num_entities):
        kg.leaving(entity)


def test_damage_never_crashes(tmp_path):
    kg = KnowledgeGraph.from_triples(FACTS)
    kg.schema
    kg.save(tmp_path / "kg")
    for name in sorted(name for name in files(tmp_path / "kg") if "schema" in name):
        data = (tmp_path / "kg" / name).read_bytes()
        for position in range(128, len(data)):
            for mask in (0x01, 0x80):
                changed = bytearray(data)
                changed[position] ^= mask
                (tmp_path / "kg" / name).write_bytes(changed)
                try:
                    use_schema(KnowledgeGraph.open(tmp_path / "kg"))
                except DamagedStore:
                    continue
        with pytest.raises(DamagedStore, match=f"{name} is damaged: its checksum"):
            KnowledgeGraph.open(tmp_path / "kg", verify=True)
        (tmp_path / "kg" / name).write_bytes(data)
    use_schema(KnowledgeGraph.open(tmp_path / "kg", verify=True))


def test_it_is_computed_from_a_damaged_graph_without_a_crash(tmp_path):
    KnowledgeGraph.from_triples(FACTS).save(tmp_path / "kg")
    for name in sorted(files(tmp_path / "kg")):
        if not name.startswith(("out_", "in_")):
            continue
        data = (tmp_path / "kg" / name).read_bytes()
        for position in range(128, len(data)):
            changed = bytearray(data)
            changed[position] ^= 0x81
            (tmp_path / "kg" / name).write_bytes(changed)
            try:
                use_schema(KnowledgeGraph.open(tmp_path / "kg"))
            except DamagedStore:
                continue
        (tmp_path / "kg" / name).write_bytes(data)


def test_arrays_that_do_not_fit_are_found_at_open(tmp_path):
    kg = KnowledgeGraph.from_triples(FACTS)
    other = KnowledgeGraph.from_triples([("a", "b", "c")])
    arrays = dict(kg._arrays)
    kg.schema
    other.schema
    for wrong, name in (
        ({n: other._arrays[n] for n in schema.SCHEMA_DTYPES}, "schema_offsets"),
        ({"schema_offsets": kg._arrays["schema_offsets"]}, "schema_symbols"),
    ):
        shutil.rmtree(tmp_path / "kg", ignore_errors=True)
        KnowledgeGraph({**arrays, **wrong}).save(tmp_path / "kg")
        with pytest.raises(DamagedStore, match=f"{name} does not fit the counts"):
            KnowledgeGraph.open(tmp_path / "kg")


# Real data


@pytest.mark.needs("data")
def test_freebase_schema():
    """The ontology itself as a graph: type -relation-> type."""
    path = Path(os.environ["HYPERHOP_DATA"]) / "freebase_schema" / "fb_roles.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        kg = KnowledgeGraph.from_triples(tuple(line.split()[:3]) for line in lines)
    assert (kg.num_entities, kg.num_relations) == (6_787, 19_279)
    found = kg.schema
    assert found.num_symbols == 2 * 19_279
    # film.film -directed_by-> film.director -film-> film.film, and back.
    directed, film = "film.film.directed_by", "film.director.film"
    assert found.count(directed, film) == 1
    assert found.count(directed, "^" + directed) == 1
    assert found.count(directed, "location.country.capital") == 0
    first = kg.leaving("film.film")
    assert kg.relation_id(directed) in first
    plans = found.sequences(first, 2, inverse=True, cap=10**7)
    walked = kg.sequences("film.film", 2, inverse=True, cap=10**7)
    assert plans == walked  # every relation has one domain and one range here
    beam = found.sequences(first, 4, beam=50, inverse=True)
    assert beam.lengths.tolist() == [1] * 50 + [2] * 50 + [3] * 50 + [4] * 50


@pytest.mark.needs("data")
def test_metaqa():
    path = Path(os.environ["HYPERHOP_DATA"]) / "metaqa" / "kb.txt.gz"
    kg = KnowledgeGraph.from_triples(path, delimiter="|")
    found = kg.schema
    directed, written = "directed_by", "written_by"
    heads = {}
    for head, relation, _ in kg.triples():
        heads.setdefault(relation, set()).add(head)
    for relation, entities in heads.items():
        assert found.domain_size(relation) == len(entities)
    assert found.count("^" + directed, written) == len(heads[directed] & heads[written])
    topic = "Christopher Nolan"
    walked = kg.sequences(topic, 3, inverse=True)
    plans = found.sequences(kg.leaving(topic), 3, inverse=True)
    assert set(as_lists(walked)) <= set(as_lists(plans))
    assert len(walked) == 50


def test_a_changed_graph_has_the_schema_of_its_own_facts():
    kg = KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "s", "c")])
    assert kg.schema.count("r", "s") == 1
    more = kg.merge([("b", "t", "d")])
    assert more.schema.count("r", "t") == 1
    less = more.without([("b", "s", "c")])
    assert less.schema.count("r", "s") == 0
    assert kg.schema.count("r", "s") == 1


def test_a_schema_that_is_too_large_leaves_nothing_behind():
    kg = KnowledgeGraph.from_triples(FACTS)
    expected = as_lists(kg.sequences("Peru", 3, inverse=True))
    for most in range(20):
        graph_schema(kg._index, most)
        assert as_lists(kg.sequences("Peru", 3, inverse=True)) == expected
