"""Binding by the operators of `hyperhop.binders`, beside the libraries that have the same ones.

`bipolar`, `fhrr` and `hrr` are NumPy in ours too: what is compared is the way they are called. Only
`ghrr` is a kernel, here in the layout holovec uses; bench_bind holds it to np.matmul and torch.
"""

import numpy as np

from harness import Baseline, Case, installed
from hyperhop import binders, ghrr

TORCHHD = {"bipolar": "MAPTensor", "fhrr": "FHRRTensor", "hrr": "HRRTensor"}
HOLOVEC = {"bipolar": "MAPModel", "fhrr": "FHRRModel", "hrr": "HRRModel", "ghrr": "GHRRModel"}
D = 4096
BLOCKS, BLOCK_SIZE = 256, 4


def cases(quick: bool, threads: int) -> list[Case]:
    many = 32 if quick else 256
    return [_case(name, count, threads) for name in HOLOVEC for count in (1, many)]


def _case(name, count, threads):
    binder = binders.get(name, D, block_size=BLOCK_SIZE)
    if name == "ghrr":
        codes = ghrr.Codebook([f"r{i}" for i in range(2 * count)], BLOCKS, BLOCK_SIZE).array
    else:
        codes = binder.random([f"r{i}" for i in range(2 * count)])
    xs, ys = codes[:count], codes[count:]

    def ours():
        return ghrr.bind(xs, ys, threads=threads) if name == "ghrr" else binder.bind(xs, ys)

    others = [Baseline("holovec", _holovec(name, xs, ys))]
    if name in TORCHHD:
        others.append(Baseline("torchhd", _torchhd(name, xs, ys, threads)))

    def check():
        exact = _exact(name, xs, ys)
        for run in [ours] + [other.run for other in others if other.run]:
            assert np.abs(np.asarray(run()) - exact).max() < 1e-5

    numbers = count * D
    return Case(
        f"bind {name}",
        f"{count:,} pair{'s' * (count > 1)}, d {D:,}",
        ours,
        others,
        check,
        flop=numbers * {"bipolar": 1.0, "fhrr": 6.0, "hrr": 7.5 * np.log2(D), "ghrr": 32.0}[name],
        bytes=3.0 * codes[0].nbytes * count,
    )


def _exact(name, xs, ys):
    if name == "ghrr":
        return xs.astype(np.complex128) @ ys
    if name == "hrr":
        return np.fft.ifft(np.fft.fft(xs.astype(np.float64)) * np.fft.fft(ys)).real
    return xs.astype(np.complex128) * ys


def _holovec(name, xs, ys):
    if not installed("holovec"):
        return None
    from holovec import models
    from holovec.backends import get_backend

    size = {"matrix_size": BLOCK_SIZE, "dimension": BLOCKS} if name == "ghrr" else {"dimension": D}
    model = getattr(models, HOLOVEC[name])(backend=get_backend("numpy"), **size)
    return lambda: model.bind(xs, ys)


def _torchhd(name, xs, ys, threads):
    if not installed("torchhd"):
        return None
    import torch
    import torchhd

    torch.set_num_threads(threads)
    kind = getattr(torchhd, TORCHHD[name])
    left, right = (torch.from_numpy(part).as_subclass(kind) for part in (xs, ys))
    return lambda: left.bind(right)
