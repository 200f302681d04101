"""The query hypervector: the best plan, or a bundle of the best ones (PathHD section 2.2, i)."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from hyperhop import ghrr
from hyperhop.pathhd.candidates import Candidates
from hyperhop.pathhd.planners.protocol import Plans

QueryKind = Literal["bundle", "best"]


def encode_query(
    codebook: ghrr.Codebook,
    candidates: Candidates,
    plans: Plans,
    kind: QueryKind = "bundle",
    count: int = 3,
    threads: int | None = None,
) -> npt.NDArray[np.float32]:
    """Query hypervector as planes, float32 (m, m, 2, D).

    ValueError without plans, for `count` < 1 or another `kind`.

    "best" encodes the first plan (eq. 3): it scores 1, every other sequence about 0, up to noise of
    standard deviation 1 / sqrt(2 d), so ranks after the first carry no meaning.
    "bundle" adds the first `count` plans with weights count, count - 1, ..., 1: plan j scores about
    w_j / |w|, which keeps the planner's order as long as a step, sqrt(3 / count^3), is well above
    that noise (about 10 plans at d = 4096). The planner's own weights are often closer than the
    noise; their order is not. With count = 1 both are the same. O(count * D m^3).
    """
    if kind not in ("bundle", "best"):
        raise ValueError(f"encode_query: kind must be bundle or best, got {kind!r}")
    if len(plans) == 0 or count < 1:
        raise ValueError(f"encode_query: needs a plan and count >= 1, got {len(plans)}, {count}")
    chosen = plans.sequences[: 1 if kind == "best" else count]
    vectors = ghrr.encode_paths(
        codebook, candidates.paths.take(chosen), planes=True, threads=threads
    )
    bundled: npt.NDArray[np.float32] = ghrr.bundle(
        vectors, np.arange(len(chosen), 0, -1, dtype=np.float32), threads=threads
    )
    return bundled
