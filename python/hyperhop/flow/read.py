"""Reading the features of the nodes where a flow is."""

from typing import Any

from hyperhop import _core
from hyperhop._arrays import output, restorer, threads_argument
from hyperhop.flow._inputs import floats, same_width, segments_array


def read(
    pi: Any,
    features: Any,
    segments: Any = None,
    *,
    threads: int | None = None,
    out: Any = None,
) -> Any:
    """The features of the nodes, weighted by a flow (RSF-GLLM section 2.3.3).

        c = sum over the nodes of a graph of pi_v h_v

    Nodes are added one after another inside blocks of 1,024, counted from the graph's first node,
    and blocks are added in order. `hop` reads in the same call if it is given the features.

    Args:
        pi: (V,) weights of the nodes, or (V, B) for B flows; any numbers.
        features: (V, d), a row for each node, whatever the number of flows.
        segments: (G + 1,) node offsets of G packed graphs.
        threads: None for the default.
        out: receives the result.

    Returns:
        The context: (d,), (G, d) packed, (B, d) for B flows. A graph without nodes reads 0; a NaN
        in the features surfaces, also behind pi = 0.

    Raises:
        TypeError: for a dtype that is not a float of at most 64 bits. ValueError: for a shape that
            does not fit.

    O(V d) for each flow.
    """
    name = "read"
    result = _core.read(
        name,
        "pi",
        floats(pi, name, "pi"),
        floats(features, name, "features"),
        segments_array(segments, name),
        output(out, name),
        threads_argument(threads, name),
    )
    return out if out is not None else restorer(pi, features)(result)


def read_backward(
    pi: Any,
    features: Any,
    grad: Any,
    segments: Any = None,
    *,
    features_gradient: bool = True,
    threads: int | None = None,
) -> tuple[Any, Any]:
    """The gradients of `read` with respect to pi and the features.

    Args:
        pi, features, segments: what `read` was given.
        grad: the gradient of the context, in its shape.
        features_gradient: False where the features are constant: None comes back for them, and no
            array of their size is made.
        threads: None for the default.

    Returns:
        (gradient of pi, gradient of the features or None), in the shapes of both.

    Raises TypeError and ValueError as `read`. O(V d) for each flow.
    """
    name = "read_backward"
    restore = restorer(pi, features, grad)
    count = threads_argument(threads, name)
    offsets = segments_array(segments, name)
    p, h, g = same_width(
        floats(pi, name, "pi"), floats(features, name, "features"), floats(grad, name, "grad")
    )
    # What comes back to pi is the content score of the gradient.
    grad_pi = _core.content_score(name, h, "grad", g, offsets, None, count)
    if grad_pi.shape != p.shape:
        raise ValueError(f"{name}: pi must have shape {grad_pi.shape}, got {p.shape}")
    if not features_gradient:
        return restore(grad_pi), None
    grad_features = _core.feature_gradient(name, "pi", p, "grad", g, h.shape[1], offsets, count)
    return restore(grad_pi), restore(grad_features)
