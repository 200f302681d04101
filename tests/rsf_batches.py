"""Small random batches for the tests of the soft-flow model."""

import numpy as np
import torch

from hyperhop.flow import FlowGraph
from hyperhop.rsf import FlowBatch
from hyperhop.rsf.question import Question

TEXT_DIM = 12
NUM_RELATIONS = 5
NUM_ENTITIES = 40


def multigraph(seed, num_nodes=9, num_edges=24):
    """Random edges, with parallel ones and self loops wherever there is an edge at all."""
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, max(num_nodes, 1), (2, num_edges))
    relation = rng.integers(0, NUM_RELATIONS, num_edges)
    if num_edges > 3:
        src[1], dst[1], relation[1] = src[0], dst[0], (relation[0] + 1) % NUM_RELATIONS
        dst[2] = src[2]
    return FlowGraph(*_distinct(src, relation, dst), num_nodes, NUM_RELATIONS)


def _distinct(src, relation, dst):
    return np.unique(np.stack([src, relation, dst], 1), axis=0).T


def packed(sizes=(9, 1, 14, 3), seed=0, targets=True):
    """Subgraphs of these sizes, each with a start, entities, and answers in all but the second."""
    rng = np.random.default_rng(seed)
    graphs = [multigraph(seed + i, size, 3 * size) for i, size in enumerate(sizes)]
    return FlowBatch.pack(
        graphs,
        [[0][:size] for size in sizes],
        [np.sort(rng.choice(NUM_ENTITIES, size, replace=False)) for size in sizes],
        [list(range(size))[-2:] if i != 1 else [] for i, size in enumerate(sizes)]
        if targets
        else None,
    )


def alone(batch, number, sizes, seed=0):
    """Question `number` of `packed(sizes, seed)` as a batch of its own."""
    first, last = batch.segments[number], batch.segments[number + 1]
    nodes = batch.targets[slice(*batch.target_offsets[number : number + 2])]
    return FlowBatch.pack(
        [multigraph(seed + number, sizes[number], 3 * sizes[number])],
        [np.flatnonzero(batch.start[first:last])],
        [batch.entities[first:last]],
        [nodes - first],
    )


def lanes(count=3, seed=0, num_nodes=NUM_ENTITIES):
    rng = np.random.default_rng(seed)
    graph = multigraph(seed, num_nodes, 3 * num_nodes)
    starts = [rng.choice(num_nodes, 1 + i % 2, replace=False) for i in range(count)]
    targets = [rng.choice(num_nodes, i % 3, replace=False) for i in range(count)]
    return FlowBatch.lanes(graph, starts, targets=targets)


def texts(seed=0, dtype=torch.float32):
    """Entity table and relation table."""
    generator = torch.Generator().manual_seed(seed)
    draw = [torch.randn(rows, TEXT_DIM, generator=generator) for rows in (NUM_ENTITIES, 5)]
    return [x.to(dtype) for x in draw]


def questions(count, seed=0, dtype=torch.float32, lengths=None):
    generator = torch.Generator().manual_seed(seed + 99)
    lengths = [2 + i % 3 for i in range(count)] if lengths is None else lengths
    pooled = torch.randn(count, TEXT_DIM, generator=generator).to(dtype)
    states = torch.randn(sum(lengths), TEXT_DIM, generator=generator).to(dtype)
    return Question(pooled, states, torch.tensor([0, *np.cumsum(lengths)]))
