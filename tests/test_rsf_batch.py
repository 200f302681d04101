import numpy as np
import pytest

from hyperhop.flow import FlowGraph
from hyperhop.rsf import FlowBatch


def line(num_nodes):
    """0 -> 1 -> 2 ..."""
    steps = np.arange(num_nodes - 1)
    return FlowGraph(steps, np.zeros_like(steps), steps + 1, num_nodes, 2)


def test_pack_counts_nodes_on():
    batch = FlowBatch.pack(
        [line(3), line(1), line(2)], [[0], [], [1, 0]], [[7, 8, 9], [7], [1, 2]], [[2], [], [1]]
    )
    assert batch.size == 3
    np.testing.assert_array_equal(batch.segments, [0, 3, 4, 6])
    np.testing.assert_array_equal(batch.start, np.float32([1, 0, 0, 0, 0.5, 0.5]))
    np.testing.assert_array_equal(batch.entities, [7, 8, 9, 7, 1, 2])
    np.testing.assert_array_equal(batch.targets, [2, 5])
    np.testing.assert_array_equal(batch.target_offsets, [0, 1, 1, 2])
    edges = {*zip(batch.graph.src.tolist(), batch.graph.dst.tolist(), strict=True)}
    assert edges == {(0, 1), (1, 2), (4, 5)}
    assert batch.graph.num_relations == 2


def test_lanes_share_the_graph():
    graph = line(3)
    batch = FlowBatch.lanes(graph, [[0], [1, 2]], targets=[[2, 1], []])
    assert batch.graph is graph
    assert batch.segments is None
    assert batch.size == 2
    np.testing.assert_array_equal(batch.start, np.float32([[1, 0], [0, 0.5], [0, 0.5]]))
    np.testing.assert_array_equal(batch.targets, [1, 2])
    np.testing.assert_array_equal(batch.target_offsets, [0, 2, 2])


def test_an_empty_graph_is_a_question_without_flow():
    batch = FlowBatch.pack([line(1), FlowGraph([], [], [], 0, 2)], [[0], []], targets=[[0], []])
    assert batch.size == 2
    np.testing.assert_array_equal(batch.segments, [0, 1, 1])


def test_targets_and_entities_may_be_unknown():
    batch = FlowBatch.pack([line(2)], [[0]])
    assert batch.entities is None
    assert batch.targets is None
    assert batch.target_offsets is None


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: FlowBatch.pack([], []), ValueError, "FlowBatch.pack: needs at least one graph"),
        (
            lambda: FlowBatch.pack([line(2)], [[0], [1]]),
            ValueError,
            "FlowBatch.pack: starts must have 1 entries, one a question, got 2",
        ),
        (
            lambda: FlowBatch.pack([line(2)], [[2]]),
            ValueError,
            r"FlowBatch.pack: starts\[0\] must hold nodes from 0 to 1, got 2",
        ),
        (
            lambda: FlowBatch.pack([line(2)], [[0]], targets=[[-1]]),
            ValueError,
            r"targets\[0\] must hold nodes from 0 to 1, got -1",
        ),
        (
            lambda: FlowBatch.pack([line(2)], [[0.5]]),
            TypeError,
            r"starts\[0\] must hold integers, got float64",
        ),
        (
            lambda: FlowBatch.pack([line(2)], [[0]], [[1, 2, 3]]),
            ValueError,
            r"entities\[0\] must have 2 entries, one a node, got 3",
        ),
        (
            lambda: FlowBatch.pack([line(2), FlowGraph([], [], [], 1, 3)], [[0], [0]]),
            ValueError,
            r"graphs must have one number of relations, got \[2, 3\]",
        ),
        (lambda: FlowBatch.lanes(line(2), []), ValueError, "needs at least one start"),
        (
            lambda: FlowBatch.lanes(line(2), [[0]], [0]),
            ValueError,
            r"FlowBatch.lanes: entities must have shape \(2,\), got \(1,\)",
        ),
        (
            lambda: FlowBatch.lanes(line(2), [[0]], targets=[[0], [1]]),
            ValueError,
            "FlowBatch.lanes: targets must have 1 entries",
        ),
    ],
)
def test_refusals(make, error, message):
    with pytest.raises(error, match=message):
        make()
