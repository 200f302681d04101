"""The kernels as torch functions: gradients against finite differences and against plain torch."""

import numpy as np
import pytest

# what needs torch is imported after this line, hence the noqa below
torch = pytest.importorskip("torch")

import rsf_twin  # noqa: E402
from hyperhop.flow import FlowGraph  # noqa: E402
from hyperhop.rsf import functions  # noqa: E402
from rsf_batches import NUM_RELATIONS, multigraph, packed  # noqa: E402

pytestmark = pytest.mark.needs("torch")

NODES, DIM = 17, 6
SEGMENTS = {
    "packed": np.array([0, 9, 9, 10, 17]),  # also a question without nodes and one with one
    "lanes": None,
}


def inputs(shape, seed=0, dtype=torch.float64, requires_grad=True):
    """pi, beta, rho, gate, features, query of one shape, on one multigraph."""
    generator = torch.Generator().manual_seed(seed)
    segments = SEGMENTS[shape]
    flows = 3 if segments is None else len(segments) - 1
    nodes = (NODES, flows) if segments is None else (NODES,)
    relations = (NUM_RELATIONS, flows) if segments is None else (flows, NUM_RELATIONS)
    draw = {
        "pi": torch.rand(nodes, generator=generator),
        "beta": torch.rand(relations, generator=generator),
        "rho": torch.randn(nodes, generator=generator),
        "gate": torch.rand(flows, generator=generator),
        "features": torch.randn(NODES, DIM, generator=generator),
        "query": torch.randn(flows, DIM, generator=generator),
    }
    return {k: v.to(dtype).requires_grad_(requires_grad) for k, v in draw.items()}


def graph_of(shape, seed=0):
    """A multigraph on NODES nodes whose edges stay inside the segments."""
    if SEGMENTS[shape] is None:
        return multigraph(seed, NODES, 60)
    parts = [
        multigraph(seed + i, int(n), 4 * int(n)) for i, n in enumerate(np.diff(SEGMENTS[shape]))
    ]
    first = np.repeat(SEGMENTS[shape][:-1], [part.num_edges for part in parts])
    src, relation, dst = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("src", "relation", "dst")
    )
    return FlowGraph(src + first, relation, dst + first, NODES, NUM_RELATIONS)


@pytest.mark.parametrize("reachable_only", [False, True])
@pytest.mark.parametrize("shape", ["packed", "lanes"])
def test_gradcheck_hop(shape, reachable_only):
    graph, x = graph_of(shape), inputs(shape)

    def run(pi, beta, rho, gate):
        # A large eps keeps second differences of the logarithm small where no flow arrives.
        return functions.hop(
            graph,
            pi,
            beta,
            rho,
            gate,
            eps=1e-2,
            segments=SEGMENTS[shape],
            reachable_only=reachable_only,
        )[0]

    assert torch.autograd.gradcheck(run, [x[name] for name in ("pi", "beta", "rho", "gate")])


@pytest.mark.parametrize("shape", ["packed", "lanes"])
def test_gradcheck_hop_with_context(shape):
    graph, x = graph_of(shape), inputs(shape, 1)

    def run(pi, beta, gate, features, query):
        return functions.hop(
            graph,
            pi,
            beta,
            gate=gate,
            eps=1e-2,
            segments=SEGMENTS[shape],
            features=features,
            query=query,
        )

    names = ("pi", "beta", "gate", "features", "query")
    assert torch.autograd.gradcheck(run, [x[name] for name in names])


@pytest.mark.parametrize("shape", ["packed", "lanes"])
@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("propagate", ("pi", "beta")),
        ("read", ("pi", "features")),
        ("content_score", ("features", "query")),
        ("entropy", ("pi",)),
    ],
)
def test_gradcheck_parts(shape, name, of):
    x, function = inputs(shape, 2), getattr(functions, name)
    first = [graph_of(shape)] if name == "propagate" else []

    def run(*tensors):
        return function(*first, *tensors, segments=SEGMENTS[shape])

    assert torch.autograd.gradcheck(run, [x[part] for part in of])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("reachable_only", [False, True])
