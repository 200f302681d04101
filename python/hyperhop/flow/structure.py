"""Structural flow: what arrives at each node along the edges."""

from typing import Any

from hyperhop import _core
from hyperhop._arrays import output, restorer, threads_argument, to_numpy
from hyperhop.flow._inputs import edges_of, floats
from hyperhop.flow.graph import FlowGraph


def propagate(
    g: FlowGraph,
    pi: Any,
    beta: Any,
    segments: Any = None,
    *,
    threads: int | None = None,
    out: Any = None,
) -> Any:
    """Structural flow, the first step of a hop (RSF-GLLM section 3.3).

        Phi_v = sum over edges (u, r, v) of pi_u * beta_r

    The edges of a node are added one after another in the order (dst, src, relation), so Phi has
    the same bits on every instruction set too. A node without in-edges gets 0.

    Args:
        g: the graph.
        pi: (V,) mass at each node, or (V, B) for B flows.
        beta: (R,) attention of each relation; (G, R) packed, (R, B) for B flows. Where all of them
            have one, `np.broadcast_to(beta[:, None], (R, B))` is read faster than copies of it.
        segments: (G + 1,) node offsets of G packed graphs; no edge may lead from one to another.
        threads: None for the default.
        out: receives the result.

    Returns:
        Phi, in the shape of pi.

    Raises:
        TypeError: for a dtype that is not a float of at most 64 bits. ValueError: for a shape that
            does not fit.

    O(E + V) for each flow.
    """
    name = "propagate"
    result = _core.propagate(
        edges_of(g, name),
        floats(pi, name, "pi"),
        floats(beta, name, "beta"),
        None if segments is None else to_numpy(segments, name, "segments"),
        output(out, name),
        threads_argument(threads, name),
    )
    return out if out is not None else restorer(pi, beta)(result)


def propagate_backward(
    g: FlowGraph,
    pi: Any,
    beta: Any,
    grad: Any,
    segments: Any = None,
    *,
    threads: int | None = None,
) -> tuple[Any, Any]:
    """The gradients of `propagate` with respect to pi and beta.

    The sums of pi's gradient run in the order (src, dst, relation); those of beta's in fixed blocks
    of the segment's edges, within them by nodes of equal degree.

    Args:
        g, pi, beta, segments: what `propagate` was given.
        grad: the gradient of its result, in the shape of pi.
        threads: None for the default.

    Returns:
        (gradient of pi, gradient of beta), in the shapes of pi and beta.

    Raises TypeError and ValueError as `propagate`. O(E + V + R) for each flow.
    """
    name = "propagate_backward"
    restore = restorer(pi, beta, grad)
    grad_pi, grad_beta = _core.propagate_backward(
        edges_of(g, name),
        floats(pi, name, "pi"),
        floats(beta, name, "beta"),
        floats(grad, name, "grad"),
        None if segments is None else to_numpy(segments, name, "segments"),
        threads_argument(threads, name),
    )
    return restore(grad_pi), restore(grad_beta)
