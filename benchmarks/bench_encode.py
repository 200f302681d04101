"""Encoding relation paths as hypervectors: N = 1000 stored paths."""

from dataclasses import dataclass

import numpy as np

import baselines
import hyperhop as hh
from harness import Baseline, Case
from hyperhop import ghrr


def cases(quick: bool, threads: int) -> list[Case]:
    count = 200 if quick else 1000
    small, large = _random(count, 200, threads), _random(count, 600, threads)
    shared = large.table.copy()
    shared[:, :2] = shared[np.arange(count) % 20, :2]
    return [
        _case(small, small.table, "complex64", threads),
        _case(large, large.table, "complex64", threads),
        _case(large, large.table, "planes", threads),
        _case(large, shared, "complex64, 20 prefixes", threads, shared=True),
    ]


@dataclass
class _Inputs:
    cb: ghrr.Codebook
    array: np.ndarray
    torch: baselines.Torch
    table: np.ndarray


def _random(count: int, symbols: int, threads: int) -> _Inputs:
    cb = ghrr.Codebook([f"r{i}" for i in range(symbols)])
    array = cb.array
    table = np.random.default_rng(0).integers(0, symbols, (count, 3))
    return _Inputs(cb, array, baselines.Torch(array, threads), table)


def _case(inputs, table, layout, threads, shared=False):
    cb, array, torch = inputs.cb, inputs.array, inputs.torch
    count, d, m = len(table), cb.blocks * cb.block_size**2, cb.block_size
    paths = hh.Paths.from_padded(table)
    planes = layout == "planes"
    tiles = baselines.MatmulTiles(array)

    def ours():
        return ghrr.encode_paths(cb, paths, planes=planes, threads=threads)

    others = [
        Baseline("np.matmul", lambda: baselines.matmul_chain(array, table)),
        Baseline("np.matmul tiles", lambda: tiles.encode(table)),
        Baseline("torch.bmm tiles", (lambda: torch.encode_bmm(table)) if torch.here else None),
        Baseline(
            "torch planes tiles", (lambda: torch.encode_planes(table)) if torch.here else None
        ),
    ]
    if shared:
        others.append(
            Baseline("np.matmul shared prefixes", lambda: baselines.matmul_prefixes(array, table))
        )

    def check():
        rows = np.arange(0, count, 13)
        exact = baselines.matmul_chain(array.astype(np.complex128), table[rows])
        for run in [ours] + [other.run for other in others if other.run]:
            answer = run()[rows]
            if answer.dtype == np.float32:  # planes
                answer = np.moveaxis(answer[..., 0, :] + 1j * answer[..., 1, :], -1, 1)
            assert np.abs(answer - exact).max() < 1e-5

    products = len(np.unique(table[:, :2], axis=0)) + count
    return Case(
        "encode",
        f"{count:,} x L 3, R {len(cb)}, {layout}",
        ours,
        others,
        check,
        flop=8.0 * products * d * m,
        bytes=8.0 * d * count,
    )
