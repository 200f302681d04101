"""Blockwise cosine of stored hypervectors: one query with 1000, and 64 queries with 1000.

The vectors are encoded paths, whose blocks are unitary; ours does not know that and computes every
norm, so that it stands beside both the general expression and the bare matrix product.
"""

from dataclasses import dataclass

import numpy as np

import baselines
from harness import Baseline, Case, installed
from hyperhop import ghrr


def cases(quick: bool, threads: int) -> list[Case]:
    inputs = _inputs(200 if quick else 1000)
    return [
        *(_one_query(inputs, layout, threads) for layout in ("complex64", "planes", "float16")),
        _many_queries(inputs, threads),
    ]


@dataclass
class _Inputs:
    """The same vectors in every layout. `rows` (N, D, 2 m^2) is the real view, block by block."""

    array: np.ndarray
    planes: np.ndarray
    rows: np.ndarray
    queries: np.ndarray  # like rows
    exact: np.ndarray  # (Q, N) in float64

    def ours(self, layout: str) -> np.ndarray:
        stored = self.array if layout == "complex64" else self.planes
        return stored.astype(np.float16) if layout == "float16" else stored


def _inputs(count: int) -> _Inputs:
    cb = ghrr.Codebook([f"r{i}" for i in range(200)])
    table = np.random.default_rng(0).integers(0, 200, (count, 3))
    array = ghrr.encode_paths(cb, table)
    planes = ghrr.encode_paths(cb, table, planes=True)
    rows = baselines.real_view(array).reshape(count, cb.blocks, -1)
    queries = rows[:64].copy()
    wide = rows.astype(np.float64)
    norms = np.sqrt(np.einsum("nbe,nbe->nb", wide, wide))
    unit = (wide / norms[:, :, None]).reshape(count, -1)
    return _Inputs(array, planes, rows, queries, unit[:64] @ unit.T / cb.blocks)


def _one_query(inputs, layout, threads):
    stored, rows, query = inputs.ours(layout), inputs.rows, inputs.queries[7]
    own = np.ascontiguousarray(stored[7])
    count, blocks, entries = rows.shape
    flat_rows, flat_query = rows.reshape(count, -1), query.reshape(-1)
    scale = np.float32(1 / (blocks * np.sqrt(entries / 2)))
    array, complex_query = inputs.array, inputs.array[7].copy()

    def ours():
        return ghrr.similarity(own, stored, threads=threads)

    def einsum():
        dots = np.einsum("nbe,be->nb", rows, query)
        norms = np.sqrt(np.einsum("nbe,nbe->nb", rows, rows))
        return (dots / (norms * np.sqrt(np.einsum("be,be->b", query, query)))).mean(axis=1)

    def vecdot():
        dots, norms = np.vecdot(rows, query), np.sqrt(np.vecdot(rows, rows))
        return (dots / (norms * np.sqrt(np.vecdot(query, query)))).mean(axis=1)

    def gemv():
        return flat_rows @ flat_query * scale

    def complex_expression():
        dots = (complex_query.conj() * array).sum(axis=(-1, -2)).real
        norms = np.sqrt((np.abs(array) ** 2).sum(axis=(-1, -2)))
        return (dots / (norms * np.sqrt((np.abs(complex_query) ** 2).sum((-1, -2))))).mean(axis=1)

    others = [
        Baseline("np.einsum, norms", einsum),
        *([Baseline("np.vecdot, norms", vecdot)] if hasattr(np, "vecdot") else []),
        Baseline("torch, norms", _torch_norms(rows, query, threads)),
        Baseline("GEMV, no norms", gemv),
        Baseline("complex expression", complex_expression, strawman=True),
    ]

    def check():
        error = 1e-4 if layout == "float16" else 1e-5  # what storing in float16 itself moves
        assert np.abs(ours() - inputs.exact[7]).max() < error
        for run in [other.run for other in others if other.run]:
            assert np.abs(np.asarray(run()) - inputs.exact[7]).max() < 1e-5

    return Case(
        "similarity",
        f"1 x {count:,}, {layout}",
        ours,
        others,
        check,
        flop=4.0 * rows.size,
        bytes=float(stored.nbytes),
    )


def _torch_norms(rows, query, threads):
    if not installed("torch"):
        return None
    import torch

    torch.set_num_threads(threads)
    stored, own = torch.from_numpy(rows), torch.from_numpy(query)

    def run():
        dots = torch.linalg.vecdot(stored, own)
        norms = torch.linalg.vector_norm(stored, dim=-1)
        return (dots / (norms * torch.linalg.vector_norm(own, dim=-1))).mean(dim=1)

    return run


def _many_queries(inputs, threads):
    count, blocks, entries = inputs.rows.shape
    planes, queries = inputs.planes, inputs.planes[:64].copy()
    flat_rows, flat_queries = inputs.rows.reshape(count, -1), inputs.queries.reshape(64, -1)
    scale = np.float32(1 / (blocks * np.sqrt(entries / 2)))

    def ours():
        return ghrr.pairwise(queries, planes, threads=threads)

    def gemm():
        return flat_queries @ flat_rows.T * scale

    others = [
        Baseline("GEMM, no norms", gemm),
        Baseline("torch.matmul, no norms", _torch_gemm(flat_rows, flat_queries, scale, threads)),
    ]

    def check():
        for run in [ours] + [other.run for other in others if other.run]:
            assert np.abs(np.asarray(run()) - inputs.exact).max() < 1e-5

    return Case(
        "similarity",
        f"64 x {count:,}, planes",
        ours,
        others,
        check,
        flop=2.0 * 64 * inputs.rows.size,
        bytes=float(planes.nbytes),
    )


def _torch_gemm(rows, queries, scale, threads):
    if not installed("torch"):
        return None
    import torch

    torch.set_num_threads(threads)
    stored, many = torch.from_numpy(rows), torch.from_numpy(queries)
    return lambda: torch.matmul(many, stored.T) * float(scale)
