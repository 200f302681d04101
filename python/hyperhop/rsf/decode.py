"""From flows to evidence: the best answers, and paths back to the topic, each certified."""

from dataclasses import dataclass
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperhop._topk import topk
from hyperhop.evidence import Evidence, EvidenceAnswer, EvidencePath, FlowHop, FlowStep
from hyperhop.flow import propagate
from hyperhop.flow.backtrack import Score, TracedPaths, backtrack
from hyperhop.graph import KnowledgeGraph
from hyperhop.rsf.cut import answer_count
from hyperhop.rsf.graphs import Ball, FlowRelations
from hyperhop.rsf.network import Flows
from hyperhop.rsf.text import Floats

Nodes = npt.NDArray[np.int64]

_RELATIONS_SHOWN = 5


@dataclass(frozen=True)
class Decoding:
    """How flows are decoded.

    Attributes:
        k: answers at least, where so many have flow (10; the paper does not state its K).
        paths: different paths to an answer at most.
        score: what backtracking follows: "pi" is the paper's, "pi*beta" also weighs a step by the
            attention it takes.
        cap: entities listed at most, where more than `k` answer.
        reachable_only: whether only entities that flow reached got any; then nothing leaks.
        share: which entities answer, see `answer_count`.
    """

    k: int = 10
    paths: int = 1
    score: Score = "pi*beta"
    cap: int = 1_000
    reachable_only: bool = True
    share: float | None = None


