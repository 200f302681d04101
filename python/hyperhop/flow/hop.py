"""One hop: structural flow joined with content, as a distribution over the nodes."""

from dataclasses import dataclass
from typing import Any

from hyperhop import _core
from hyperhop._arrays import output, restorer, threads_argument, to_numpy
from hyperhop.flow._inputs import edges_of, floats, gate_array
from hyperhop.flow.graph import FlowGraph


@dataclass(frozen=True)
class FlowGradients:
    """The gradients of a hop, each in the shape of its argument; None for one that was not given.

    `gate` is () for a single flow, (G,) packed and (B,) for lanes, also where one number was given
    for all flows.
    """

    pi: Any
    beta: Any
    rho: Any = None
    gate: Any = None


def hop(
    g: FlowGraph,
    pi: Any,
    beta: Any,
    rho: Any = None,
    gate: Any = 0.0,
    eps: float = 1e-8,
    segments: Any = None,
    reachable_only: bool = False,
    *,
    threads: int | None = None,
    out: Any = None,
) -> Any:
    """The next distribution of a flow over the nodes (RSF-GLLM eq. 4).

        pi'_v = softmax over the nodes of a graph of log(Phi_v + eps) + gate * rho_v

    with Phi as in `propagate`. Computed as (Phi_v + eps) exp(gate * rho_v - largest), which is the
    same and takes no logarithm; logits of any size are safe.

    Special values: a node whose rho is -inf gets no mass, whatever the gate. A graph in which no
    node can get any (all masked, or Phi + eps = 0 everywhere) is a dead hop: its pi' is all zeros.
    A NaN in pi, beta, rho or gate, a negative Phi and rho = inf give NaN in the whole graph, and in
    no other.

    Args:
        g: the graph.
        pi: (V,) mass at each node, or (V, B) for B flows; not negative.
        beta: (R,) attention of each relation; (G, R) packed, (R, B) for B flows; not negative.
        rho: content score of each node, in the shape of pi; None for none.
        gate: weight of the content: a number, or (G,) packed, (B,) for B flows.
        eps: smoothing constant, at least 0.
        segments: (G + 1,) node offsets of G packed graphs; no edge may lead from one to another.
        reachable_only: pi' = 0 where Phi = 0, so that no mass appears where no flow led. A hop
            without any flow is then dead.
        threads: None for the default.
        out: receives the result.

    Returns:
        pi', in the shape of pi.

    Raises:
        TypeError: for a dtype that is not a float of at most 64 bits. ValueError: for a shape that
            does not fit, or eps below 0.

    O(E + V) for each flow.
    """
    name = "hop"
    gates, is_number = gate_array(gate, name)
    result = _core.hop(
        edges_of(g, name),
        floats(pi, name, "pi"),
        floats(beta, name, "beta"),
        None if rho is None else floats(rho, name, "rho"),
        gates,
        is_number,
        eps,
        None if segments is None else to_numpy(segments, name, "segments"),
        reachable_only,
        output(out, name),
        threads_argument(threads, name),
    )
    return out if out is not None else restorer(pi, beta, rho, gate)(result)


def hop_backward(
    g: FlowGraph,
    pi: Any,
    beta: Any,
    result: Any,
    grad: Any,
    rho: Any = None,
    gate: Any = 0.0,
    eps: float = 1e-8,
    segments: Any = None,
    reachable_only: bool = False,
    *,
    threads: int | None = None,
) -> FlowGradients:
    """The gradients of `hop` with respect to pi, beta, rho and gate.

    A dead hop has gradients of 0. So has a node without mass, except that the gradient of its Phi
    is taken at eps.

    Args:
        g, pi, beta, rho, gate, eps, segments, reachable_only: what `hop` was given.
        result: what it returned.
        grad: the gradient of that, in its shape.
        threads: None for the default.

    Returns:
        FlowGradients; its rho and gate are None where no rho was given.

    Raises TypeError and ValueError as `hop`. O(E + V + R) for each flow: Phi is taken again.
    """
    name = "hop_backward"
    restore = restorer(pi, beta, result, grad, rho, gate)
    gates, is_number = gate_array(gate, name)
    gradients = _core.hop_backward(
        edges_of(g, name),
        floats(pi, name, "pi"),
        floats(beta, name, "beta"),
        floats(result, name, "result"),
        floats(grad, name, "grad"),
        None if rho is None else floats(rho, name, "rho"),
        gates,
        is_number,
        eps,
        None if segments is None else to_numpy(segments, name, "segments"),
        reachable_only,
        threads_argument(threads, name),
    )
    return FlowGradients(*(None if one is None else restore(one) for one in gradients))
