"""Top-k of a million scores, in the total order (score descending, then lower index)."""

import numpy as np

import hyperhop as hh
from harness import Baseline, Case, installed


def cases(quick: bool) -> list[Case]:
    scores = np.random.default_rng(0).normal(size=100_000 if quick else 1_000_000)
    scores = scores.astype(np.float32)
    return [_case(scores, 3), _case(scores, 100)]


def _case(scores, k):
    def ours():
        return hh.topk(scores, k, threads=1)

    def check():
        exact = np.lexsort((np.arange(len(scores)), -scores.astype(np.float64)))[:k]
        assert np.array_equal(ours()[0], exact)

    def argmax_passes():
        rest = scores.copy()
        best = []
        for _ in range(k):
            best.append(rest.argmax())
            rest[best[-1]] = -np.inf
        return best

    def argpartition():
        found = np.argpartition(scores, len(scores) - k)[-k:]
        return found[np.lexsort((found, -scores[found]))]

    baselines = [
        Baseline("np.argpartition", argpartition),
        Baseline("torch.topk", _torch(scores, k)),
        Baseline("full np.argsort", lambda: np.argsort(-scores, kind="stable")[:k], strawman=True),
    ]
    if k <= 5:
        baselines.insert(0, Baseline(f"{k} x np.argmax", argmax_passes))
    return Case("top-k", f"N {len(scores):,}, k {k}", ours, baselines, check, bytes=scores.nbytes)


def _torch(scores, k):
    if not installed("torch"):
        return None
    import torch

    torch.set_num_threads(1)
    tensor = torch.from_numpy(scores)
    return lambda: torch.topk(tensor, k)
