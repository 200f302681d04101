"""Operators by name, at a size counted in numbers or in real degrees of freedom."""

from math import ceil
from typing import get_args

from hyperhop.binders.blocks import GHRR
from hyperhop.binders.elementwise import FHRR, Bipolar, Mix, Real
from hyperhop.binders.hrr import HRR
from hyperhop.binders.protocol import Binder
from hyperhop.ghrr import Family

_FLAT = {kind.name: kind for kind in (Bipolar, Real, Mix, FHRR, HRR)}
NAMES = (*_FLAT, "ghrr")


def get(
    name: str,
    d: int | None = None,
    *,
    real_dof: int | None = None,
    block_size: int = 4,
    family: Family = "haar",
) -> Binder:
    """The operator `name` (one of `NAMES`) at a size.

    Args:
        name: which.
        d: numbers in a hypervector; for "ghrr" a multiple of block_size^2.
        real_dof: instead of d: the largest size of at most that many real degrees of freedom.
        block_size: m of "ghrr", 1 to 16.
        family: blocks of "ghrr", as for `ghrr.Codebook`.

    Raises:
        ValueError: for an unknown name or family, a size that does not fit, or not exactly one of
            d and real_dof.
    """
    if name not in NAMES:
        raise ValueError(f"get: name must be one of {', '.join(NAMES)}, got {name!r}")
    if family not in get_args(Family):
        raise ValueError(
            f"get: family must be one of {', '.join(get_args(Family))}, got {family!r}"
        )
    if not 1 <= block_size <= 16:
        raise ValueError(f"get: block_size must be 1 to 16, got {block_size}")
    if (d is None) == (real_dof is None):
        raise ValueError(f"get: give d or real_dof, got d={d} and real_dof={real_dof}")
    unit = block_size**2 if name == "ghrr" else 1
    if real_dof is not None:
        kind = GHRR if name == "ghrr" else _FLAT[name]
        fits = ceil((real_dof + 1) / kind.real_per_number) - 1  # int(fits * per) <= real_dof
        d = fits // unit * unit
    if d is None or d < unit or d % unit:
        raise ValueError(f"get: d of {name} must be a positive multiple of {unit}, got {d}")
    return GHRR(d, block_size, family) if name == "ghrr" else _FLAT[name](d)
