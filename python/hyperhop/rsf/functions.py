"""The flow kernels of `hyperhop.flow` as differentiable torch functions.

They take CPU tensors of float32 or float64; float16 and bfloat16, which autocast makes, count as
float32. Where dtypes differ all become the widest, and that is what comes back. The kernels bring
their own backward passes, so there is no second derivative. Shapes are those of `hyperhop.flow`:
packed with `segments`, in lanes without. `torch.compile` leaves them out of its graphs.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.autograd.function import once_differentiable

from hyperhop import flow
from hyperhop.flow import FlowGraph

Segments = npt.NDArray[np.int64] | None


@torch.compiler.disable
def propagate(
    graph: FlowGraph, pi: torch.Tensor, beta: torch.Tensor, segments: Segments = None
) -> torch.Tensor:
    """The structural flow Phi; differentiable in pi and beta."""
    pi, beta = _widest(pi, beta)
    return _Propagate.apply(pi, beta, graph, segments)


@torch.compiler.disable
def hop(
    graph: FlowGraph,
    pi: torch.Tensor,
    beta: torch.Tensor,
    rho: torch.Tensor | None = None,
    gate: torch.Tensor | None = None,
    *,
    eps: float = 1e-8,
    segments: Segments = None,
    reachable_only: bool = False,
    features: torch.Tensor | None = None,
    query: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """One hop (eq. 4): the next flow and, where `features` are given, the context read with it.

    Differentiable in pi, beta, rho, gate, features and query. `query` stands for
    rho = features . query, taken in the same pass over the features.
    """
    pi, beta, rho, gate, features, query = _widest(pi, beta, rho, gate, features, query)
    gate = None if rho is None and query is None else gate
    settings = {"eps": eps, "segments": segments, "reachable_only": reachable_only}
    if features is None:
        return _Hop.apply(pi, beta, rho, gate, graph, settings), None
    reached, context = _HopAndRead.apply(pi, beta, rho, gate, features, query, graph, settings)
    return reached, context


@torch.compiler.disable
def read(pi: torch.Tensor, features: torch.Tensor, segments: Segments = None) -> torch.Tensor:
    """The context sum_v pi_v h_v; differentiable in pi and features."""
    pi, features = _widest(pi, features)
    return _Read.apply(pi, features, segments)


@torch.compiler.disable
def content_score(
    features: torch.Tensor, query: torch.Tensor, segments: Segments = None
) -> torch.Tensor:
    """rho_v = h_v . query; differentiable in features and query."""
    features, query = _widest(features, query)
    return _ContentScore.apply(features, query, segments)


@torch.compiler.disable
def entropy(pi: torch.Tensor, segments: Segments = None, eps: float = 1e-8) -> torch.Tensor:
    """-sum pi log(pi + eps) of each flow; differentiable in pi."""
    (pi,) = _widest(pi)
    return _Entropy.apply(pi, segments, eps)


def _widest(*tensors: torch.Tensor | None) -> tuple[Any, ...]:
    """All as the widest dtype among them, at least float32; torch carries gradients back."""
    present = [tensor for tensor in tensors if tensor is not None]
    dtype = torch.float32
    for tensor in present:
        dtype = torch.promote_types(dtype, tensor.dtype)
    return tuple(None if tensor is None else tensor.to(dtype) for tensor in tensors)


def _array(tensor: torch.Tensor | None) -> npt.NDArray[Any] | None:
    return None if tensor is None else tensor.detach().numpy()


class _Propagate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pi: Any, beta: Any, graph: Any, segments: Any) -> Any:
        ctx.save_for_backward(pi, beta)
        ctx.graph, ctx.segments = graph, segments
        return torch.from_numpy(flow.propagate(graph, _array(pi), _array(beta), segments))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Any) -> Any:
        pi, beta = map(_array, ctx.saved_tensors)
        gradients = flow.propagate_backward(ctx.graph, pi, beta, _array(grad), ctx.segments)
        return *map(torch.from_numpy, gradients), None, None


class _Hop(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, pi: Any, beta: Any, rho: Any, gate: Any, graph: FlowGraph, settings: Any
    ) -> Any:
        ctx.graph, ctx.settings = graph, settings
        reached = torch.from_numpy(
            flow.hop(graph, _array(pi), _array(beta), _array(rho), _weight(gate), **settings)
        )
        ctx.save_for_backward(pi, beta, rho, gate, reached)
        return reached

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Any) -> Any:
        pi, beta, rho, gate, reached = ctx.saved_tensors
        found = flow.hop_backward(
            ctx.graph,
            _array(pi),
            _array(beta),
            _array(reached),
            _array(grad),
            _array(rho),
            _weight(gate),
            **ctx.settings,
        )
        return *map(_tensor, (found.pi, found.beta, found.rho, found.gate)), None, None


class _HopAndRead(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        pi: Any,
        beta: Any,
        rho: Any,
        gate: Any,
        features: Any,
        query: Any,
        graph: FlowGraph,
        settings: Any,
    ) -> Any:
        ctx.graph, ctx.settings = graph, settings
        results = flow.hop(
            graph,
            _array(pi),
            _array(beta),
            _array(rho),
            _weight(gate),
            **settings,
            features=_array(features),
            query=_array(query),
        )
        reached, context = map(torch.from_numpy, results)
        ctx.save_for_backward(pi, beta, rho, gate, features, query, reached, context)
        return reached, context

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Any) -> Any:
        pi, beta, rho, gate, features, query, *results = ctx.saved_tensors
        found = flow.hop_backward(
            ctx.graph,
            _array(pi),
            _array(beta),
            [_array(x) for x in results],
            [_array(x) for x in grads],
            _array(rho),
            _weight(gate),
            **ctx.settings,
            features=_array(features),
            query=_array(query),
            features_gradient=ctx.needs_input_grad[4],
        )
        gradients = (found.pi, found.beta, found.rho, found.gate, found.features, found.query)
        return *map(_tensor, gradients), None, None


class _Read(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pi: Any, features: Any, segments: Any) -> Any:
        ctx.save_for_backward(pi, features)
        ctx.segments = segments
        return torch.from_numpy(flow.read(_array(pi), _array(features), segments))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Any) -> Any:
        pi, features = map(_array, ctx.saved_tensors)
        gradients = flow.read_backward(
            pi, features, _array(grad), ctx.segments, features_gradient=ctx.needs_input_grad[1]
        )
        return *map(_tensor, gradients), None


class _ContentScore(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Any, query: Any, segments: Any) -> Any:
        ctx.save_for_backward(features, query)
        ctx.segments = segments
        return torch.from_numpy(flow.content_score(_array(features), _array(query), segments))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Any) -> Any:
        features, query = map(_array, ctx.saved_tensors)
        gradients = flow.content_score_backward(
            features, query, _array(grad), ctx.segments, features_gradient=ctx.needs_input_grad[0]
        )
        return *map(_tensor, gradients), None


class _Entropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pi: Any, segments: Any, eps: Any) -> Any:
        ctx.save_for_backward(pi)
        ctx.settings = (segments, eps)
        return torch.from_numpy(flow.entropy(_array(pi), *ctx.settings))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Any) -> Any:
        (pi,) = map(_array, ctx.saved_tensors)
        gradient = flow.entropy_backward(pi, _array(grad), *ctx.settings)
        return torch.from_numpy(gradient), None, None


def _tensor(array: npt.NDArray[Any] | None) -> torch.Tensor | None:
    return None if array is None else torch.from_numpy(array)


def _weight(gate: torch.Tensor | None) -> Any:
    """A gate as the kernels take it; without content there is none, and nothing to weigh."""
    return 0.0 if gate is None else _array(gate)
