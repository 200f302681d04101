"""The content score: how well each node fits what a flow looks for."""

from typing import Any

from hyperhop import _core
from hyperhop._arrays import output, restorer, threads_argument
from hyperhop.flow._inputs import floats, same_width, segments_array


def content_score(
    features: Any,
    query: Any,
    segments: Any = None,
    *,
    threads: int | None = None,
    out: Any = None,
) -> Any:
    """The dot product of every node with the query of its flow (RSF-GLLM section 2.3.2).

        rho_v = h_v . q

    The paper's q^T W_node h_v is this with the query W_node^T q. To score inside a hop, and read
    the features once for both, give `hop` the query.

    Args:
        features: (V, d), a row for each node, whatever the number of flows.
        query: (d,) for one flow; (G, d) packed, (B, d) for B flows.
        segments: (G + 1,) node offsets of G packed graphs.
        threads: None for the default.
        out: receives the result.

    Returns:
        rho: (V,), or (V, B) for B flows. A NaN surfaces where its row or query is used.

    Raises:
        TypeError: for a dtype that is not a float of at most 64 bits. ValueError: for a shape that
            does not fit.

    O(V d) for each flow.
    """
    name = "content_score"
    result = _core.content_score(
        name,
        floats(features, name, "features"),
        "query",
        floats(query, name, "query"),
        segments_array(segments, name),
        output(out, name),
        threads_argument(threads, name),
    )
    return out if out is not None else restorer(features, query)(result)


def content_score_backward(
    features: Any,
    query: Any,
    grad: Any,
    segments: Any = None,
    *,
    features_gradient: bool = True,
    threads: int | None = None,
) -> tuple[Any, Any]:
    """The gradients of `content_score` with respect to the features and the query.

    Args:
        features, query, segments: what `content_score` was given.
        grad: the gradient of rho, in its shape.
        features_gradient: False where the features are constant: None comes back for them, and no
            array of their size is made.
        threads: None for the default.

    Returns:
        (gradient of the features or None, gradient of the query), in the shapes of both.

    Raises TypeError and ValueError as `content_score`. O(V d) for each flow.
    """
    name = "content_score_backward"
    restore = restorer(features, query, grad)
    count = threads_argument(threads, name)
    offsets = segments_array(segments, name)
    h, q, g = same_width(
        floats(features, name, "features"), floats(query, name, "query"), floats(grad, name, "grad")
    )
    # What comes back to the query is a read with the gradient for a flow.
    grad_query = _core.read(name, "grad", g, h, offsets, None, count)
    if grad_query.shape != q.shape:
        raise ValueError(f"{name}: query must have shape {grad_query.shape}, got {q.shape}")
    if not features_gradient:
        return None, restore(grad_query)
    grad_features = _core.feature_gradient(name, "grad", g, "query", q, h.shape[1], offsets, count)
    return restore(grad_features), restore(grad_query)
