"""Dense anchors (eq. 1): the entities that a whole question is nearest to, by inner product."""

from collections.abc import Sequence

from hyperhop.graph import KnowledgeGraph
from hyperhop.graph.arguments import at_least
from hyperhop.graph.linking.nearest import nearest
from hyperhop.rsf.text import Floats
from hyperhop.text import TextEncoder, encode_queries


class DenseAnchors:
    """Finds topics by meaning, where a question does not spell a name; `EntityLinker` goes by name.

    Args:
        kg: the graph.
        rows: float32 (num_entity_ids, dim), vectors of its entities by `encoder`.
        encoder: encodes questions, with its prompt for them.

    An entity whose row is zero is never found. Searched by faiss where it is installed, else by
    NumPy; products are taken row by row again, so that both agree.
    """

    def __init__(self, kg: KnowledgeGraph, rows: Floats, encoder: TextEncoder) -> None:
        if rows.shape != (kg.num_entity_ids, encoder.dim):
            raise ValueError(
                f"DenseAnchors: rows must have shape ({kg.num_entity_ids}, {encoder.dim}), "
                f"got {rows.shape}"
            )
        self._kg, self._rows, self._encoder = kg, rows, encoder

    def find(self, questions: Sequence[str], k: int = 1) -> list[list[tuple[int, float]]]:
        """For each question the k nearest entities, as (id, inner product), best first.

        Of equal products the lower id. Products that are not above 0 are no match. O(V dim) each.
        """
        count = at_least("DenseAnchors", "k", k, 1)
        queries = encode_queries(self._encoder, questions)
        return [
            [
                (entity, product)
                for entity, product in zip(ids.tolist(), products.tolist(), strict=True)
                if product > 0
            ]
            for ids, products in nearest(queries, self._rows, count)
        ]
