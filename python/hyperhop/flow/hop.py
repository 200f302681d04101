"""One hop: structural flow joined with content, as a distribution over the nodes."""

from dataclasses import dataclass
from typing import Any

from hyperhop import _core
from hyperhop._arrays import output, restorer, threads_argument
from hyperhop.flow._inputs import edges_of, floats, gate_array, segments_array
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
    features: Any = None
    query: Any = None


def hop(
    g: FlowGraph,
    pi: Any,
    beta: Any,
    rho: Any = None,
    gate: Any = 0.0,
    eps: float = 1e-8,
    segments: Any = None,
    reachable_only: bool = False,
    features: Any = None,
    query: Any = None,
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

    With `features` the hop also reads through its result, as `read` does, and with a `query` it
    takes rho_v = h_v . query, as `content_score` does, in the same pass over the features. pi' has
    the bits of the separate calls; a context read with a query has its own rounding.

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
        features: (V, d), a row for each node, whatever the number of flows; None for none.
        query: (d,), (G, d) packed, (B, d) for B flows: scores the nodes by their features, in the
            place of rho.
        threads: None for the default.
        out: receives the result; with features a pair of arrays.

    Returns:
        pi', in the shape of pi; with features (pi', context), the context in the shape of a query.

    Raises:
        TypeError: for a dtype that is not a float of at most 64 bits. ValueError: for a shape that
            does not fit, eps below 0, or a query without features or beside rho.

    O(E + V) for each flow, with features O(E + V d).
    """
    name = "hop"
    gates, is_number = gate_array(gate, name)
    _check_query(query, features, name)
    if features is not None:
        target, context = (None, None) if out is None else _pair(out, name, "out")
        results = _core.hop_content(
            edges_of(g, name),
            floats(pi, name, "pi"),
            floats(beta, name, "beta"),
            None if rho is None else floats(rho, name, "rho"),
            None if query is None else floats(query, name, "query"),
            gates,
            is_number,
            eps,
            segments_array(segments, name),
            reachable_only,
            floats(features, name, "features"),
            output(target, name),
            output(context, name),
            threads_argument(threads, name),
        )
        restore = restorer(pi, beta, rho, gate, features, query)
        return out if out is not None else tuple(map(restore, results))
    result = _core.hop(
        edges_of(g, name),
        floats(pi, name, "pi"),
        floats(beta, name, "beta"),
        None if rho is None else floats(rho, name, "rho"),
        gates,
        is_number,
        eps,
        segments_array(segments, name),
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
    features: Any = None,
    query: Any = None,
    *,
    features_gradient: bool = True,
    threads: int | None = None,
) -> FlowGradients:
    """The gradients of `hop` with respect to pi, beta, rho, gate, features and query.

    A dead hop has gradients of 0. So has a node without mass, except that the gradient of its Phi
    is taken at eps.

    Args:
        g, pi, beta, rho, gate, eps, segments, reachable_only, features, query: what `hop` was
            given.
        result: what it returned; with features a pair.
        grad: the gradient of that, in its shape; with features a pair.
        features_gradient: False where the features are constant: None comes back for them, and no
            array of their size is made.
        threads: None for the default.

    Returns:
        FlowGradients; its rho, features and query are None where they were not given, and its gate
        where neither rho nor a query was.

    Raises TypeError and ValueError as `hop`. O(E + V + R) for each flow, with features
    O(E + V d + R) in one pass over them: Phi is taken again.
    """
    name = "hop_backward"
    gates, is_number = gate_array(gate, name)
    _check_query(query, features, name)
    if features is not None:
        reached, context = _pair(result, name, "result")
        grad_reached, grad_context = _pair(grad, name, "grad")
        gradients: tuple[Any, ...] = _core.hop_content_backward(
            edges_of(g, name),
            floats(pi, name, "pi"),
            floats(beta, name, "beta"),
            floats(reached, name, "result"),
            floats(context, name, "context"),
            floats(grad_reached, name, "grad"),
            floats(grad_context, name, "grad_context"),
            None if rho is None else floats(rho, name, "rho"),
            None if query is None else floats(query, name, "query"),
            gates,
            is_number,
            eps,
            segments_array(segments, name),
            reachable_only,
            floats(features, name, "features"),
            features_gradient,
            threads_argument(threads, name),
        )
        restore = restorer(pi, beta, rho, gate, features, query, *result, *grad)
        return FlowGradients(*(None if one is None else restore(one) for one in gradients))
    restore = restorer(pi, beta, result, grad, rho, gate)
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
        segments_array(segments, name),
        reachable_only,
        threads_argument(threads, name),
    )
    return FlowGradients(*(None if one is None else restore(one) for one in gradients))


def _check_query(query: Any, features: Any, function: str) -> None:
    if query is not None and features is None:
        raise ValueError(f"{function}: query scores the nodes by their features, give features too")


def _pair(pair: Any, function: str, name: str) -> tuple[Any, Any]:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise TypeError(
            f"{function}: {name} must be a pair, for pi and for the context, where features are "
            f"given, got {type(pair).__name__}"
        )
    return pair[0], pair[1]
