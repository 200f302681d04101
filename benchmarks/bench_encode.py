"""Encoding relation paths as hypervectors: N = 1000 stored paths."""

import numpy as np

import baselines
import hyperhop as hh
from harness import Baseline, Case
from hyperhop import ghrr


def cases(quick: bool) -> list[Case]:
    count, symbols = (200, 100) if quick else (1000, 600)
    rng = np.random.default_rng(0)
    cb = ghrr.Codebook([f"r{i}" for i in range(symbols)])
    array = cb.array
    torch = baselines.Torch(array)
    distinct = rng.integers(0, symbols, (count, 3))
    shared = np.stack([distinct[:20, 0][np.arange(count) % 20]] * 2 + [distinct[:, 2]], axis=1)
    return [
        _case(cb, array, torch, distinct, "complex64", planes=False),
        _case(cb, array, torch, distinct, "planes", planes=True),
        _case(cb, array, torch, shared, "complex64, 20 prefixes", planes=False),
    ]


def _case(cb, array, torch, table, layout, planes):
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
