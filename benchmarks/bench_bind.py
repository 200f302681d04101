"""Binding arrays of hypervectors: in the caches and out of them, both layouts, many shapes."""

import numpy as np

import baselines
from harness import Baseline, Case, installed
from hyperhop import ghrr

# (D, m) around d = 4096 = 256 x 4 x 4, and from d = 512 to 8192.
SHAPES = [(1024, 2), (455, 3), (164, 5), (64, 8), (16, 16), (250, 4), (32, 4), (512, 4)]


def cases(quick: bool, threads: int) -> list[Case]:
    near, far = 4, 100 if quick else 1000
    return [
        *(_case(n, 256, 4, layout, threads) for n in (near, far) for layout in LAYOUTS),
        *(_unbind(name, near, threads) for name in ("unbind_left", "unbind_right")),
        *(
            _case(near, blocks, m, layout, threads)
            for blocks, m in (SHAPES[:2] if quick else SHAPES)
            for layout in LAYOUTS
        ),
    ]


LAYOUTS = ("complex64", "planes")


def _random(count, blocks, m):
    rng = np.random.default_rng(0)
    pair = rng.normal(size=(2, count, blocks, m, m)) + 1j * rng.normal(
        size=(2, count, blocks, m, m)
    )
    return ghrr.unitarize(pair.astype(np.complex64))


def _planes(array):
    parts = np.stack([array.real, array.imag], axis=-1)
    return np.ascontiguousarray(np.moveaxis(parts, -4, -1))


def _from_planes(planes):
    return np.moveaxis(planes[..., 0, :] + 1j * planes[..., 1, :], -1, -3)


def _case(count, blocks, m, layout, threads):
    x, y = _random(count, blocks, m)
    given = (x, y) if layout == "complex64" else (_planes(x), _planes(y))
    out = ghrr.bind(*given)
    product = np.empty_like(x)

    def ours():
        return ghrr.bind(*given, out=out, threads=threads)

    others = [
        Baseline("np.matmul, out=", lambda: np.matmul(x, y, out=product)),
        Baseline("torch.matmul, out=", _torch(x, y, threads)),
        Baseline("holovec", _holovec(x, y)),
    ]
    if m == 4:
        others.insert(1, Baseline("np.matmul", lambda: np.matmul(x, y)))

    def check():
        exact = x.astype(np.complex128) @ y
        answer = ours() if layout == "complex64" else _from_planes(ours())
        assert np.abs(answer - exact).max() < 1e-5
        for other in others:
            if other.run:
                assert np.abs(np.asarray(other.run()) - exact).max() < 1e-5

    return _finished("bind", f"{count:,} x D {blocks}, m {m}, {layout}", x, ours, others, check)


def _unbind(name, count, threads):
    """The baseline is handed the adjoint of the key, ready made."""
    x, y = _random(count, 256, 4)
    unbind = getattr(ghrr, name)
    out, product = np.empty_like(x), np.empty_like(x)
    if name == "unbind_left":
        left, right = baselines.adjoint(x), y
    else:
        left, right = x, baselines.adjoint(y)

    def ours():
        return unbind(x, y, out=out, threads=threads)

    others = [
        Baseline("np.matmul, adjoint given", lambda: np.matmul(left, right, out=product)),
        Baseline("torch.matmul, adjoint given", _torch(left, right, threads)),
    ]

    def check():
        exact = left.astype(np.complex128) @ right
        for run in [ours] + [other.run for other in others if other.run]:
            assert np.abs(np.asarray(run()) - exact).max() < 1e-5

    return _finished(name, f"{count:,} x D 256, m 4, complex64", x, ours, others, check)


def _finished(name, size, x, ours, others, check):
    flop = 8.0 * x.size * x.shape[-1]
    return Case(name, size, ours, others, check, flop=flop, bytes=3.0 * x.nbytes)


def _torch(x, y, threads):
    if not installed("torch"):
        return None
    import torch

    torch.set_num_threads(threads)
    left, right = torch.from_numpy(x), torch.from_numpy(y)
    out = torch.empty_like(left)
    return lambda: torch.matmul(left, right, out=out)


def _holovec(x, y):
    if not installed("holovec"):
        return None
    from holovec.backends import get_backend
    from holovec.models import GHRRModel

    model = GHRRModel(backend=get_backend("numpy"), dimension=x.shape[1], matrix_size=x.shape[-1])
    return lambda: model.bind(x, y)
