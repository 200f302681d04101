"""Evidence whose names are looked up when they are read."""

import copy
import json
import pickle

import numpy as np
import pytest

from hyperhop.evidence import Evidence, EvidencePath
from hyperhop.graph import KnowledgeGraph
from hyperhop.pathhd import PathHD

FACTS = [("Ann", "likes", name) for name in ("Zoe", "Bob", "Cid", "Dan")] + [
    ("Bob", "likes", "Eve"),
    ("Dan", "likes", "Eve"),
    ("Dan", "likes", "Fay"),
    ("Ann", "knows", "Bob"),
]
NAMES = ["Bob", "Cid", "Dan", "Zoe"]


@pytest.fixture(scope="module")
def evidence():
    system = PathHD(KnowledgeGraph.from_triples(FACTS), max_hops=2, inverse=False)
    return system.retrieve("Who do those that Ann likes like?", "Ann")


def ends_of(evidence, *relations):
    return next(one.ends for one in evidence.sequences if one.relations == list(relations))


def test_ends_read_like_a_list(evidence):
    ends = ends_of(evidence, "likes")
    assert len(ends) == 4
    assert [ends[0], ends[-1]] == ["Bob", "Zoe"]
    assert ends[1:3] == ["Cid", "Dan"]
    assert ends[3:1] == []
    assert ends[::-1] == NAMES[::-1]
    with pytest.raises(IndexError):
        ends[4]
    assert list(ends) == NAMES
    assert ends == NAMES
    assert ends == NAMES
    assert ends != NAMES[:3]
    assert ends != tuple(NAMES)
    assert ends[0] == "Bob"  # from what was made by now
    assert "Cid" in ends
    assert ends.index("Dan") == 2
    more = ["x"]
    assert ends + more == [*NAMES, "x"]
    assert more + ends == ["x", *NAMES]
    assert repr(ends) == repr(NAMES)
    with pytest.raises(TypeError):
        hash(ends)
    for other in (pickle.loads(pickle.dumps(ends)), copy.deepcopy(ends)):
        assert type(other) is list
        assert other == NAMES


def test_paths_are_made_one_by_one_or_all(evidence):
    count = len(evidence.paths)
    single = [evidence.paths[i] for i in range(count)]
    assert evidence.paths[1:4] == single[1:4]
    assert list(evidence.paths) == single
    assert evidence.paths == single
    assert all(isinstance(path, EvidencePath) for path in single)
    assert {tuple(path.entities) for path in single} >= {("Ann", "Bob"), ("Ann", "Dan", "Fay")}
    for sequence in evidence.sequences:
        along = evidence.along(sequence.relations)
        assert along == [i for i, p in enumerate(single) if p.relations == sequence.relations]
        assert [single[i].entities for i in along] == sorted(single[i].entities for i in along)
    assert evidence.along(["nothing"]) == []
    assert Evidence(paths=single).along(["knows"]) == evidence.along(["knows"])


def test_lazy_evidence_is_json_and_pickles(evidence):
    found = json.loads(json.dumps(evidence.to_dict()))
    assert [one["ends"] for one in found["sequences"]] == [one.ends for one in evidence.sequences]
    assert found["paths"][0]["entities"] == evidence.paths[0].entities
    copied = pickle.loads(pickle.dumps(evidence))
    assert copied == evidence
    assert type(copied.paths) is list


def test_names_of_an_array_of_ids():
    kg = KnowledgeGraph.from_triples(FACTS)
    ids = np.array([0, 0, 3, 1], np.int32)
    assert kg.entity_names(ids) == kg.entity_names(ids.tolist())
    assert kg.entity_names(ids[::2]) == kg.entity_names(ids[::2].tolist())
    assert kg.entity_names(ids.astype(np.int64)) == kg.entity_names(ids.tolist())
    for wrong in (-1, kg.num_entities):
        with pytest.raises(IndexError, match=f"no name {wrong}"):
            kg.entity_names(np.array([0, wrong], np.int32))


def test_a_changed_graph_still_gives_names_in_order():
    late = [fact for fact in FACTS if "Bob" in fact]
    changed = KnowledgeGraph.from_triples(set(FACTS) - set(late)).merge(late)
    assert not changed.ids_are_ranks
    for graph in (changed, changed.renumbered()):
        found = PathHD(graph, max_hops=1, inverse=False).retrieve("What does Ann like?", "Ann")
        assert ends_of(found, "likes") == NAMES
        along = [found.paths[i].entities for i in found.along(["likes"])]
        assert along == [["Ann", name] for name in NAMES]
