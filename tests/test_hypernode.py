"""HyperNodes against plain Python sets and float64 sums."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference_hypernode as reference
from hyperhop.hypernode import TripleIndex, beam_step, expand, score


@st.composite
def beams(draw):
    """A multigraph with self loops, repeated edges and links, and a beam of ragged HyperNodes."""
    entities = draw(st.integers(1, 8))
    triples = draw(st.integers(0, 14))
    ends = st.lists(st.integers(0, entities - 1), min_size=triples, max_size=triples)
    head, tail = np.array(draw(ends), np.int64), np.array(draw(ends), np.int64)
    order = draw(st.none() | st.permutations(range(triples)))
    pair = st.tuples(st.integers(0, entities - 1), st.integers(0, entities - 1))
    links = draw(st.lists(pair, max_size=3))
    width = draw(st.integers(0, min(3, triples)))
    ids = (
        st.lists(st.integers(0, triples - 1), max_size=width, unique=True) if width else st.just([])
    )
    rows = [row + [-1] * (width - len(row)) for row in draw(st.lists(ids, max_size=6))]
    index = TripleIndex(head, tail, entities, order, np.array(links, np.int64).reshape(-1, 2))
    return index, np.array(rows, np.int64).reshape(len(rows), width), order, links


def unpadded(rows):
    """Rows as tuples, asserting that only the end of a row is padded."""
    for row in rows:
        padding = np.flatnonzero(row == -1)
        assert np.array_equal(padding, np.arange(len(row) - len(padding), len(row)))
    return [tuple(int(t) for t in row if t >= 0) for row in rows]


def expected_sets(beam, keep_parents):
    index, rows, order, links = beam
    return reference.expand(index.head, index.tail, rows, keep_parents, order, links)


def random_graph(rng, entities, triples, dim, dtype=np.float32):
    """Triples among few entities, and unit embeddings."""
    head, tail = rng.integers(0, entities, (2, triples))
    embeddings = rng.normal(size=(triples, dim))
    embeddings /= np.linalg.norm(embeddings, axis=1, keepdims=True)
    return TripleIndex(head, tail, entities, rng.permutation(triples)), embeddings.astype(dtype)


def single_triples(ids):
    return np.asarray(ids, np.int64)[:, None]


@given(beams(), st.booleans())
def test_expand_equals_python_sets(beam, keep_parents):
    index, rows, _, _ = beam
    candidates = expand(index, rows, keep_parents)
    assert candidates.shape[1] == rows.shape[1] + 1
    assert unpadded(candidates) == expected_sets(beam, keep_parents)


@given(beams(), st.booleans(), st.integers(0, 20), st.integers(1, 40), st.integers(0, 5))
def test_beam_step_is_the_best_of_expand_by_score(beam, keep_parents, k, dim, seed):
    index, rows, _, _ = beam
    rng = np.random.default_rng(seed)
    # Few distinct values: ties, zero rows and rows that cancel are common.
    embeddings = rng.integers(-1, 2, (index.num_triples, dim)).astype(np.float32)
    if seed == 5 and index.num_triples:
        embeddings[0] = np.nan
    query = rng.integers(-1, 2, dim).astype(np.float32)
    candidates = expand(index, rows, keep_parents)
    cosines = score(index, candidates, embeddings, query)
    best = sorted(range(len(cosines)), key=lambda i: (np.isnan(cosines[i]), -cosines[i], i))[:k]
    chosen, values = beam_step(index, rows, embeddings, query, k, keep_parents=keep_parents)
    assert np.array_equal(chosen, candidates[best])
    assert np.array_equal(values, cosines[best], equal_nan=True)
    exact = reference.score(candidates, embeddings, query)
    assert np.allclose(cosines, exact, rtol=0, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("dim", [1, 3, 15, 16, 17, 64, 100, 384, 1024])
def test_scores_on_every_isa(isa, dim, dtype):
    rng = np.random.default_rng(dim)
    index, embeddings = random_graph(rng, 30, 300, dim, dtype)
    query = rng.normal(size=dim).astype(np.float32)
    rows = np.array([rng.permutation(300)[:4] for _ in range(200)])
    rows[::3, 2:] = -1
    rows[::7] = -1
    exact = reference.score(rows, embeddings, query)
    assert np.abs(score(index, rows, embeddings, query) - exact).max() < 1e-6
    beam = rng.permutation(300)[:10].reshape(5, 2)
    candidates, cosines = beam_step(index, beam, embeddings, query, 1000)
    assert np.array_equal(
        np.sort(candidates), np.sort(sorted_like(candidates, expand(index, beam)))
    )
    assert np.array_equal(cosines, score(index, candidates, embeddings, query))


def sorted_like(chosen, candidates):
    """`candidates` in the order of `chosen`, which must hold the same rows."""
    place = {tuple(row): i for i, row in enumerate(candidates)}
    assert len(place) == len(candidates) == len(chosen)
    return candidates[[place[tuple(row)] for row in chosen]]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_threads_and_batches_do_not_change_bits(dtype):
    rng = np.random.default_rng(0)
    index, embeddings = random_graph(rng, 40, 20_000, 100, dtype)
    beam = rng.permutation(20_000)[:60].reshape(20, 3)
    queries = rng.normal(size=(4, 100)).astype(np.float32)
    offsets = np.array([0, 7, 7, 8, 20])
    together = [
        beam_step(index, beam, embeddings, queries, 50, offsets, threads=t) for t in (1, 2, 3)
    ]
    for other in together[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(together[0], other, strict=True))
    rows, cosines, starts = together[0]
    candidates, candidate_starts = expand(index, beam, offsets=offsets)
    for q in range(4):
        own = beam[offsets[q] : offsets[q + 1]]
        for threads in (1, 2, 3):
            alone = beam_step(index, own, embeddings, queries[q], 50, threads=threads)
            assert np.array_equal(rows[starts[q] : starts[q + 1]], alone[0])
            assert np.array_equal(cosines[starts[q] : starts[q + 1]], alone[1])
        mine = candidates[candidate_starts[q] : candidate_starts[q + 1]]
        assert np.array_equal(mine, expand(index, own))
        scores = score(index, candidates, embeddings, queries, candidate_starts, threads=2)
        assert np.array_equal(
            scores[candidate_starts[q] : candidate_starts[q + 1]],
            score(index, mine, embeddings, queries[q], threads=1),
        )


def test_a_set_scores_alike_from_each_of_its_parents(isa):
    rng = np.random.default_rng(3)
    index, embeddings = random_graph(rng, 1, 4, 384)
    query = rng.normal(size=384).astype(np.float32)
    whole = {
        float(beam_step(index, [row], embeddings, query, 1)[1][0])
        for row in ([0, 1, 2], [3, 1, 0], [2, 3, 0], [1, 2, 3])
    }
    assert whole == {float(score(index, [[3, 2, 1, 0]], embeddings, query)[0])}


@pytest.mark.parametrize("scale", [1e-25, 1e-12, 1.0, 1e12, 1e25])
def test_sizes_and_cancelling_rows(isa, scale):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(5, 48))
    rows[1] = -rows[0] + 1e-4 * rng.normal(size=48)  # the sum is a ten-thousandth of either
    rows[3] = -rows[2]
    embeddings = (rows * scale).astype(np.float32)
    embeddings[4] = 0
    index = TripleIndex([0] * 5, [0] * 5, 1)
    query = (rng.normal(size=48) * scale).astype(np.float32)
    hypernodes = [[0, 1], [2, 3], [0, 4], [4, -1], [-1, -1]]
    scores = score(index, hypernodes, embeddings, query)
    assert np.allclose(scores, reference.score(hypernodes, embeddings, query), rtol=0, atol=1e-6)
    assert scores[1] == scores[3] == scores[4] == 0


def test_a_nan_surfaces_and_never_beats_a_number():
    embeddings = np.eye(4, dtype=np.float32)
    embeddings[1] = np.nan
    index = TripleIndex([0, 0, 0, 1], [0, 0, 1, 1], 2)
    rows, cosines = beam_step(index, [[0]], embeddings, np.array([1, 0, -9, 0], np.float32), 5)
    assert rows.tolist() == [[0, 2], [0, 1]]
    assert np.isnan(cosines[1])
    assert cosines[0] < 0
    nan_query = np.full(4, np.nan, np.float32)
    rows, cosines = beam_step(index, [[0]], embeddings, nan_query, 5)
    assert rows.tolist() == [[0, 1], [0, 2]]
    assert np.isnan(cosines).all()
    assert np.isnan(score(index, [[0]], embeddings, nan_query)).all()
    assert beam_step(index, [[0]], embeddings, np.zeros(4, np.float32), 1)[1].tolist() == [0]


def test_identical_rows_are_clamped_at_one():
    rng = np.random.default_rng(2)
    embeddings = np.repeat(rng.normal(size=(1, 384)), 6, axis=0).astype(np.float32)
    index = TripleIndex([0] * 6, [0] * 6, 1)
    cosines = score(index, [[0, 1, 2, 3, 4, 5]], embeddings, embeddings[0])
    assert cosines.tolist() == [1.0]


def test_ties_follow_the_order_not_the_id():
    embeddings = np.ones((5, 8), np.float32)
    index = TripleIndex([0] * 5, [0] * 5, 1, order=[4, 3, 2, 1, 0])
    rows, _ = beam_step(index, [[4], [2]], embeddings, embeddings[0], 3)
    assert rows.tolist() == [[4, 3], [4, 2], [4, 1]]
    assert np.array_equal(rows, expand(index, [[2], [4]])[:3])
    for k in range(5):
        best = beam_step(index, [[4], [2]], embeddings, embeddings[0], k)[0]
        assert np.array_equal(best, expand(index, [[2], [4]])[:k])


def test_links_join_but_do_not_chain():
    index = TripleIndex([0, 1, 2, 3], [0, 1, 2, 3], 4, links=[[0, 1], [2, 1], [3, 3]])
    assert expand(index, [[0]]).tolist() == [[0, 1]]
    assert expand(index, [[1]]).tolist() == [[0, 1], [1, 2]]
    assert expand(index, [[3]]).tolist() == [[3, -1]]


def test_a_hub_needs_no_memory_of_its_own():
    hub, dim = 200_000, 16
    head = np.zeros(hub, np.int64)
    index = TripleIndex(head, np.arange(1, hub + 1), hub + 1)
    rng = np.random.default_rng(0)
    embeddings = rng.normal(size=(hub, dim)).astype(np.float32)
    query = rng.normal(size=dim).astype(np.float32)
    beam = single_triples(np.arange(0, hub, hub // 100))
    rows, cosines = beam_step(index, beam, embeddings, query, 100)  # of twenty million candidates
    exact = reference.score(rows, embeddings, query)
    assert np.allclose(cosines, exact, rtol=0, atol=1e-6)
    # The best pair holds a beam's triple: compare with all pairs of it.
    one = beam[:1]
    alone, best = beam_step(index, one, embeddings, query, 100)
    sums = embeddings[one[0, 0]] + np.delete(embeddings, one[0, 0], axis=0)
    all_cosines = sums @ query / np.linalg.norm(sums, axis=1) / np.linalg.norm(query)
    assert np.allclose(best, np.sort(all_cosines)[::-1][:100], rtol=0, atol=1e-5)
    assert len({tuple(row) for row in alone}) == 100


def test_empty_graphs_beams_and_queries():
    empty = TripleIndex([], [], 0)
    assert expand(empty, np.empty((0, 1), int)).shape == (0, 2)
    embeddings = np.empty((0, 3), np.float32)
    rows, cosines = beam_step(empty, np.empty((0, 2), int), embeddings, np.ones(3, np.float32), 4)
    assert rows.shape == (0, 3)
    assert cosines.shape == (0,)
    rows, starts = expand(empty, np.empty((0, 1), int), offsets=[0])
    assert rows.shape == (0, 2)
    assert starts.tolist() == [0]
    rows, cosines, starts = beam_step(
        empty, np.empty((0, 1), int), embeddings, np.empty((0, 3), np.float32), 4, [0]
    )
    assert rows.shape == (0, 2)
    assert starts.tolist() == [0]
    assert expand(empty, [[], []]).tolist() == [[-1]]  # the empty HyperNode survives
    index = TripleIndex([0, 1], [0, 1], 3)
    one = beam_step(index, [[0], [1]], np.ones((2, 0), np.float32), np.empty(0, np.float32), 9)
    assert one[0].tolist() == [[0, -1], [1, -1]]
    assert one[1].tolist() == [0, 0]


def test_any_strides_and_widths_are_accepted():
    rng = np.random.default_rng(4)
    index, embeddings = random_graph(rng, 5, 40, 24)
    beam, query = np.array([[3, 7], [9, 1]]), rng.normal(size=24)
    usual = beam_step(index, beam, embeddings, query.astype(np.float32), 9)
    strided = np.asfortranarray(embeddings)
    other = beam_step(index, np.asfortranarray(beam.astype(np.int16)), strided, query[None], 9)
    assert all(np.array_equal(a, b) for a, b in zip(usual, other, strict=True))
    out = np.empty(18, np.float32)[::2]
    assert score(index, usual[0], embeddings, query, out=out) is out
    assert np.array_equal(out, usual[1])


@pytest.mark.needs("torch")
def test_tensors_come_back_as_tensors():
    import torch

    index = TripleIndex(torch.tensor([0, 1]), torch.tensor([1, 2]), 3)
    rows = expand(index, torch.tensor([[0]]))
    assert isinstance(rows, torch.Tensor)
    assert rows.tolist() == [[0, 1]]
    rows, cosines = beam_step(index, rows, torch.eye(2), torch.ones(2), 3)
    assert isinstance(rows, torch.Tensor)
    assert cosines.tolist() == [1.0]


def test_an_index_is_immutable_and_travels():
    index = TripleIndex([0, 1], [1, 0], 2, [1, 0], [[0, 1]])
    assert (index.num_triples, index.num_entities) == (2, 2)
    with pytest.raises(ValueError, match="read-only"):
        index.head[0] = 1
    copy = pickle.loads(pickle.dumps(index))
    assert np.array_equal(expand(copy, [[0]]), expand(index, [[0]]))
    assert repr(copy) == "TripleIndex(2 triples, 2 entities)"


INDEX = TripleIndex([0, 1, 2], [1, 2, 2], 3)
ROWS = np.eye(3, dtype=np.float32)
QUERY = np.ones(3, np.float32)


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (ValueError, "head must lie in 0..1, got 2", lambda: TripleIndex([2], [0], 2)),
        (ValueError, "tail must lie in 0..1, got -1", lambda: TripleIndex([1], [-1], 2)),
        (ValueError, "links must lie in 0..1, got 5",
         lambda: TripleIndex([], [], 2, None, [[0, 5]])),
        (ValueError, "order must hold each of 0..1 once",
         lambda: TripleIndex([0, 0], [0, 0], 1, [1, 1])),
        (ValueError, r"order must have shape \(1,\)", lambda: TripleIndex([0], [0], 1, [0, 1])),
        (ValueError, "of one length", lambda: TripleIndex([0], [0, 0], 1)),
        (ValueError, r"links must have shape \(L, 2\)",
         lambda: TripleIndex([], [], 1, None, [0, 0])),
        (ValueError, "num_entities must be 0 to", lambda: TripleIndex([], [], -1)),
        (TypeError, "num_entities must be an int", lambda: TripleIndex([], [], 1.0)),
        (TypeError, "head must be an array of integers", lambda: TripleIndex([0.5], [0], 1)),
        (TypeError, "index must be a TripleIndex", lambda: expand(None, [[0]])),
        (TypeError, "hypernodes must be an array of integers", lambda: expand(INDEX, [[0.0]])),
        (ValueError, r"hypernodes must have shape \(B, n\)", lambda: expand(INDEX, [0])),
        (ValueError, "got 3 in row 1", lambda: expand(INDEX, [[0], [3]])),
        (ValueError, "got -2 in row 0", lambda: expand(INDEX, [[-2]])),
        (ValueError, "padded with -1 at the end, got 1", lambda: expand(INDEX, [[-1, 1]])),
        (ValueError, "distinct ids of 3 triples", lambda: expand(INDEX, [[1, 1]])),
        (ValueError, "offsets must ascend from 0", lambda: expand(INDEX, [[1]], offsets=[0, 2])),
        (ValueError, "offsets must ascend", lambda: expand(INDEX, [[1]], offsets=[0, 2, 0, 1])),
        (ValueError, r"offsets must have shape", lambda: expand(INDEX, [[1]], offsets=[[0, 1]])),
        (TypeError, "offsets must be an array of",
         lambda: expand(INDEX, [[1]], offsets=[0.0, 1.0])),
        (ValueError, "k must be", lambda: beam_step(INDEX, [[0]], ROWS, QUERY, -1)),
        (TypeError, "triple_embeddings must be float32 or float16, got float64",
         lambda: beam_step(INDEX, [[0]], ROWS.astype(float), QUERY, 1)),
        (ValueError, r"triple_embeddings must have shape \(3, d\)",
         lambda: beam_step(INDEX, [[0]], ROWS[:2], QUERY, 1)),
        (ValueError, r"queries must have shape \(1, 3\)",
         lambda: beam_step(INDEX, [[0]], ROWS, QUERY[:2], 1)),
        (ValueError, r"queries must have shape \(2, 3\)",
         lambda: score(INDEX, [[0]], ROWS, QUERY, [0, 1, 1])),
        (TypeError, "queries must be float32", lambda: score(INDEX, [[0]], ROWS, [1, 2, 3])),
        (ValueError, "threads must be at least 1", lambda: expand(INDEX, [[0]], threads=0)),
        (ValueError, "out must be writeable with shape",
         lambda: score(INDEX, [[0]], ROWS, QUERY, out=np.empty(2, np.float32))),
    ],
)  # fmt: skip
def test_bad_input_is_refused_by_name(error, message, call):
    with pytest.raises(error, match=message):
        call()