def decode(
    kg: KnowledgeGraph,
    relations: FlowRelations,
    ball: Ball,
    found: Flows,
    how: Decoding,
    explain: bool = False,
) -> Evidence:
    """Answers, paths and hops of one question's flows.

    Answers are the entities with most flow after the last hop, ties by name, and a count tells how
    many of them answer; one that flow only leaked to has no path and is none. Every answer has its
    paths, in order of the answers; paths that differ in steps that stay are one. RuntimeError
    unless each step of each path is a fact of the graph that carried flow. `explain` also tells
    what each hop followed.
    """
    nodes, answering = _best(kg, ball, found.flows[-1], how)
    stays = comb(len(found.betas), len(found.betas) // 2) if relations.stay else 1
    wanted = how.paths * stays if how.paths > 1 else 1  # so many may differ in stays alone
    segments = np.array([0, ball.graph.num_nodes], np.int64)
    traced = backtrack(
        ball.graph, found.flows, found.betas, nodes, wanted, how.score, segments=segments
    )
    named = _paths(kg, relations, ball, found, traced, how.paths)
    final = found.flows[-1]
    reached = np.setdiff1d(np.arange(len(nodes)), traced.unreached)
    names = kg.entity_names(ball.entities[nodes].astype(np.int32))
    return Evidence(
        paths=[
            EvidencePath(path.entities, path.relations, float(final[nodes[place]]), path.steps)
            for place, path in named
        ],
        answers=[EvidenceAnswer(names[i], float(final[nodes[i]])) for i in reached.tolist()],
        hops=_hops(relations, ball, found, how.reachable_only, explain),
        truncated=answering > len(nodes) or ball.truncated,
        hubs=kg.entity_names(ball.hubs),
        answered=int(np.count_nonzero(reached < answering)),
    )


def _best(kg: KnowledgeGraph, ball: Ball, final: Floats, how: Decoding) -> tuple[Nodes, int]:
    """Nodes to list, best first, and how many nodes answer: more than listed where `cap` cut."""
    answering = answer_count(final, how.share)
    holding = int(np.count_nonzero(final > 0))
    count = min(max(how.k, min(answering, how.cap)), holding)
    if count == 0:
        return np.zeros(0, np.int64), answering
    least = topk(final, count)[1][-1]
    nodes = np.flatnonzero(final >= least)
    names = kg.entity_names(ball.entities[nodes].astype(np.int32))
    ranked = sorted(zip((-final[nodes]).tolist(), names, nodes.tolist(), strict=True))
    return np.array([node for _, _, node in ranked[:count]], np.int64), answering


class _Path(NamedTuple):
    entities: list[str]
    relations: list[str]
    steps: tuple[FlowStep, ...]


def _paths(
    kg: KnowledgeGraph,
    relations: FlowRelations,
    ball: Ball,
    found: Flows,
    traced: TracedPaths,
    most: int,
) -> list[tuple[int, _Path]]:
    """Place of the answer and path, for up to `most` different paths to each answer."""
    count, hops = len(traced), len(found.betas)
    symbols = traced.sequences.symbols.reshape(count, hops)
    entities = ball.entities[traced.entities].astype(np.int32)
    moves = symbols != relations.stay_id
    _check_facts(kg, relations, entities, symbols, moves)
    attention = np.empty((count, hops))
    flow = np.empty((count, hops))
    for hop in range(hops):
        attention[:, hop] = found.betas[hop][0, symbols[:, hop]]
        flow[:, hop] = found.flows[hop + 1][traced.entities[:, hop + 1]]
    if not (np.all(attention > 0) and np.all(flow > 0)):
        raise RuntimeError("RSF: a path holds a step that carried no flow")
    names = [kg.entity_names(np.ascontiguousarray(column)) for column in entities.T]
    chosen: list[tuple[int, _Path]] = []
    seen: dict[int, set[tuple[bytes, bytes]]] = {}
    for row, place in enumerate(traced.target.tolist()):
        kept = moves[row]
        key = symbols[row, kept].tobytes(), entities[row, 1:][kept].tobytes()
        known = seen.setdefault(place, set())
        if key in known or len(known) == most:
            continue
        known.add(key)
        steps = tuple(
            FlowStep(relations.names[symbol], weight, share)
            for symbol, weight, share in zip(
                symbols[row].tolist(), attention[row].tolist(), flow[row].tolist(), strict=True
            )
        )
        taken = np.flatnonzero(kept).tolist()
        path = _Path(
            [names[0][row], *(names[hop + 1][row] for hop in taken)],
            [steps[hop].relation for hop in taken],
            steps,
        )
        chosen.append((place, path))
    return chosen


def _check_facts(
    kg: KnowledgeGraph,
    relations: FlowRelations,
    entities: npt.NDArray[np.int32],
    symbols: npt.NDArray[np.int32],
    moves: npt.NDArray[np.bool_],
) -> None:
    """RuntimeError unless every move is a fact of the graph and every stay stays."""
    left, right = entities[:, :-1], entities[:, 1:]
    against = symbols >= relations.num_relations
    heads, tails = np.where(against, right, left), np.where(against, left, right)
    relation = np.where(against, symbols - relations.num_relations, symbols)
    true = np.where(moves, kg.has_triples(heads, relation, tails), left == right)
    if not np.all(true):
        row, hop = np.argwhere(~true)[0].tolist()
        step = entities[row, hop : hop + 2].tolist()
        raise RuntimeError(f"RSF: a path holds the step {step}, which is no fact of the graph")


def _hops(
    relations: FlowRelations, ball: Ball, found: Flows, reachable_only: bool, explain: bool
) -> list[FlowHop]:
    told = []
    for hop, (beta, gate) in enumerate(zip(found.betas, found.gates, strict=True)):
        before, after = found.flows[hop], found.flows[hop + 1]
        leaked = 0.0
        if not reachable_only:
            arrived = propagate(ball.graph, before, beta[0])
            leaked = float(after[arrived <= 0].sum(dtype=np.float64))
        followed = _followed(relations, ball, before, beta[0]) if explain else {}
        told.append(FlowHop(float(gate[0]), followed, int(np.count_nonzero(after > 0)), leaked))
    return told


def _followed(
    relations: FlowRelations, ball: Ball, before: Floats, beta: Floats
) -> dict[str, float]:
    """Attention of the relations that carried most flow, strongest first."""
    graph = ball.graph
    carried = np.bincount(
        graph.relation, before[graph.src].astype(np.float64) * beta[graph.relation], len(beta)
    )
    symbols, amounts = topk(carried.astype(np.float64), _RELATIONS_SHOWN)
    return {
        relations.names[symbol]: float(beta[symbol])
        for symbol, amount in zip(symbols.tolist(), amounts.tolist(), strict=True)
        if amount > 0
    }
