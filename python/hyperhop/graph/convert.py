"""Graphs for other libraries: networkx, PyTorch Geometric, scipy sparse matrices."""

from typing import Any

import numpy as np

from hyperhop._extras import optional
from hyperhop.graph.facts import Facts, Ids


def to_networkx(facts: Facts, entities: Ids) -> Any:
    """A MultiDiGraph; see `KnowledgeGraph.to_networkx`."""
    networkx = optional("networkx", "to_networkx", "networkx")
    graph = networkx.MultiDiGraph()
    graph.add_nodes_from(facts.entities(entities))
    for part in facts.parts():
        graph.add_edges_from(
            (head, tail, relation, {"relation": relation})
            for head, relation, tail in facts.names(part)
        )
    return graph


def to_pyg(facts: Facts) -> Any:
    """A Data; see `KnowledgeGraph.to_pyg`."""
    data = optional("torch_geometric.data", "to_pyg", "pyg")
    torch = optional("torch", "to_pyg", "pyg")
    heads, relations, tails = facts.ids(0, facts.num_triples)
    return data.Data(
        edge_index=torch.from_numpy(np.stack([heads, tails]).astype(np.int64)),
        edge_type=torch.from_numpy(relations.astype(np.int64)),
        num_nodes=facts.num_entities,
        entity_names=facts.all_entities(),
        relation_names=facts.all_relations(),
    )


def to_scipy(facts: Facts, relation_ids: Ids) -> dict[str, Any]:
    """One sparse matrix per relation; see `KnowledgeGraph.to_scipy`."""
    sparse = optional("scipy.sparse", "to_scipy", "scipy")
    heads, relations, tails = facts.ids(0, facts.num_triples)
    order = np.argsort(relations, kind="stable")
    ends = np.cumsum(np.bincount(relations, minlength=facts.num_relations))
    size = (facts.num_entities, facts.num_entities)
    matrices = {}
    edges_of = np.split(order, ends)[:-1]
    for name, relation in zip(facts.relations(relation_ids), relation_ids, strict=True):
        edges = edges_of[relation]
        entries = np.ones(len(edges), np.bool_)
        matrices[name] = sparse.coo_array((entries, (heads[edges], tails[edges])), shape=size)
    return matrices