@pytest.mark.parametrize("shape", ["packed", "lanes"])
def test_equals_plain_torch(shape, reachable_only, dtype):
    graph, segments = graph_of(shape, 3), SEGMENTS[shape]
    ours, theirs = (inputs(shape, 3, dtype) for _ in range(2))
    with torch.no_grad():
        for x in (ours, theirs):
            x["pi"][2:5] = 0  # nodes that send nothing
    flow, context = functions.hop(
        graph,
        ours["pi"],
        ours["beta"],
        gate=ours["gate"],
        segments=segments,
        reachable_only=reachable_only,
        features=ours["features"],
        query=ours["query"],
    )
    x = theirs
    rho = rsf_twin.content_score(x["features"], x["query"], segments)
    edges = rsf_twin.edges_of(graph, segments)
    expected = rsf_twin.hop(
        edges, x["pi"], x["beta"], rho, x["gate"], 1e-8, segments, reachable_only
    )
    expected_context = rsf_twin.read(expected, x["features"], segments)
    close = (
        {"rtol": 2e-5, "atol": 1e-6} if dtype == torch.float32 else {"rtol": 1e-9, "atol": 1e-12}
    )
    torch.testing.assert_close(flow, expected, **close)
    torch.testing.assert_close(context, expected_context, **close)
    (functions.entropy(flow, segments).sum() + context.square().sum()).backward()
    (rsf_twin.entropy(expected, segments).sum() + expected_context.square().sum()).backward()
    for name in ("pi", "beta", "gate", "features", "query"):
        grad, wanted = ours[name].grad, theirs[name].grad
        scale = float(wanted.abs().max())
        torch.testing.assert_close(
            grad, wanted, rtol=close["rtol"], atol=10 * close["atol"] * scale
        )


def test_half_precision_counts_as_float32():
    batch = packed()
    beta = torch.rand(batch.size, NUM_RELATIONS, dtype=torch.bfloat16, requires_grad=True)
    flow, _ = functions.hop(
        batch.graph, torch.from_numpy(batch.start), beta, segments=batch.segments
    )
    assert flow.dtype == torch.float32
    flow.square().sum().backward()
    assert beta.grad.dtype == torch.bfloat16
    wide = beta.detach().float()
    alike, _ = functions.hop(
        batch.graph, torch.from_numpy(batch.start), wide, segments=batch.segments
    )
    assert torch.equal(flow, alike)


@pytest.mark.parametrize("size", [-1e4, 1e4])
@pytest.mark.parametrize("reachable_only", [False, True])
def test_extreme_logits_have_finite_gradients(size, reachable_only):
    batch = packed()
    nodes = int(batch.segments[-1])
    pi = torch.from_numpy(batch.start).clone().requires_grad_()
    beta = torch.sigmoid(torch.full((batch.size, NUM_RELATIONS), size)).requires_grad_()
    rho = torch.linspace(-1, 1, nodes).mul(1e4).requires_grad_()
    gate = torch.ones(batch.size, requires_grad=True)
    flow, _ = functions.hop(
        batch.graph, pi, beta, rho, gate, segments=batch.segments, reachable_only=reachable_only
    )
    functions.entropy(flow, batch.segments).sum().backward()
    for x in (flow, pi.grad, beta.grad, rho.grad, gate.grad):
        assert torch.isfinite(x).all()


def test_a_dead_hop_passes_no_gradient():
    graph = FlowGraph([0], [0], [1], 2, 1)
    pi = torch.tensor([0.0, 1.0], requires_grad=True)  # node 1 leads nowhere
    beta = torch.ones(1, 1, requires_grad=True)
    segments = np.array([0, 2])
    flow, _ = functions.hop(graph, pi, beta, segments=segments, reachable_only=True)
    assert flow.tolist() == [0, 0]
    flow.sum().backward()
    assert pi.grad.tolist() == [0, 0]
    assert beta.grad.tolist() == [[0]]


def test_there_is_no_second_derivative():
    pi = torch.rand(3, requires_grad=True)
    (first,) = torch.autograd.grad(
        functions.entropy(pi, np.array([0, 3])).square().sum(), pi, create_graph=True
    )
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()
