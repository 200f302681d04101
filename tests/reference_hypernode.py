"""HyperNodes by plain Python sets and float64 NumPy."""

import numpy as np


def adjacent_triples(head, tail, links, hypernode):
    """Triples outside a set that share an entity with one of it, or a linked one."""
    touched = {int(x) for t in hypernode for x in (head[t], tail[t])}
    touched |= {b for a, b in links if a in touched} | {a for a, b in links if b in touched}
    return {t for t in range(len(head)) if head[t] in touched or tail[t] in touched} - hypernode


def expand(head, tail, hypernodes, keep_parents=False, order=None, links=()):
    """The sets of one step, as sorted tuples in canonical order."""
    rank = list(range(len(head))) if order is None else [int(r) for r in order]
    links = {(int(a), int(b)) for a, b in links}
    # Linked means linked to what the set itself touches: one step, both ways.
    candidates = set()
    for row in hypernodes:
        parent = frozenset(int(t) for t in row if t >= 0)
        adjacent = adjacent_triples(head, tail, links, parent)
        candidates |= {parent | {t} for t in adjacent}
        if keep_parents or not adjacent:
            candidates.add(parent)
    rows = [tuple(sorted(c, key=rank.__getitem__)) for c in candidates]
    return sorted(rows, key=lambda row: [rank[t] for t in row])


def score(hypernodes, embeddings, query):
    """Cosines of the sums of rows with a query; a sum or query of zeros scores 0."""
    q = np.asarray(query, np.float64)
    scores = []
    for row in hypernodes:
        total = sum(
            (np.asarray(embeddings[t], np.float64) for t in row if t >= 0), np.zeros(len(q))
        )
        size = np.linalg.norm(q) * np.linalg.norm(total)
        scores.append(0.0 if size == 0 else np.clip(q @ total / size, -1, 1))
    return np.array(scores)
