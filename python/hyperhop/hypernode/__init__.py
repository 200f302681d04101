"""HyperNodes: sets of triples that grow along shared entities, scored without an encoder.

A HyperNode is a row of triple ids, distinct, sorted by the order of its index and padded with -1.
`TripleIndex` says which triples are adjacent, `expand` makes all candidates of one step, `score`
compares HyperNodes with a query, and `beam_step` does both and keeps the best.
"""

from hyperhop.hypernode.beam import beam_step, score
from hyperhop.hypernode.expand import expand
from hyperhop.hypernode.index import TripleIndex

__all__ = ["TripleIndex", "beam_step", "expand", "score"]
