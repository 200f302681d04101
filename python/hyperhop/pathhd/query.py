"""The query hypervector of plans: one of them, a bundle, or a mixture (PathHD section 2.2, i)."""

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from hyperhop import ghrr
from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners.protocol import Plans

QueryKind = Literal["bundle", "best", "weighted", "mixture", "text"]
Planes = npt.NDArray[np.float32]

# On dev of PathQuestion .02 to .2 differ by up to 6 points of hits@1: no value is best everywhere.
TEMPERATURE = 0.05


def check_query(function: str, kind: str, temperature: float) -> None:
    """ValueError for no QueryKind and for a temperature that is not above 0."""
    if kind not in get_args(QueryKind):
        expected = ", ".join(get_args(QueryKind))
        raise ValueError(f"{function}: query must be one of {expected}, got {kind!r}")
    if not temperature > 0:
        raise ValueError(f"{function}: temperature must be above 0, got {temperature}")


def encode_query(
    codebook: ghrr.Codebook,
    candidates: Candidates,
    plans: Plans,
    kind: QueryKind = "bundle",
    count: int = 3,
    temperature: float = TEMPERATURE,
    threads: int | None = None,
) -> Planes:
    """Query hypervector as planes, float32 (m, m, 2, D).

    ValueError without plans, for `count` < 1, another `kind` or a `temperature` not above 0.

    "best" encodes the first plan (eq. 3): it scores 1, every other sequence about 0, up to noise of
    standard deviation 1 / sqrt(2 d), so ranks after the first carry no meaning.
    "bundle" adds the first `count` plans with weights count, count - 1, ..., 1: plan j scores about
    w_j / |w|, which keeps the planner's order as long as a step, sqrt(3 / count^3), is well above
    that noise (about 10 plans at d = 4096). With count = 1 both are the same. O(count * D m^3).
    "weighted" adds the first `count` plans with weights exp((s_j - s_1) / temperature), s_j being
    the planner's weight. Plans that are closer than the noise keep no certain order; those far
    below the first are as good as left out.
    "mixture" takes these weights w for shares of relations. For each length among the first `count`
    plans, each hop is the sum of its relations by their share of w, and the hops are bound: hops
    count as independent, so that a sequence that crosses two plans ("a b" and "c d" give "a d")
    scores too. The lengths are added by their share of w. Its blocks are not unitary.
    O(count * length * D m^2).
    """
    check_query("encode_query", kind, temperature)
    chosen, weights = _chosen("encode_query", plans, kind, count, temperature)
    if kind == "mixture":
        return _mixture(codebook, candidates, chosen, weights / weights.sum(), threads)
    vectors = ghrr.encode_paths(
        codebook, candidates.paths.take(chosen), planes=True, threads=threads
    )
    bundled: Planes = ghrr.bundle(vectors, weights, threads=threads)
    return bundled


def score_query(
    codebook: ghrr.Codebook,
    candidates: Candidates,
    plans: Plans,
    kind: QueryKind = "bundle",
    count: int = 3,
    temperature: float = TEMPERATURE,
    threads: int | None = None,
) -> npt.NDArray[np.float64]:
    """Similarity of each candidate to the query hypervector of `encode_query`: float64 (N,)."""
    if kind == "mixture":
        query = encode_query(codebook, candidates, plans, kind, count, temperature, threads)
        similar = ghrr.score_paths(codebook, query, candidates.paths, threads=threads)
        return np.asarray(similar, np.float64)
    chosen, weights = _chosen("score_query", plans, kind, count, temperature)
    return ghrr.score_bundle(codebook, candidates.paths, chosen, weights, threads=threads)


def _chosen(
    function: str, plans: Plans, kind: QueryKind, count: int, temperature: float
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Candidates that make the query, and their weights in it."""
    if kind == "text":
        raise ValueError(f"{function}: text has no plan: see TextQuery")
    if len(plans) == 0 or count < 1:
        raise ValueError(f"{function}: needs a plan and count >= 1, got {len(plans)}, {count}")
    chosen = plans.sequences[: 1 if kind == "best" else count]
    if kind in ("best", "bundle"):
        return chosen, np.arange(len(chosen), 0, -1, dtype=np.float64)
    return chosen, np.exp((plans.weights[: len(chosen)] - plans.weights[0]) / temperature)


def _mixture(
    codebook: ghrr.Codebook,
    candidates: Candidates,
    chosen: npt.NDArray[np.int64],
    shares: npt.NDArray[np.float64],
    threads: int | None,
) -> Planes:
    """Sum over lengths of the product over hops of the relations of that hop, by their shares."""
    lengths = candidates.lengths[chosen]
    products = []
    for length in np.unique(lengths):
        same = lengths == length
        table, of_length = candidates.table[chosen[same], :length], shares[same]
        if not of_length.any():  # so far below the first that nothing is left of them
            continue
        product: Planes | None = None
        for hop in table.T:
            positions, places = np.unique(hop, return_inverse=True)
            weights = np.bincount(places, of_length / of_length.sum())
            relations = codebook.rows(candidates.symbols[positions])
            step = ghrr.bundle(relations, weights, threads=threads)
            product = step if product is None else ghrr.bind(product, step, threads=threads)
        assert product is not None  # no sequence is empty
        products.append(of_length.sum() * product)
    return np.asarray(np.sum(products, axis=0), np.float32)
