"""Scoring relation sequences against a query, without ever storing a path vector."""

import numpy as np

import baselines
import hyperhop as hh
from harness import Baseline, Case
from hyperhop import ghrr

TILE = 256  # of 4 to 1,024 none was faster for the NumPy tiles


def cases(quick: bool) -> list[Case]:
    count = 5_000 if quick else 100_000
    result = [_listed(count, 200, ragged=False), _listed(count, 200, ragged=True)]
    if not quick:
        result.append(_listed(count, 2000, ragged=False))
    result.append(_complete(100 if quick else 600))
    return result


def _listed(count: int, symbols: int, ragged: bool) -> Case:
    rng = np.random.default_rng(0)
    cb = ghrr.Codebook([f"r{i}" for i in range(symbols)])
    array = cb.array
    torch = baselines.Torch(array)
    numbers = rng.choice(symbols**3, count, replace=False)
    table = np.stack([numbers // symbols**2, numbers // symbols % symbols, numbers % symbols], 1)
    if ragged:
        table[: count // 4, 2] = -1
        table[: count // 10, 1] = -1
    paths = hh.Paths.from_padded(table)
    query = ghrr.encode_paths(cb, paths.take([count - 1]))[0]
    whole = table[table[:, 2] >= 0]
    sample = whole[:: max(1, len(whole) // 2000)]  # the slow baselines run on about 2,000 paths

    def ours():
        return ghrr.score_paths(cb, query, paths, threads=1)

    def check():
        exact = baselines.naive_tiles(array, query, whole[:500], TILE)
        scores = ours()[table[:, 2] >= 0][:500]
        assert np.abs(scores - exact).max() < 1e-5
        assert abs(ours()[-1] - 1) < 1e-5
        top, _ = ghrr.top_paths(cb, query, paths, 1)
        assert top[0] == count - 1

    lengths = paths.lengths
    prefixes = len(np.unique(table[lengths > 1][:, :2], axis=0))
    d = cb.blocks * cb.block_size**2
    firsts = len(np.unique(table[lengths > 1][:, 0]))
    share = len(sample) / count
    return Case(
        "score paths",
        f"{count:,} x L {'1-3' if ragged else '3'}, R {symbols:,}",
        ours,
        [
            Baseline(
                "numpy naive tiles",
                lambda: baselines.naive_tiles(array, query, sample, TILE),
                share,
            ),
            Baseline(
                "numpy shared prefixes",
                lambda: baselines.shared_prefixes(array, query, whole, 2048),
                len(whole) / count,
            ),
            Baseline(
                "torch tiles",
                (lambda: torch.score_tiles(query, sample, TILE)) if torch.here else None,
                share,
            ),
        ],
        check,
        flop=8.0 * (prefixes + firsts) * d * cb.block_size + 4.0 * count * d,
    )


def _complete(symbols: int) -> Case:
    """Every sequence of length 2: a dense matrix product is the strongest baseline."""
    cb = ghrr.Codebook([f"r{i}" for i in range(symbols)])
    array = cb.array
    grid = np.stack(np.meshgrid(np.arange(symbols), np.arange(symbols), indexing="ij"), -1)
    paths = hh.Paths.from_padded(grid.reshape(-1, 2))
    query = ghrr.encode_paths(cb, paths.take([7]))[0]
    rows = baselines.real_view(array)
    scale = np.float32(1 / (cb.blocks * cb.block_size))

    def gemm():
        prefixes = baselines.real_view(ghrr.unbind_left(array, query[None], threads=1))
        return baselines.prefix_gemm(rows, prefixes) * scale

    def ours():
        return ghrr.score_paths(cb, query, paths, threads=1)

    def check():
        assert np.abs(ours() - gemm().ravel()).max() < 1e-5
        assert ghrr.top_paths(cb, query, paths, 1)[0][0] == 7

    d = cb.blocks * cb.block_size**2
    return Case(
        "score paths",
        f"{symbols**2:,} complete L 2, R {symbols:,}",
        ours,
        [Baseline("prefix GEMM", gemm)],
        check,
        flop=8.0 * symbols * d * cb.block_size + 4.0 * symbols**2 * d,
    )
