"""How spread out a flow is."""

from typing import Any

from hyperhop import _core
from hyperhop._arrays import output, restorer, threads_argument
from hyperhop.flow._inputs import floats, segments_array


def entropy(
    pi: Any,
    segments: Any = None,
    eps: float = 1e-8,
    *,
    threads: int | None = None,
    out: Any = None,
) -> Any:
    """The entropy of a flow, in nats (the flow sparsity term of RSF-GLLM section 2.6.1).

        H = -sum over the nodes of a graph of pi_v log(pi_v + eps)

    Its mean over the hops is what training minimises so that a flow decides.

    Args:
        pi: (V,) mass at each node, or (V, B) for B flows; not negative.
        segments: (G + 1,) node offsets of G packed graphs.
        eps: smoothing constant, at least 0.
        threads: None for the default.
        out: receives the result.

    Returns:
        H: (), (G,) packed, (B,) for B flows. A node without mass adds 0, a graph without nodes has
        0, a NaN or a negative pi + eps gives NaN.

    Raises:
        TypeError: for a dtype that is not a float of at most 64 bits. ValueError: for a shape that
            does not fit, or eps below 0.

    O(V) for each flow.
    """
    name = "entropy"
    result = _core.entropy(
        floats(pi, name, "pi"),
        segments_array(segments, name),
        eps,
        output(out, name),
        threads_argument(threads, name),
    )
    return out if out is not None else restorer(pi)(result)


def entropy_backward(
    pi: Any,
    grad: Any,
    segments: Any = None,
    eps: float = 1e-8,
    *,
    threads: int | None = None,
) -> Any:
    """The gradient of `entropy` with respect to pi: -(log(pi + eps) + pi / (pi + eps)) grad.

    Args:
        pi, segments, eps: what `entropy` was given.
        grad: the gradient of H, in its shape.
        threads: None for the default.

    Returns:
        In the shape of pi; infinite only where pi + eps = 0.

    Raises TypeError and ValueError as `entropy`. O(V) for each flow.
    """
    name = "entropy_backward"
    result = _core.entropy_backward(
        floats(pi, name, "pi"),
        floats(grad, name, "grad"),
        segments_array(segments, name),
        eps,
        threads_argument(threads, name),
    )
    return restorer(pi, grad)(result)
