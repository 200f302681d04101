"""Scoring relation sequences against a query, without ever storing a path vector."""

import numpy as np

import baselines
import hyperhop as hh
from harness import Baseline, Case
from hyperhop import ghrr


def cases(quick: bool, threads: int) -> list[Case]:
    count = 5_000 if quick else 100_000
    result = [
        _listed(count, 200, threads, ragged=False),
        _listed(count, 200, threads, ragged=True),
    ]
    if not quick:
        result.append(_listed(count, 2000, threads, ragged=False))
    result.append(_complete(100 if quick else 600, threads))
    return result


def _distinct(rng, count: int, symbols: int, length: int) -> list[list[int]]:
    numbers = rng.choice(symbols**length, count, replace=False)
    return np.stack(np.unravel_index(numbers, (symbols,) * length), 1).tolist()


def _listed(count: int, symbols: int, threads: int, ragged: bool) -> Case:
    rng = np.random.default_rng(0)
    cb = ghrr.Codebook([f"r{i}" for i in range(symbols)])
    array = cb.array
    adjoints, torch = baselines.adjoint(array), baselines.Torch(array, threads)
    tiles = baselines.MatmulTiles(array)
    counts = {1: symbols, 2: count // 4 - symbols} if ragged else {}
    counts[3] = count - sum(counts.values())
    lists = [path for length, n in counts.items() for path in _distinct(rng, n, symbols, length)]
    paths = hh.Paths.from_lists([lists[i] for i in rng.permutation(count)])
    query = ghrr.encode_paths(cb, paths.take([7]))[0]

    # The slow baselines run on a part: any of the paths for those that treat each alone, a run of
    # neighbours in sorted order for the one that shares prefixes, so that it shares as many.
    some = np.arange(0, count, max(1, count // 1000))
    near = np.array(sorted(range(count), key=lambda i: paths[i].tolist()))[: count // 10]
    every = np.arange(count)
    some_groups, near_groups = (baselines.by_length(paths.take(part)) for part in (some, near))

    def ours():
        return ghrr.score_paths(cb, query, paths, threads=threads)

    listed = [
        (Baseline("numpy naive tiles", lambda: tiles.scores(query, some_groups)), some),
        (
            Baseline(
                "numpy shared prefixes",
                lambda: baselines.shared_prefixes(array, adjoints, query, near_groups),
            ),
            near,
        ),
        (
            Baseline(
                "torch tiles", (lambda: torch.scores(query, some_groups)) if torch.here else None
            ),
            some,
        ),
    ]
    for baseline, part in listed:
        baseline.share = len(part) / count

    def check():
        exact = _exact_scores(array, query, paths, some)
        for run, part in [(ours, every)] + [(b.run, part) for b, part in listed if b.run]:
            scores = np.full(count, np.nan)
            scores[part] = run()
            both = np.isin(some, part)
            assert both.any()
            assert np.abs(scores[some] - exact)[both].max() < 1e-5
        top, _ = ghrr.top_paths(cb, query, paths, 1, threads=threads)
        assert top[0] == 7

    d, m = cb.blocks * cb.block_size**2, cb.block_size
    inner = {tuple(path[:k]) for path in lists for k in range(1, len(path))}
    return Case(
        "score paths",
        f"{count:,} x L {'1-3' if ragged else '3'}, R {symbols:,}",
        ours,
        [baseline for baseline, _ in listed],
        check,
        flop=8.0 * len(inner) * d * m + 4.0 * count * d,
    )


def _exact_scores(array, query, paths, rows) -> np.ndarray:
    """Blockwise cosine of unitary blocks in float64: the real dot product divided by D m."""
    scores = np.empty(len(rows))
    flat = baselines.real_view(query[None].astype(np.complex128))[0]
    for where, table in baselines.by_length(paths.take(rows)):
        used, table = np.unique(table, return_inverse=True)
        symbols = array[used].astype(np.complex128)
        for row, path in zip(where, table.reshape(len(where), -1), strict=True):
            encoded = baselines.matmul_chain(symbols, path[None])
            scores[row] = (baselines.real_view(encoded) @ flat)[0]
    return scores / (query.shape[0] * query.shape[1])


def _complete(symbols: int, threads: int) -> Case:
    """Every sequence of length 2: a dense matrix product is the strongest baseline."""
    cb = ghrr.Codebook([f"r{i}" for i in range(symbols)])
    array = cb.array
    adjoints = baselines.adjoint(array)
    grid = np.stack(np.meshgrid(np.arange(symbols), np.arange(symbols), indexing="ij"), -1)
    paths = hh.Paths.from_padded(grid.reshape(-1, 2))
    query = ghrr.encode_paths(cb, paths.take([7]))[0]
    rows = baselines.real_view(array)
    scale = np.float32(1 / (cb.blocks * cb.block_size))
    prepared = baselines.real_view(adjoints @ query) * scale

    def gemm_alone():
        return prepared @ rows.T

    def gemm():
        return baselines.real_view(adjoints @ query) @ rows.T * scale

    def ours():
        return ghrr.score_paths(cb, query, paths, threads=threads)

    def check():
        some = np.arange(0, len(paths), len(paths) // 500)
        exact = _exact_scores(array, query, paths, some)
        for run in (ours, gemm, gemm_alone):
            assert np.abs(run().reshape(-1)[some] - exact).max() < 1e-5
        assert ghrr.top_paths(cb, query, paths, 1, threads=threads)[0][0] == 7

    d = cb.blocks * cb.block_size**2
    return Case(
        "score paths",
        f"{symbols**2:,} complete L 2, R {symbols:,}",
        ours,
        [
            Baseline("numpy prefixes, GEMM", gemm),
            Baseline("GEMM, prefixes given", gemm_alone),
        ],
        check,
        flop=8.0 * symbols * d * cb.block_size + 4.0 * symbols**2 * d,
    )
