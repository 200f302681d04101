"""Encoding relation paths as hypervectors: N = 1000 stored paths."""

from dataclasses import dataclass

import numpy as np

import baselines
import hyperhop as hh
from harness import Baseline, Case
from hyperhop import ghrr


def cases(quick: bool) -> list[Case]:
    count = 200 if quick else 1000
    small, large = _random(count, 200), _random(count, 600)
    shared = large.table.copy()
    shared[:, :2] = shared[np.arange(count) % 20, :2]
    return [
        _case(small, small.table, "complex64", planes=False),
        _case(large, large.table, "complex64", planes=False),
        _case(large, large.table, "planes", planes=True),
        _case(large, shared, "complex64, 20 prefixes", planes=False),
    ]


@dataclass
class _Inputs:
    cb: ghrr.Codebook
    array: np.ndarray
    torch: baselines.Torch
    table: np.ndarray


def _random(count: int, symbols: int) -> _Inputs:
    cb = ghrr.Codebook([f"r{i}" for i in range(symbols)])
    array = cb.array
    table = np.random.default_rng(0).integers(0, symbols, (count, 3))
    return _Inputs(cb, array, baselines.Torch(array), table)


def _case(inputs, table, layout, planes):
    cb, array, torch = inputs.cb, inputs.array, inputs.torch
    count = len(table)
    paths = hh.Paths.from_padded(table)
    d = cb.blocks * cb.block_size**2

    def ours():
        return ghrr.encode_paths(cb, paths, planes=planes, threads=1)

    def check():
        exact = baselines.matmul_chain(array.astype(np.complex128), table[:20])
        result = ours()[:20]
        if planes:
            moved = np.moveaxis(result, -1, 1)
            result = moved[..., 0] + 1j * moved[..., 1]
        assert np.abs(result - exact).max() < 1e-5

    prefixes = len(np.unique(table[:, :2], axis=0))
    products = prefixes + count
    return Case(
        "encode",
        f"{count:,} x L 3, R {len(cb)}, {layout}",
        ours,
        [
            Baseline("np.matmul", lambda: baselines.matmul_chain(array, table)),
            Baseline("torch.bmm", (lambda: torch.bmm_chain(table)) if torch.here else None),
            Baseline("torch planes", (lambda: torch.planes_chain(table)) if torch.here else None),
        ],
        check,
        flop=8.0 * products * d * cb.block_size,
        bytes=8.0 * d * count,
    )
