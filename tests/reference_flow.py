"""Float64 references of hyperhop.flow, in plain NumPy, one flow at a time."""

import numpy as np


def propagate(g, pi, beta):
    phi = np.zeros(g.num_nodes)
    np.add.at(phi, g.dst, np.asarray(pi, np.float64)[g.src] * np.float64(beta)[g.relation])
    return phi


def propagate_backward(g, pi, beta, grad):
    pi, beta, grad = (np.asarray(x, np.float64) for x in (pi, beta, grad))
    grad_pi, grad_beta = np.zeros(g.num_nodes), np.zeros(g.num_relations)
    np.add.at(grad_pi, g.src, beta[g.relation] * grad[g.dst])
    np.add.at(grad_beta, g.relation, pi[g.src] * grad[g.dst])
    return grad_pi, grad_beta


def hop(g, pi, beta, rho=None, gate=0.0, eps=1e-8, reachable_only=False):
    """Eq. 4 to the letter: a softmax of logarithms."""
    phi = propagate(g, pi, beta)
    with np.errstate(divide="ignore"):
        logits = np.log(phi + eps)
    if reachable_only:
        logits[phi == 0] = -np.inf
    if rho is not None:
        rho = np.asarray(rho, np.float64)
        masked = rho == -np.inf
        logits[~masked] += np.float64(gate) * rho[~masked]
        logits[masked] = -np.inf
    top = logits.max(initial=-np.inf)
    if top == -np.inf:
        return np.zeros(g.num_nodes)
    weights = np.exp(logits - top)
    return weights / weights.sum()


def content_score(features, query):
    return np.asarray(features, np.float64) @ np.asarray(query, np.float64)


def read(pi, features):
    return np.asarray(pi, np.float64) @ np.asarray(features, np.float64)


def entropy(pi, eps=1e-8):
    pi = np.asarray(pi, np.float64)
    return -(pi[pi != 0] * np.log(pi[pi != 0] + eps)).sum()
