"""The relation-schema graph in plain Python: every pair of facts that meet is looked at."""

from itertools import pairwise


class ReferenceSchema:
    def __init__(self, reference):
        """`reference` is a ReferenceGraph."""
        half = len(reference.relations)
        self.names = reference.symbols
        self.num_symbols = 2 * half
        self.leaving = {
            entity: {symbol for symbol, _ in reference.edges(entity, inverse=True)}
            for entity in range(len(reference.entities))
        }
        arriving = {
            entity: {symbol + half if symbol < half else symbol - half for symbol in symbols}
            for entity, symbols in self.leaving.items()
        }
        self.counts = {}
        for entity, symbols in self.leaving.items():
            for first in arriving[entity]:
                for second in symbols:
                    self.counts[first, second] = self.counts.get((first, second), 0) + 1

    def domain_size(self, symbol):
        return sum(symbol in symbols for symbols in self.leaving.values())

    def support(self, sequence):
        if len(sequence) == 1:
            return self.domain_size(sequence[0])
        return min(self.counts.get(pair, 0) for pair in pairwise(sequence))

    def sequences(self, first, max_hops, beam=None, cap=100_000, inverse=False):
        """Sequences in order, and whether `cap` cut them."""
        usable = range(self.num_symbols if inverse else self.num_symbols // 2)
        level = [(symbol,) for symbol in usable if symbol in first]
        result = []
        for _ in range(max_hops):
            level = [sequence for sequence in level if self.support(sequence) > 0]
            if beam is not None:
                level.sort(
                    key=lambda s: (-self.support(s), [self.names[symbol].encode() for symbol in s])
                )
                level = sorted(level[:beam])
            result += level
            level = [(*sequence, symbol) for sequence in level for symbol in usable]
        return result[:cap], len(result) > cap
