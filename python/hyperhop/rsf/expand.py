"""Dynamic beam expansion: flow over the whole graph, of which only what it reaches is read."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from hyperhop import flow
from hyperhop._topk import topk
from hyperhop.flow import FactGraph, SparseFlow
from hyperhop.graph import KnowledgeGraph
from hyperhop.graph.arguments import at_least
from hyperhop.rsf.graphs import Ball, FlowRelations, balls
from hyperhop.rsf.network import Flows, Network
from hyperhop.rsf.text import Floats, QuestionVectors

Halted = Literal["hops", "settled", "dead"]


@dataclass(frozen=True)
class Expansion:
    """How far flow goes over a graph from which no subgraph was cut.

    Attributes:
        theta: entities with no more flow than this are not left again.
        beam: so many entities are left at a hop at most: those with most flow, ties by lower id.
        reach: so many entities are weighed by content at a hop at most: those of most structural
            flow, ties by lower id. Others get none.
        hops: None for as many as the model was trained with; a model with STAY may take more.
        tolerance: how still a flow must stand for its hops to end, see `expand`; 0 never ends them.

    Raises ValueError or TypeError where a value breaks its rule.
    """

    theta: float = 1e-4
    beam: int = 1_000
    reach: int = 50_000
    hops: int | None = None
    tolerance: float = 0.01

    def __post_init__(self) -> None:
        for name in ("theta", "tolerance"):
            if not isinstance(getattr(self, name), int | float):
                kind = type(getattr(self, name)).__name__
                raise TypeError(f"Expansion: {name} must be a number, got {kind}")
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(
                    f"Expansion: {name} must be at least 0 and below 1, got {getattr(self, name)}"
                )
        for name in ("beam", "reach", "hops"):
            value = getattr(self, name)
            if value is not None:
                at_least("Expansion", name, value, 1)


@dataclass(frozen=True, eq=False)
class Expanded:
    """A flow over the whole graph, and the part of the graph that it holds.

    Attributes:
        ball: what flow left or ended on, and all edges between; `truncated` where `beam` or `reach`
            cut.
        flows: of `ball`'s nodes, as `Network.run` has them: at each hop what was left from there,
            at the last one where it ended.
        reached: entities that each hop reached.
        dropped: share that each hop left out: of the flow it started from by `theta` and `beam`,
            and of structural flow by `reach`.
        halted: what ended the hops.
    """

    ball: Ball
    flows: Flows
    reached: list[int]
    dropped: list[float]
    halted: Halted


def expand(
    kg: KnowledgeGraph,
    relations: FlowRelations,
    network: Network,
    rows: Floats | None,
    question: QuestionVectors,
    topics: npt.ArrayLike,
    how: Expansion,
    ends: int = 1_000,
) -> Expanded:
    """Let one flow expand from its topics, hop by hop, over the whole graph (RSF section 4).

    At each hop the entities with more than `theta` of the flow, at most `beam`, are left along all
    their edges, which are read from the stored graph then. With theta = 0 and bounds that do not
    cut, the flow is that of `Network.run` on a ball whose radius is the number of hops, within
    1e-5.

    Hops end before `how.hops` where flow died, or where it settled: a hop moved no more than
    `tolerance` of it (half the sum of the differences), and either most of it has left the topics
    or the attention too changed no more than `tolerance`, so that the next hop would be the same.
    It is a guess for a model that waits at one entity and then goes on.

    Args:
        kg: the graph.
        relations: its symbols.
        network: the model.
        rows: float32 (num_entity_ids, text_dim), texts of entities; None where the model reads
            none.
        question: one question.
        topics: entity ids to start from.
        how: bounds.
        ends: entities with most flow after the last hop that are kept, with those that tie the
            last of them.

    Cost: the edges of what is left and the text rows of what is reached, whatever the size of the
    graph. Raises DamagedStore where a mapped graph holds an unknown id.
    """
    config = network.config
    edges = FactGraph(kg, relations.inverse, relations.stay)
    steering = network.steer(question)
    start = after = SparseFlow.start(topics, kg.num_entity_ids)
    left: list[SparseFlow] = []
    betas: list[Floats] = []
    gates: list[Floats] = []
    reached: list[int] = []
    dropped: list[float] = []
    cut = False
    halted: Halted = "hops"
    hops = config.hops if how.hops is None else how.hops
    for step in range(hops):
        before = after
        kept, unfollowed, was_cut = _kept(before, how)
        beta, gate, wanted = steering.next_hop()
        phi = flow.propagate_sparse(edges, kept, beta[0])
        phi, unweighed = _weighed(phi, how.reach)
        texts = None if rows is None else rows[phi.nodes]
        rho = _content(phi, texts, wanted, None if config.return_to_topic else start)
        after = flow.aggregate_sparse(phi, rho, float(gate[0]), config.eps)
        left.append(kept)
        betas.append(beta)
        gates.append(gate)
        reached.append(len(after))
        dropped.append(unfollowed + unweighed)
        cut |= was_cut or unweighed > 0
        if not len(after):
            halted = "dead"
            break
        if step + 1 == hops:
            break
        if _is_settled(start, before, after, betas, how.tolerance):
            halted = "settled"
            break
        if config.query_update:
            steering.update(_read(after, phi, texts) if config.reads_nodes else None)
    final = _ends(after, ends)
    ball = _ball_of(kg, relations, [*left, final], start, cut)
    dense = [_on(ball, one) for one in (*left, final)]
    return Expanded(ball, Flows(dense, betas, gates), reached, dropped, halted)


def _kept(now: SparseFlow, how: Expansion) -> tuple[SparseFlow, float, bool]:
    """What is left again, the share that is not, and whether the beam cut."""
    places = np.flatnonzero(now.values > how.theta)
    cut = len(places) > how.beam
    if cut:
        places = np.sort(places[topk(now.values[places], how.beam)[0]])
    kept = _part(now, places)
    return kept, _missing(now, kept), cut


def _weighed(phi: SparseFlow, reach: int) -> tuple[SparseFlow, float]:
    """The nodes of most structural flow, and the share of the others."""
    if len(phi) <= reach:
        return phi, 0.0
    kept = _part(phi, np.sort(topk(phi.values, reach)[0]))
    return kept, _missing(phi, kept)


def _part(whole: SparseFlow, places: npt.NDArray[np.int64]) -> SparseFlow:
    return SparseFlow(whole.nodes[places], whole.values[places], whole.num_nodes)


def _missing(whole: SparseFlow, part: SparseFlow) -> float:
    """The share of `whole` that is not in `part`."""
    if len(part) == len(whole):
        return 0.0
    total = whole.values.sum(dtype=np.float64)
    return float(1 - part.values.sum(dtype=np.float64) / total)


def _content(
    phi: SparseFlow, texts: Floats | None, wanted: Floats | None, closed: SparseFlow | None
) -> Floats | None:
    """Content scores of the nodes reached; -inf for those that flow may not come back to."""
    rho: Floats | None = None if wanted is None else flow.content_score(texts, wanted[0])
    if closed is not None:
        rho = np.zeros(len(phi), np.float32) if rho is None else rho
        rho[np.isin(phi.nodes, closed.nodes)] = -np.inf
    return rho


def _read(after: SparseFlow, phi: SparseFlow, texts: Floats | None) -> Floats:
    """The texts that the flow reads, (1, text_dim)."""
    assert texts is not None, "a network that reads nodes is given their texts"
    read: Floats = flow.read(after.values, texts[np.searchsorted(phi.nodes, after.nodes)])
    return read[None]


def _is_settled(
    start: SparseFlow,
    before: SparseFlow,
    after: SparseFlow,
    betas: list[Floats],
    tolerance: float,
) -> bool:
    if tolerance == 0 or _moved(before, after) > tolerance:
        return False
    if _moved(start, after) > 0.5:
        return True
    return len(betas) > 1 and bool(np.abs(betas[-1] - betas[-2]).max(initial=0) <= tolerance)


def _moved(before: SparseFlow, after: SparseFlow) -> float:
    """Half the sum of the differences of two flows: the share that went elsewhere."""
    nodes = np.concatenate([before.nodes, after.nodes])
    values = np.concatenate([-before.values, after.values]).astype(np.float64)
    places = np.unique(nodes, return_inverse=True)[1]
    return float(np.abs(np.bincount(places, values)).sum() / 2)


def _ends(final: SparseFlow, count: int) -> SparseFlow:
    """The nodes with most flow, and those that tie the last of them."""
    if len(final) <= count:
        return final
    least = topk(final.values, count)[1][-1]
    return _part(final, np.flatnonzero(final.values >= least))


def _ball_of(
    kg: KnowledgeGraph,
    relations: FlowRelations,
    flows: list[SparseFlow],
    start: SparseFlow,
    cut: bool,
) -> Ball:
    """The nodes of these flows and all edges between them."""
    nodes = np.unique(np.concatenate([one.nodes for one in flows]))
    found = balls(kg, relations, [nodes.tolist()], 0, threads=1)[0]
    topics = found.nodes_of(start.nodes)
    return Ball(found.graph, found.entities, topics, found.hubs, found.truncated or cut)


def _on(ball: Ball, sparse: SparseFlow) -> Floats:
    """A flow as an array of the ball's nodes."""
    dense = np.zeros(len(ball.entities), np.float32)
    dense[ball.nodes_of(sparse.nodes)] = sparse.values
    return dense
