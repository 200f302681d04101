"""PathHD's retrieval in NumPy and scipy CSR, prefixes shared: what to compare ours with."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Found:
    """One of the best sequences: symbols, score, ids of all ends, ids of its paths (n, L + 1)."""

    symbols: tuple[int, ...]
    score: float
    ends: np.ndarray
    paths: np.ndarray


class NumpyPathHD:
    """Walks do not come back to their topic. Everything that a graph can prepare is prepared."""

    def __init__(self, kg, codebook, max_hops, k=3, path_cap=1_000):
        from scipy.sparse import csr_matrix

        self.kg, self.max_hops, self.k, self.path_cap = kg, max_hops, k, path_cap
        arrays = {name: np.asarray(array).astype(np.int64) for name, array in kg._arrays.items()}
        heads = np.repeat(np.arange(kg.num_entities), np.diff(arrays["out_offsets"]))
        relations, tails = arrays["out_relations"], arrays["out_tails"]
        self.entities, self.symbols = kg.num_entities, 2 * kg.num_relations
        symbol = np.concatenate([relations, relations + kg.num_relations])
        node, neighbour = np.concatenate([heads, tails]), np.concatenate([tails, heads])
        shape = (self.entities, self.symbols)
        self.degrees = csr_matrix((np.ones(len(node), np.int32), (node, symbol)), shape)
        # by node: its edges of all symbols; by symbol and node: the neighbours along that symbol
        order = np.lexsort((neighbour, symbol, node))
        self.by_node = _offsets(node, self.entities), symbol[order], neighbour[order]
        order = np.lexsort((neighbour, node, symbol))
        rows = symbol * self.entities + node
        self.by_symbol = _offsets(rows, self.symbols * self.entities), neighbour[order]
        self.blocks = codebook.array
        self.flat = self.blocks.reshape(len(self.blocks), -1).view(np.float32)
        self.ranks = np.argsort(np.argsort(np.array(kg.symbols)))

    def retrieve(self, topic, plan):
        """The best sequences; `plan` gives indices of candidates from a list of sequences."""
        levels = self._levels(topic)
        scores = self._scores(levels, plan)
        symbols = [level.sequences for level in levels]
        names = np.concatenate([_padded(self.ranks[part], self.max_hops) for part in symbols])
        order = np.lexsort((*names.T[::-1], -scores))[: self.k]
        listed = [row for part in symbols for row in part]
        best = [tuple(listed[i].tolist()) for i in order.tolist()]
        return [
            Found(one, score, *ends_and_paths)
            for one, score, ends_and_paths in zip(
                best, scores[order].tolist(), self._expand(topic, best), strict=True
            )
        ]

    def _levels(self, topic):
        """Sequences of each length, as (prefix, last symbol) pairs: sorted, distinct."""
        from scipy.sparse import csr_matrix

        offsets, symbols, neighbours = self.by_node
        prefixes = np.zeros((1, 0), np.int64)
        owner, nodes = np.zeros(1, np.int64), np.array([topic])
        # edges that lead into the topic: those that leave it, walked backwards
        own = slice(offsets[topic], offsets[topic + 1])
        into = (symbols[own] + self.symbols // 2) % self.symbols
        levels = []
        for depth in range(1, self.max_hops + 1):
            if depth == self.max_hops:  # where it leads does not matter, only that it does
                shape = (len(prefixes), self.entities)
                frontier = csr_matrix((np.ones(len(nodes), np.int32), (owner, nodes)), shape)
                backwards = csr_matrix(
                    (np.ones(len(into), np.int32), (neighbours[own], into)), self.degrees.shape
                )
                left = (frontier @ self.degrees - frontier @ backwards).toarray()
                prefix, last = np.nonzero(left > 0)
            else:
                edges, place = _rows(offsets, nodes)
                on = neighbours[edges] != topic
                keys = owner[place[on]] * self.symbols + symbols[edges[on]]
                keys = np.unique(keys * self.entities + neighbours[edges[on]])
                group, nodes = np.divmod(keys, self.entities)
                group, owner = np.unique(group, return_inverse=True)
                prefix, last = np.divmod(group, self.symbols)
            levels.append(Level(prefix, last, np.column_stack([prefixes[prefix], last])))
            prefixes = levels[-1].sequences
        return levels

    def _scores(self, levels, plan):
        """Blockwise cosines: each prefix is moved to the query's side once, a path is a dot."""
        chosen = plan([level.sequences for level in levels])
        query = sum(
            weight * self._encode(sequence)
            for weight, sequence in zip(range(len(chosen), 0, -1), chosen, strict=True)
        )
        norms = np.sqrt((query.real**2 + query.imag**2).sum(axis=(1, 2), keepdims=True))
        moved = (query / norms).conj().swapaxes(1, 2)[None]
        m = query.shape[1]
        scale = np.float32(1 / (len(query) * np.sqrt(m)))
        scores = []
        for level in levels:
            flat = np.ascontiguousarray(moved.conj().swapaxes(2, 3)).reshape(len(moved), -1)
            table = flat.view(np.float32) @ self.flat.T
            scores.append(table[level.prefix, level.last] * scale)
            if level is not levels[-1]:
                moved = moved[level.prefix] @ self.blocks[level.last]
        return np.concatenate(scores).astype(np.float64)

    def _encode(self, sequence):
        product = self.blocks[sequence[0]]
        for symbol in sequence[1:]:
            product = product @ self.blocks[symbol]
        return product

    def _expand(self, topic, sequences):
        """Ends of every sequence and the first paths of all; each sequence keeps one at least."""
        layers = [self._layers(topic, sequence) for sequence in sequences]
        room = self.path_cap - len(sequences)
        found = []
        for sequence, nodes in zip(sequences, layers, strict=True):
            paths = self._paths(sequence, nodes, room + 1)
            room -= len(paths) - 1
            found.append((nodes[-1], paths))
        return found

    def _layers(self, topic, sequence):
        """The entities at each step from which the rest can be walked."""
        offsets, neighbours = self.by_symbol
        layers = [np.array([topic])]
        for symbol in sequence:
            edges, _ = _rows(offsets, symbol * self.entities + layers[-1])
            reached = np.unique(neighbours[edges])
            layers.append(reached[reached != topic])
        for step in range(len(sequence) - 1, 0, -1):
            edges, place = _rows(offsets, sequence[step] * self.entities + layers[step])
            leads = np.isin(neighbours[edges], layers[step + 1], kind="table")
            layers[step] = layers[step][np.unique(place[leads])]
        return layers

    def _paths(self, sequence, layers, most):
        """The first paths: without dead ends, so that every step may stop at as many."""
        offsets, neighbours = self.by_symbol
        paths = layers[0][:, None]
        for symbol, allowed in zip(sequence, layers[1:], strict=True):
            edges, place = _rows(offsets, symbol * self.entities + paths[:, -1])
            on = np.flatnonzero(np.isin(neighbours[edges], allowed, kind="table"))[:most]
            paths = np.column_stack([paths[place[on]], neighbours[edges[on]]])
        return paths


@dataclass
class Level:
    """Sequences of one length: `prefix` indexes those that are one shorter."""

    prefix: np.ndarray
    last: np.ndarray
    sequences: np.ndarray


def _offsets(rows, count):
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=count), out=offsets[1:])
    return offsets


def _rows(offsets, rows):
    """Numbers of all edges of these rows, and the place of each edge's row among them."""
    starts = offsets[rows]
    sizes = offsets[rows + 1] - starts
    edges = np.arange(sizes.sum()) + np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
    return edges, np.repeat(np.arange(len(rows)), sizes)


def _padded(table, width):
    full = np.full((len(table), width), -1)
    full[:, : table.shape[1]] = table
    return full
