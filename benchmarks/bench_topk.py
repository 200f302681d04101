"""Top-k of a million scores, in the total order (score descending, then lower index)."""

import numpy as np

import hyperhop as hh
from harness import Baseline, Case, installed


def cases(quick: bool, threads: int) -> list[Case]:
    scores = np.random.default_rng(0).normal(size=100_000 if quick else 1_000_000)
    scores = scores.astype(np.float32)
    ascending = np.sort(scores)  # the worst order for a scan
    return [
        _case(scores, 3, "", threads),
        _case(scores, 100, "", threads),
        _case(scores, 1000, "", threads),
        _case(ascending, 100, ", ascending", threads),
    ]


def _case(scores, k, order, threads):
    def ours():
        return hh.topk(scores, k, threads=threads)

    def argmax_passes():
        """In place, so that no copy is paid for; the scores are put back."""
        best = []
        for _ in range(k):
            index = scores.argmax()
            best.append((index, scores[index]))
            scores[index] = -np.inf
        for index, score in best:
            scores[index] = score
        return [index for index, _ in best]

    def argpartition():
        found = np.argpartition(scores, len(scores) - k)[-k:]
        return found[np.lexsort((found, -scores[found]))]

    def argsort():
        return np.argsort(-scores, kind="stable")[:k]

    torch_topk = _torch(scores, k, threads)
    others = [
        Baseline("np.argpartition", argpartition),
        Baseline("torch.topk", torch_topk),
        Baseline("full np.argsort", argsort, strawman=True),
    ]
    if k <= 5:
        others.insert(0, Baseline(f"{k} x np.argmax", argmax_passes))

    def check():
        exact = _exact(scores, k)
        assert np.array_equal(ours()[0], exact)
        assert np.array_equal(ours()[1], scores[exact])
        for other in others:
            if other.run:  # no baseline promises an order of equal scores: compare the scores
                assert np.array_equal(scores[other.run()], scores[exact])
        tied = np.round(scores, 1)
        assert np.array_equal(hh.topk(tied, k, threads=threads)[0], _exact(tied, k))

    return Case(
        "top-k", f"N {len(scores):,}, k {k}{order}", ours, others, check, bytes=scores.nbytes
    )


def _exact(scores, k):
    """By the rule itself: score descending, then lower index."""
    return np.lexsort((np.arange(len(scores)), -scores.astype(np.float64)))[:k]


def _torch(scores, k, threads):
    if not installed("torch"):
        return None
    import torch

    torch.set_num_threads(threads)
    tensor = torch.from_numpy(scores)
    return lambda: torch.topk(tensor, k).indices.numpy()
