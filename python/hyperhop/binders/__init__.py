"""Six ways to compose relations into a path, on one interface (PathHD table 3 and appendix K).

    binder = binders.get("hrr", d=4096)               # or real_dof=8192
    codebook = binder.random(["born_in", "capital_of"], seed=0)
    paths = binders.encode_paths(binder, codebook, [[0, 1], [1, 0]])
    binder.similarity(paths[0], paths[1])             # 1: the order is lost

    bipolar  signs, elementwise product (XOR)         commutative, r r = 1
    real     Gaussian numbers, elementwise product    commutative
    mix      half signs, half quarter turns           commutative; our reading of "comm. bind"
    fhrr     unit phasors, elementwise product        commutative
    hrr      Gaussian numbers, circular convolution   commutative
    ghrr     unitary m x m blocks, matrix product     keeps order

This is the ablation's tool, in NumPy for all but `ghrr`; systems use `hyperhop.ghrr` itself.
"""

from hyperhop.binders.encode import encode_paths
from hyperhop.binders.protocol import Binder
from hyperhop.binders.registry import NAMES, get

__all__ = ["NAMES", "Binder", "encode_paths", "get"]
