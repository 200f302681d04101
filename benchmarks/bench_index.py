"""Searching stored paths: 64 queries over 20,000 paths, the ten best of each.

`python benchmarks/bench_index.py` prints instead what float16 and the approximate indexes of faiss
do to the ranking: recall, bytes and time.
"""

import time

import numpy as np

import hyperhop as hh
from harness import Baseline, Case, installed
from hyperhop import ghrr

QUERIES, K = 64, 10


def cases(quick: bool, threads: int) -> list[Case]:
    cb, paths, queries = _inputs(2_000 if quick else 20_000)
    rows = _rows(ghrr.encode_paths(cb, paths, planes=True), cb)
    flat = _rows(queries, cb)
    exact = np.concatenate(
        [flat.astype(np.float64) @ rows[i : i + 500].T for i in range(0, len(rows), 500)], axis=1
    )
    others = _baselines(rows, flat, threads)
    return [
        _case(ghrr.PathIndex(cb, paths, storage, threads=threads), queries, exact, others, threads)
        for storage in ("float32", "float16")
    ]


def _inputs(count):
    """Walks over 200 relations, where each relation is followed by few others, as in a graph."""
    rng = np.random.default_rng(0)
    cb = ghrr.Codebook([f"r{i}" for i in range(200)])
    after = rng.integers(0, 200, (200, 30))
    table = np.empty((3 * count, 3), np.int64)
    table[:, 0] = rng.integers(0, 200, 3 * count)
    for hop in (1, 2):
        table[:, hop] = after[table[:, hop - 1], rng.integers(0, 30, 3 * count)]
    table[rng.random(3 * count) < 0.2, 2] = -1
    table = np.unique(table, axis=0)
    paths = hh.Paths.from_padded(table[rng.permutation(len(table))[:count]])
    # A soft plan: three paths with falling weights.
    plans = rng.integers(0, count, (QUERIES, 3))
    queries = [
        ghrr.bundle(ghrr.encode_paths(cb, paths.take(plan), planes=True), [1, 0.6, 0.3])
        for plan in plans
    ]
    return cb, paths, np.stack(queries)


def _rows(planes, cb):
    """The real view of unit length, whose inner products are blockwise cosines."""
    scale = np.float32(1 / np.sqrt(cb.blocks * cb.block_size))
    return ghrr.normalize(planes).reshape(len(planes), -1) * scale


def _baselines(rows, queries, threads):
    def gemm():
        scores = queries @ rows.T
        found = np.argpartition(scores, scores.shape[1] - K, axis=1)[:, -K:]
        values = np.take_along_axis(scores, found, 1)
        order = np.lexsort((found, -values), axis=1)
        return np.take_along_axis(found, order, 1), np.take_along_axis(values, order, 1)

    return [
        Baseline("GEMM, np.argpartition", gemm),
        Baseline("torch.matmul, topk", _torch(rows, queries, threads)),
        Baseline("faiss IndexFlatIP", _faiss_flat(rows, queries, threads)),
    ]


def _torch(rows, queries, threads):
    if not installed("torch"):
        return None
    import torch

    torch.set_num_threads(threads)
    stored, many = torch.from_numpy(rows), torch.from_numpy(queries)

    def run():
        values, found = torch.topk(torch.matmul(many, stored.T), K)
        return found.numpy(), values.numpy()

    return run


def _faiss_flat(rows, queries, threads):
    if not installed("faiss"):
        return None
    import faiss

    faiss.omp_set_num_threads(threads)
    index = faiss.IndexFlatIP(rows.shape[1])
    index.add(rows)

    def run():
        values, found = index.search(queries, K)
        return found, values

    return run


def _case(index, queries, exact, others, threads):
    def ours():
        return index.search(queries, K, threads=threads)

    def check():
        best = -np.sort(-exact, axis=1)[:, :K]
        for run in [ours] + [other.run for other in others if other.run]:
            error = 1e-4 if run is ours and index.storage == "float16" else 1e-5
            found, values = run()
            assert np.abs(values - best).max() < error
            assert np.abs(np.take_along_axis(exact, found, 1) - best).max() < 2 * error

    d = queries[0].size
    return Case(
        "search",
        f"{QUERIES} x {len(index):,}, {index.storage}",
        ours,
        others,
        check,
        flop=2.0 * QUERIES * len(index) * d,
        bytes=float(index.nbytes),
    )


def recall(count: int = 5_000, threads: int = 1) -> None:
    """Prints what float16 and approximate indexes keep of the exact ranking."""
    cb, paths, queries = _inputs(count)
    best, scores = ghrr.PathIndex(cb, paths).search(queries, K)
    rows = [("float32", "exact"), ("float16", "exact")]
    if installed("faiss"):
        rows += [
            ("float32", f"faiss:{name}")
            for name in ("Flat", "SQfp16", "HNSW32", "PQ64x4", "PQ512x4")
        ]
    print(f"{count:,} paths, {QUERIES} queries that are bundles of three of them, {threads} thread")
    print("backend               build s  search ms/query      MB  top-1  top-10  largest change")
    for storage, backend in rows:
        start = time.perf_counter()
        index = ghrr.PathIndex(cb, paths, storage, backend, threads=threads)
        built = time.perf_counter()
        found, values = index.search(queries, K, threads=threads)
        searched = time.perf_counter()
        shared = [len(set(a) & set(b)) for a, b in zip(found.tolist(), best.tolist(), strict=True)]
        same = found == best
        name = backend if storage == "float32" else f"{backend}, {storage}"
        print(
            f"{name:20} {built - start:8.1f} {(searched - built) / QUERIES * 1e3:16.2f} "
            f"{index.nbytes / 1e6:7.1f} {np.mean(found[:, 0] == best[:, 0]):6.1%} "
            f"{np.mean(shared) / K:7.1%} {np.abs(values - scores)[same].max():15.1e}"
        )


if __name__ == "__main__":
    recall()
