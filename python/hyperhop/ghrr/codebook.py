"""Codebooks: one hypervector of unitary blocks per symbol name."""

from collections.abc import Iterable
from typing import Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from hyperhop import _core
from hyperhop._arrays import threads_argument

Family = Literal["haar", "householder", "diagonal"]
Storage = Literal["float32", "float16"]


def checked_storage(storage: str, function: str) -> Storage:
    """`storage` if it is one. Raises ValueError."""
    if storage not in get_args(Storage):
        raise ValueError(f"{function}: storage must be 'float32' or 'float16', got {storage!r}")
    return cast(Storage, storage)


class Codebook:
    """One random hypervector of unitary blocks per symbol name (PathHD eq. 1).

    A symbol's hypervector is a pure function of (seed, name, block_size, family): not of the other
    names, their order, the thread count, the instruction set or the machine, and its first D blocks
    do not depend on `blocks`.

    Args:
        names: distinct symbol names, id = position.
        blocks: D, 1 or more (default 256).
        block_size: m, 1 to 16 (default 4).
        family: "haar" (default): Haar-random U(m), E[sim(ab, ba)] = 1 / m^2;
            "householder": m random reflections times random phases; "diagonal": random phases
            alone, which commute, so that the order of a path is lost (kept for ablation).
        seed: any int.
        storage: "float32" (default), or "float16": the same planes rounded to nearest even, half
            the memory. Kernels widen them as they read and accumulate in float32.
        threads: see the module.

    Attributes:
        planes: float32 or float16 (R, m, m, 2, D), what is stored: 8 D m^2 bytes a symbol, or 4.

    Raises:
        ValueError: for a name given twice, a size out of range, an unknown family or storage.

    O(R D m^3) time.
    """

    def __init__(
        self,
        names: Iterable[str],
        blocks: int = 256,
        block_size: int = 4,
        family: Family = "haar",
        seed: int = 0,
        storage: Storage = "float32",
        *,
        threads: int | None = None,
    ) -> None:
        self.names = tuple(names)
        self.blocks, self.block_size = int(blocks), int(block_size)
        self.family, self.seed, self.storage = (
            family,
            int(seed),
            checked_storage(storage, "Codebook"),
        )
        self._ids = {name: i for i, name in enumerate(self.names)}
        if len(self._ids) < len(self.names):
            twice = next(n for i, n in enumerate(self.names) if self._ids[n] != i)
            raise ValueError(f"Codebook: names must be distinct, got {twice!r} twice")
        planes = _core.codebook(
            self._keys(),
            self.blocks,
            self.block_size,
            family,
            threads_argument(threads, "Codebook"),
        )
        self.planes: npt.NDArray[np.floating[Any]] = planes.astype(storage, copy=False)

    def _keys(self) -> npt.NDArray[np.uint32]:
        import hashlib  # brings in OpenSSL: a tenth of the time to import this package

        # 128 bits a symbol: names of any length, and no collisions to think about.
        context = f"{self.seed}\0{self.family}\0{self.block_size}\0".encode()
        digests = b"".join(
            hashlib.blake2b(
                context + name.encode("utf-8", "surrogatepass"), digest_size=16, person=b"hyperhop"
            ).digest()
            for name in self.names
        )
        return np.frombuffer(digests, "<u4").astype(np.uint32).reshape(-1, 4)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return (
            f"Codebook({len(self)} symbols, blocks={self.blocks}, block_size={self.block_size}, "
            f"family={self.family!r}, seed={self.seed}, storage={self.storage!r})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # The arguments are the codebook: smaller than the planes, and the bits come out the same.
        arguments = (self.names, self.blocks, self.block_size, self.family, self.seed, self.storage)
        return Codebook, arguments

    def id(self, name: str) -> int:
        """Row of a symbol. Raises LookupError for a name the codebook does not hold."""
        try:
            return self._ids[name]
        except KeyError:
            raise LookupError(f"Codebook: no symbol {name!r} among {len(self)} names") from None

    @property
    def array(self) -> npt.NDArray[np.complex64]:
        """complex64 (R, D, m, m), a copy built when asked."""
        moved = np.ascontiguousarray(np.moveaxis(self.planes, (4, 3), (1, 4)), np.float32)
        return moved.view(np.complex64)[..., 0]
