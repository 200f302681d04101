"""The graph of entities and passages that a random walk ranks (extra `igraph`)."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._extras import optional


class RankGraph:
    """Undirected, weighted: a node for each entity, then one for each passage.

    Edges: head and tail of each triple, weighing the number of passages that state it (self loops
    are left out, they only wait); a passage and each entity of its triples, weighing 1; synonyms,
    weighing their similarity. Parallel edges are one, of the summed weight.

    Attributes:
        mentions: int64 (entities,), how many passages mention each.
    """

    def __init__(
        self,
        triples: npt.NDArray[np.int64],
        offsets: npt.NDArray[np.int64],
        passages: npt.NDArray[np.int64],
        links: npt.NDArray[np.int64],
        similarities: npt.NDArray[np.float32],
        num_entities: int,
        num_passages: int,
    ) -> None:
        """ImportError without the extra.

        Args:
            triples: int64 (T, 3), ids of head, relation and tail.
            offsets, passages: int64 (T + 1,) and ids: the passages that state each triple.
            links, similarities: int64 (L, 2) and float32 (L,), pairs of synonyms.
        """
        self.num_entities, self.num_passages = num_entities, num_passages
        nodes = num_entities + num_passages
        stated = np.diff(offsets)
        heads, tails = triples[:, 0], triples[:, 2]
        entity = np.repeat(np.concatenate([heads, tails]), np.tile(stated, 2))
        mentions = np.unique(entity * nodes + num_entities + np.tile(passages, 2))
        near, far = np.minimum(heads, tails), np.maximum(heads, tails)
        linked = np.sort(links, axis=1)
        keys = np.concatenate([near * nodes + far, mentions, linked[:, 0] * nodes + linked[:, 1]])
        weights = np.concatenate([stated, np.ones(len(mentions)), similarities])
        apart = keys // nodes != keys % nodes
        edges, places = np.unique(keys[apart], return_inverse=True)
        self.num_edges = len(edges)
        self.mentions = np.bincount(mentions // nodes, minlength=num_entities)
        igraph = optional("igraph", "personalised PageRank", "igraph")
        self._graph: Any = igraph.Graph(nodes, np.stack([edges // nodes, edges % nodes], axis=1))
        self._graph.es["weight"] = np.bincount(places, weights[apart], len(edges)).tolist()

    def rank(self, reset: npt.NDArray[np.float64], damping: float = 0.5) -> npt.NDArray[np.float64]:
        """Personalised PageRank of all nodes, float64 (entities + passages,).

        A walk goes on with probability `damping`, else starts anew at a node drawn by `reset`,
        float64 (entities + passages,), which needs a positive sum. By PRPACK, over the whole graph.
        O(iterations * edges).
        """
        ranked = self._graph.personalized_pagerank(
            damping=damping,
            directed=False,
            weights="weight",
            reset=reset.tolist(),
            implementation="prpack",
        )
        return np.asarray(ranked, np.float64)
