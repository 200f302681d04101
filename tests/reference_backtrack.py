"""Paths behind the targets of a flow, by listing all of them: for small graphs only."""

import math
import sys


def steps(edges, flow, beta, with_beta):
    """Steps of one hop that carry flow: node -> [(source, relation, weight)], sources ascending."""
    best = {}
    for source, relation, node in sorted(edges):
        if flow[source] > 0 and beta[relation] > 0:
            known = best.get((node, source))
            if known is None or beta[relation] > beta[known]:
                best[node, source] = relation
    found = {}
    for (node, source), relation in sorted(best.items()):
        weight = float(flow[source]) * (float(beta[relation]) if with_beta else 1)
        if weight >= sys.float_info.min:
            logs = math.log(weight)
        else:
            logs = math.log(flow[source]) + (math.log(beta[relation]) if with_beta else 0)
        found.setdefault(node, []).append((source, relation, weight, logs))
    return found


def all_paths(edges, flows, betas, with_beta):
    """By hop: node -> [(score, entities, relations)] of every path there, best first."""
    reached = [{node: [(0.0, (node,), ())] for node, pi in enumerate(flows[0]) if pi > 0}]
    for flow, beta in zip(flows, betas, strict=False):
        before, found = reached[-1], {}
        for node, sources in steps(edges, flow, beta, with_beta).items():
            paths = [
                (score + logs, (*entities, node), (*relations, relation))
                for source, relation, _, logs in sources  # ascending, so a stable sort breaks ties
                for score, entities, relations in before.get(source, [])
            ]
            if paths:
                found[node] = sorted(paths, key=lambda path: -path[0])
        reached.append(found)
    return reached


def greedy(edges, flows, betas, target, with_beta):
    """The path of the heaviest steps that lead back to a start, or None."""
    reached = all_paths(edges, flows, betas, with_beta)
    if target not in reached[-1]:
        return None
    entities, relations = [target], []
    for hop in range(len(betas), 0, -1):
        sources = steps(edges, flows[hop - 1], betas[hop - 1], with_beta)[entities[0]]
        alive = [step for step in sources if step[0] in reached[hop - 1]]
        source, relation, *_ = max(alive, key=lambda step: (step[2], -step[0]))
        entities.insert(0, source)
        relations.insert(0, relation)
    return tuple(entities), tuple(relations)
