"""Codebooks of 7,000 relations at d = 4096: random ones, and ones made from text embeddings."""

import numpy as np

import baselines
from harness import Baseline, Case, installed
from hyperhop import ghrr

BLOCKS, M, DIM = 256, 4, 256


def cases(quick: bool, threads: int) -> list[Case]:
    count = 500 if quick else 7000
    return [_haar(count, threads), *(_semantic(count, name, threads) for name in ("exp", "cayley"))]


def _haar(count, threads):
    names = [f"r{i}" for i in range(count)]
    some = max(count // 20, 50)

    def ours():
        return ghrr.Codebook(names, BLOCKS, M, threads=threads)

    others = [
        Baseline("np.linalg.qr, phase fix", lambda: _numpy_qr(some), share=some / count),
        Baseline("numpy Gram-Schmidt", lambda: _gram_schmidt(some), share=some / count),
        Baseline("torch.linalg.qr, phase fix", _torch_qr(some, threads), share=some / count),
    ]

    def check():
        array = ours().array[:some]
        for blocks in [array] + [np.asarray(other.run()) for other in others if other.run]:
            blocks = blocks.reshape(-1, M, M).astype(np.complex128)
            errors = np.abs(baselines.adjoint(blocks) @ blocks - np.eye(M)).max(axis=(1, 2))
            assert np.quantile(errors, 0.99) < 1e-5  # Gram-Schmidt loses some near-singular ones
            traces = np.trace(blocks, axis1=1, axis2=2)  # Haar: E|tr U|^2 = 1
            assert abs((np.abs(traces) ** 2).mean() - 1) < 0.1

    return Case(
        "codebook",
        f"{count:,} Haar, d {BLOCKS * M * M:,}",
        ours,
        others,
        check,
        bytes=8.0 * count * BLOCKS * M * M,
    )


def _gaussian(shape):
    rng = np.random.default_rng(0)
    z = np.empty((*shape, 2), np.float32)
    rng.standard_normal(out=z, dtype=np.float32)
    return z.view(np.complex64)[..., 0]


def _numpy_qr(count):
    q, r = np.linalg.qr(_gaussian((count, BLOCKS, M, M)))
    diagonal = np.diagonal(r, axis1=-2, axis2=-1)
    return q * (diagonal / np.abs(diagonal))[..., None, :]


def _gram_schmidt(count):
    """Column by column over long vectors of blocks, a hypervector's worth in the caches at once.

    Its R has a positive diagonal, so the phases need no fix.
    """
    result = np.empty((count, M, M, BLOCKS), np.complex64)
    for row in result:
        z = _gaussian((M, M, BLOCKS))
        for j in range(M):
            for k in range(j):
                z[j] -= (z[k].conj() * z[j]).sum(axis=0) * z[k]
            z[j] /= np.sqrt((z[j].real ** 2 + z[j].imag ** 2).sum(axis=0))
        row[:] = z
    return np.moveaxis(result, -1, 1)


def _torch_qr(count, threads):
    if not installed("torch"):
        return None
    import torch

    torch.set_num_threads(threads)

    def run():
        torch.manual_seed(0)
        q, r = torch.linalg.qr(torch.randn(count, BLOCKS, M, M, dtype=torch.complex64))
        diagonal = r.diagonal(dim1=-2, dim2=-1)
        return q * (diagonal / diagonal.abs()).unsqueeze(-2)

    return run


def _semantic(count, name, threads):
    rng = np.random.default_rng(1)
    embeddings = rng.standard_normal((count, DIM), dtype=np.float32)
    names = [f"r{i}" for i in range(count)]
    some = max(count // 100, 50)
    hermitian = _hermitian(rng, some)

    def ours():
        return ghrr.Codebook.from_embeddings(names, embeddings, map=name, threads=threads)

    # The baselines are given the Hermitian blocks.
    others = [Baseline("np.linalg.eigh", lambda: _by_eigh(hermitian, name), share=some / count)]
    if name == "cayley":
        others.append(Baseline("np.linalg.solve", lambda: _by_solve(hermitian), share=some / count))
    else:
        matrix_exp = _torch_exp(hermitian, threads)
        others.append(Baseline("torch.matrix_exp", matrix_exp, share=some / count))

    def check():
        array = ours().array[:some]
        for blocks in [array] + [np.asarray(other.run()) for other in others if other.run]:
            product = baselines.adjoint(blocks).astype(np.complex128) @ blocks
            assert np.abs(product - np.eye(M)).max() < 1e-4

    return Case(
        "codebook from embeddings",
        f"{count:,} x dim {DIM}, {name}",
        ours,
        others,
        check,
        flop=2.0 * count * DIM * BLOCKS * M * M,
        bytes=8.0 * count * BLOCKS * M * M,
    )


def _hermitian(rng, count):
    z = rng.normal(size=(2, count, BLOCKS, M, M))
    z = (z[0] + 1j * z[1]) / np.sqrt(M)
    return (z + z.conj().swapaxes(-1, -2)).astype(np.complex64)


def _by_eigh(hermitian, name):
    values, vectors = np.linalg.eigh(hermitian)
    phases = np.exp(1j * values) if name == "exp" else (1 + 1j * values) / (1 - 1j * values)
    scaled = vectors * phases.astype(np.complex64)[..., None, :]
    return scaled @ vectors.conj().swapaxes(-1, -2)


def _by_solve(hermitian):
    eye = np.eye(M, dtype=np.complex64)
    return np.linalg.solve(eye - 1j * hermitian, eye + 1j * hermitian)


def _torch_exp(hermitian, threads):
    if not installed("torch"):
        return None
    import torch

    torch.set_num_threads(threads)
    generator = torch.from_numpy(1j * hermitian)
    return lambda: torch.matrix_exp(generator)
