"""A path as the left fold of an operator over its relations."""

import numpy as np
import numpy.typing as npt

from hyperhop.binders.protocol import Array, Binder
from hyperhop.paths import Paths, as_paths


def encode_paths(binder: Binder, codebook: Array, paths: Paths | npt.ArrayLike) -> Array:
    """((r1 r2) r3) ... by `binder.bind`: (N, *shape). An empty path is the identity.

    Args:
        binder: the operator.
        codebook: (R, *shape), as `binder.random` gives it.
        paths: Paths, a padded 2-D integer array (fill -1) or a list of lists of ids.

    Raises:
        ValueError: for a codebook of another shape, or a symbol it does not have.

    One `bind` of all paths for each position; O(N) hypervectors of memory.
    """
    if codebook.shape[1:] != binder.shape:
        expected = ", ".join(map(str, binder.shape))
        raise ValueError(
            f"encode_paths: codebook must have shape (R, {expected}), got {codebook.shape}"
        )
    given = Paths.from_lists(paths) if isinstance(paths, list) else as_paths(paths, "encode_paths")
    symbols, lengths = given.symbols, given.lengths
    wrong = np.flatnonzero((symbols < 0) | (symbols >= len(codebook)))
    if wrong.size:
        raise ValueError(
            f"encode_paths: paths hold symbol {symbols[wrong[0]]}, "
            f"but the codebook has {len(codebook)}"
        )
    codes = np.empty((len(given), *binder.shape), codebook.dtype)
    codes[:] = binder.identity()
    first = np.flatnonzero(lengths > 0)
    codes[first] = codebook[symbols[given.offsets[first]]]
    for position in range(1, int(lengths.max(initial=0))):
        rows = np.flatnonzero(lengths > position)
        factors = codebook[symbols[given.offsets[rows] + position]]
        codes[rows] = binder.bind(codes[rows], factors)
    return codes
