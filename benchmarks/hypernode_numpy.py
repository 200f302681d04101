"""One step of a beam of HyperNodes as one would write it without a library: the expansion in plain
Python sets or in NumPy, the score from a Gram matrix."""

from collections import defaultdict

import numpy as np


class Sets:
    """Adjacency as dictionaries; candidates as sorted tuples, with what made them."""

    def __init__(self, head, tail):
        self.ends = list(zip(head.tolist(), tail.tolist(), strict=True))
        self.at = defaultdict(list)
        for triple, (h, t) in enumerate(self.ends):
            self.at[h].append(triple)
            if h != t:
                self.at[t].append(triple)

    def expand(self, beam):
        """Of HyperNodes of two triples: the number of the parent and the triple that joins it, in
        one number, by the set that they make."""
        candidates = {}
        for number, row in enumerate(beam.tolist()):
            a, b = sorted(row)
            first = number * len(self.ends)
            for entity in {e for triple in row for e in self.ends[triple]}:
                for t in self.at[entity]:
                    if t < a:
                        candidates[t, a, b] = first + t
                    elif t > b:
                        candidates[a, b, t] = first + t
                    elif a < t < b:
                        candidates[a, t, b] = first + t
        return candidates

    def parts(self, beam):
        """(sets, number of the parent, triple that joins it)"""
        candidates = self.expand(beam)
        made = np.fromiter(candidates.values(), np.int64, len(candidates))
        return np.array(list(candidates)), *np.divmod(made, len(self.ends))


class Arrays:
    """Adjacency in CSR; candidates deduplicated by one packed number each."""

    def __init__(self, head, tail):
        loops = head == tail
        ends = np.concatenate([head, tail[~loops]])
        triples = np.concatenate([np.arange(len(head)), np.flatnonzero(~loops)])
        order = np.argsort(ends, kind="stable")
        self.head, self.tail, self.triples = head, tail, triples[order]
        counts = np.bincount(ends, minlength=max(head.max(), tail.max()) + 1)
        self.starts = np.concatenate([[0], np.cumsum(counts)])

    def parts(self, beam):
        """(sets, number of the parent, triple that joins it), in lexicographic order"""
        size = beam.shape[1]
        entities = np.concatenate([self.head[beam], self.tail[beam]], axis=1).ravel()
        degrees = self.starts[entities + 1] - self.starts[entities]
        firsts = np.cumsum(degrees) - degrees
        places = np.arange(degrees.sum()) + np.repeat(self.starts[entities] - firsts, degrees)
        triples = self.triples[places]
        parents = np.repeat(np.repeat(np.arange(len(beam)), 2 * size), degrees)
        new = (beam[parents] != triples[:, None]).all(axis=1)
        parents, triples = parents[new], triples[new]
        sets = np.sort(np.concatenate([beam[parents], triples[:, None]], axis=1), axis=1)
        bits = np.uint64(len(self.head).bit_length())
        keys = np.zeros(len(sets), np.uint64)
        for column in sets.T:
            keys = (keys << bits) | column.astype(np.uint64)
        first = np.unique(keys, return_index=True)[1]
        return sets[first], parents[first], triples[first]


def gram_scores(parts, beam, embeddings, query):
    """Cosines from dot products of the distinct triples with the parents' sums."""
    _, parents, triples = parts
    distinct, place = np.unique(triples, return_inverse=True)
    rows = embeddings[distinct]
    sums = embeddings[beam].sum(axis=1)
    gram = rows @ sums.T
    numerators = (rows @ query)[place] + (sums @ query)[parents]
    squares = np.einsum("ij,ij->i", rows, rows)[place] + np.einsum("ij,ij->i", sums, sums)[parents]
    squares += 2 * gram[place, parents]
    return numerators / (np.sqrt(squares) * np.linalg.norm(query))


def mean_scores(parts, beam, embeddings, query):
    """Cosines of the mean embedding of every candidate, made in blocks."""
    sets = parts[0]
    scores = np.empty(len(sets), np.float32)
    for start in range(0, len(sets), 1024):
        means = embeddings[sets[start : start + 1024]].mean(axis=1)
        norms = np.linalg.norm(means, axis=1) * np.linalg.norm(query)
        scores[start : start + 1024] = means @ query / norms
    return scores


def best(parts, scores, k):
    """The k best sets and their scores, best first; ties as argpartition leaves them."""
    chosen = np.argpartition(scores, len(scores) - k)[-k:]
    chosen = chosen[np.argsort(-scores[chosen])]
    return parts[0][chosen], scores[chosen]
