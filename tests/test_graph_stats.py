"""Degrees, hubs, relations and bytes, against NumPy on the facts themselves."""

from collections import Counter
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperhop import KnowledgeGraph
from hyperhop.graph import DamagedStore, stats
from hyperhop.graph.stats import QUANTILES, resident_bytes, store_statistics
from strategies_graph import some_triples


@pytest.fixture(params=[1 << 20, 3])
def chunk(request, monkeypatch):
    """Pieces that hold everything, and ones that hold next to nothing; and rare degrees."""
    monkeypatch.setattr(stats, "_CHUNK", request.param)
    monkeypatch.setattr(stats, "_RARE_DEGREE", max(2, request.param >> 4))


@settings(max_examples=100, deadline=None)
@given(some_triples, st.integers(0, 7), st.integers(0, 6))
def test_statistics_equal_counting(chunk, triples, hubs, relations):
    kg = KnowledgeGraph.from_triples(triples)
    found = kg.statistics(hubs, relations)
    facts = set(triples)
    names = kg.entity_names(range(kg.num_entities))
    out, into = Counter(h for h, _, _ in facts), Counter(t for _, _, t in facts)
    for degrees, counts in ((found.out_degrees, out), (found.in_degrees, into)):
        expected = np.quantile([counts[n] for n in names], QUANTILES, method="inverted_cdf")
        assert degrees == tuple(expected.tolist())
    ranked = sorted(names, key=lambda n: (-out[n] - into[n], kg.entity_id(n)))
    assert [(h.name, h.out_degree, h.in_degree) for h in found.hubs] == [
        (n, out[n], into[n]) for n in ranked[:hubs]
    ]
    used = Counter(r for _, r, _ in facts)
    ranked = sorted(used, key=lambda r: (-used[r], kg.relation_id(r)))
    assert [(r.name, r.facts) for r in found.relations] == [
        (r, used[r]) for r in ranked[:relations]
    ]


def test_a_graph_without_facts():
    found = KnowledgeGraph.from_triples([]).statistics()
    assert found.to_dict() == {
        "out_degrees": (0,) * 4,
        "in_degrees": (0,) * 4,
        "hubs": (),
        "relations": (),
    }


def test_a_degree_beyond_the_usual():
    kg = KnowledgeGraph.from_triples((str(i), "r", "hub") for i in range(stats._RARE_DEGREE + 3))
    assert kg.statistics().in_degrees == (0, 0, 0, stats._RARE_DEGREE + 3)


def test_retired_ids_do_not_count():
    facts = [("a", "r", "b"), ("b", "s", "c"), ("c", "s", "d")]
    changed = KnowledgeGraph.from_triples(facts).without([facts[0]])
    assert changed.num_entity_ids > changed.num_entities
    assert changed.statistics() == KnowledgeGraph.from_triples(facts[1:]).statistics()


@pytest.mark.needs("scipy")
def test_entities_without_facts_count(chunk):
    import scipy.sparse as sp

    link = sp.coo_array(([1], ([5], [7])), shape=(20, 20))
    found = KnowledgeGraph.from_scipy({"r": link}).statistics()
    assert found.out_degrees == found.in_degrees == (0, 0, 1, 1)
    assert [hub.name for hub in found.hubs] == ["5", "7"]


def test_bad_arguments_say_what_is_wrong():
    kg = KnowledgeGraph.from_triples([("a", "r", "b")])
    with pytest.raises(ValueError, match="statistics: hubs must be at least 0, got -1"):
        kg.statistics(hubs=-1)
    with pytest.raises(TypeError, match="statistics: relations must be an integer, got float"):
        kg.statistics(relations=1.5)


def test_damage_never_crashes(tmp_path):
    KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "s", "a"), ("b", "s", "b")]).save(tmp_path)
    for name in ("out_offsets", "in_offsets", "out_relations", "entity_names"):
        file = tmp_path / f"{name}.1.npy"
        data = file.read_bytes()
        for position in range(128, len(data)):
            for mask in (0x01, 0x80):
                changed = bytearray(data)
                changed[position] ^= mask
                file.write_bytes(changed)
                try:
                    KnowledgeGraph.open(tmp_path).statistics()
                except DamagedStore:
                    continue
        file.write_bytes(data)


def test_bytes_of_a_directory(tmp_path):
    kg = KnowledgeGraph.from_triples((f"e{i}", "r", f"e{i * i % 997}") for i in range(20_000))
    kg.save(tmp_path)
    before = store_statistics(tmp_path)
    assert (before.generation, before.schema_pairs) == (1, None)
    assert before.disk_bytes["schema"] == 0
    assert sum(before.disk_bytes.values()) == sum(f.stat().st_size for f in tmp_path.glob("*.npy"))
    assert abs((datetime.now().astimezone() - before.saved).total_seconds()) < 600
    kg.schema
    kg.save(tmp_path)
    after = store_statistics(tmp_path)
    assert (after.generation, after.schema_pairs) == (2, kg.schema.num_pairs)
    assert after.disk_bytes["edges"] == before.disk_bytes["edges"]
    assert after.disk_bytes["schema"] > 0


def test_only_what_is_touched_is_resident(tmp_path):
    KnowledgeGraph.from_triples((f"e{i}", "r", f"e{i * i % 997}") for i in range(20_000)).save(
        tmp_path / "kg 1"
    )
    if resident_bytes(tmp_path / "kg 1") is None:
        pytest.skip("this system does not tell")
    opened = KnowledgeGraph.open(tmp_path / "kg 1")
    list(opened.triples())
    touched = resident_bytes(tmp_path / "kg 1")
    assert touched["edges"] >= 20_000 * 8
    assert touched["names"] > 0
    assert touched["schema"] == 0
    del opened
    assert sum(resident_bytes(tmp_path / "kg 1").values()) == 0
