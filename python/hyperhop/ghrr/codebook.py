"""Codebooks: one hypervector of unitary blocks per symbol name."""

from collections.abc import Iterable
from functools import partial
from typing import Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from hyperhop import _core
from hyperhop._arrays import threads_argument
from hyperhop.ghrr.layout import Planes, all_unitary, as_planes
from hyperhop.ghrr.rows import RowsOnDemand
from hyperhop.ghrr.semantic import Map, unitary_planes

Family = Literal["haar", "householder", "diagonal"]
Storage = Literal["float32", "float16"]

_MOST_BYTES = 1 << 28  # of the rows that a lazy codebook keeps


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
        lazy: make no row before it is needed: what encodes or scores paths makes the rows of their
            symbols, with the same bits, and keeps 256 MiB of rows or what one call needs. For names
            by the ten thousand, of which a question meets a few.
        threads: see the module.

    Attributes:
        planes: float32 or float16 (R, m, m, 2, D), what is stored: 8 D m^2 bytes a symbol, or 4.
            A lazy codebook makes them all when this is first read.
        unitary: whether all blocks are unitary, as they are unless given to `from_blocks`.

    Raises:
        ValueError: for a name given twice, a size out of range, an unknown family or storage.

    O(R D m^3) time.
    """

    _planes: Planes | None
    _rows: RowsOnDemand | None

    def __init__(
        self,
        names: Iterable[str],
        blocks: int = 256,
        block_size: int = 4,
        family: Family = "haar",
        seed: int = 0,
        storage: Storage = "float32",
        *,
        lazy: bool = False,
        threads: int | None = None,
    ) -> None:
        self._describe(tuple(names), int(blocks), int(block_size), family, int(seed), storage)
        if lazy:
            row = self._drawn((), threads)  # checks the arguments
            most = _MOST_BYTES // (row.itemsize * int(np.prod(row.shape[1:])))
            self._rows = RowsOnDemand(len(self), most)
        else:
            self._planes = self._drawn(range(len(self)), threads)

    @classmethod
    def from_embeddings(
        cls,
        names: Iterable[str],
        embeddings: Any,
        blocks: int = 256,
        block_size: int = 4,
        map: Map = "exp",
        scale: float | None = None,
        seed: int = 0,
        storage: Storage = "float32",
        *,
        threads: int | None = None,
    ) -> "Codebook":
        """A semantic codebook: unitary blocks that are a function of each symbol's text embedding.

        Similarity falls with the distance of two embeddings (from cosine 1 down to 0; the
        exponential rises again, to 0.05, towards cosine -1), symbols of orthogonal embeddings score
        near 0, and paths keep their order. Embeddings that all share a direction, as those of some
        encoders do, leave all symbols similar: subtract their mean first.

        Args:
            names: R distinct symbol names, id = position.
            embeddings: floats (R, dim), scaled to unit rows here.
            blocks, block_size, seed, storage, threads: as for the class.
            map: "exp" (default): exp(iH); "cayley": (I + iH)(I - iH)^-1.
            scale: half the root mean square of H's eigenvalues, 0 to 1000; default 1 for "exp" and
                1 / sqrt 2 for "cayley", where unrelated symbols score 0. More of it keeps only the
                nearest embeddings similar.

        A hypervector is a function of (embedding, block_size, map, scale, seed), and its first D
        blocks do not depend on `blocks`. H is a BLAS product in float32, so entries agree within
        1e-5, not bit for bit, between machines, threads and batches. `family` is "semantic-exp" or
        "semantic-cayley"; a pickle holds the planes.

        Raises:
            TypeError: for embeddings that are not floats. ValueError: for a row that is zero or not
            finite (named), and for shapes, sizes, map or scale out of range.

        O(R D m^2 (dim + m)) time. Derivation: `hyperhop.ghrr.semantic`.
        """
        cb = cls.__new__(cls)
        cb._describe(
            tuple(names), int(blocks), int(block_size), f"semantic-{map}", int(seed), storage
        )
        planes = unitary_planes(
            cb.names, embeddings, cb.blocks, cb.block_size, map, scale, cb.seed, threads
        )
        cb._planes = planes.astype(storage, copy=False)
        return cb

    @classmethod
    def from_blocks(
        cls, names: Iterable[str], blocks: Any, *, storage: Storage = "float32"
    ) -> "Codebook":
        """A codebook of blocks made elsewhere: learned, or projected from text (PathHD eq. 2).

        Args:
            names: R distinct symbol names, id = position.
            blocks: R hypervectors, complex64 (R, D, m, m) or planes (R, m, m, 2, D), copied.
            storage: as for the class.

        Blocks need not be unitary: paths are then scored with the norms of eq. 4, at the cost of
        one block product a path. They count as unitary where all |R R^H - I| are below 1e-4.
        `family` is "given".

        Raises:
            TypeError: for a dtype of neither layout. ValueError: for shapes that do not fit.

        O(R D m^3) time.
        """
        given = as_planes(blocks, "Codebook.from_blocks", "blocks")
        labels = tuple(names)
        if given.ndim != 5 or len(given) != len(labels):
            raise ValueError(
                f"Codebook.from_blocks: blocks must hold one hypervector for each of the "
                f"{len(labels)} names, got shape {np.shape(blocks)}"
            )
        cb = cls.__new__(cls)
        cb._describe(labels, given.shape[-1], given.shape[1], "given", 0, storage)
        cb._planes = given.astype(storage, order="C")
        cb.unitary = all_unitary(given)
        return cb

    @classmethod
    def _holding(cls, planes: Planes, unitary: bool, *description: Any) -> "Codebook":
        cb = cls.__new__(cls)
        cb._describe(*description)
        cb._planes, cb.unitary = planes, unitary
        return cb

    def _describe(
        self,
        names: tuple[str, ...],
        blocks: int,
        block_size: int,
        family: str,
        seed: int,
        storage: str,
    ) -> None:
        self.names = names
        self.blocks, self.block_size = blocks, block_size
        self.family, self.seed = family, seed
        self.storage = checked_storage(storage, "Codebook")
        self.unitary = True
        self._planes = None
        self._rows = None
        self._ids = {name: i for i, name in enumerate(names)}
        if len(self._ids) < len(names):
            twice = next(n for i, n in enumerate(names) if self._ids[n] != i)
            raise ValueError(f"Codebook: names must be distinct, got {twice!r} twice")

    @property
    def lazy(self) -> bool:
        """Whether rows are made when they are needed."""
        return self._rows is not None

    @property
    def planes(self) -> Planes:
        """All rows, see the class."""
        if self._planes is None:
            self._planes = self._drawn(range(len(self)))
        return self._planes

    @planes.setter
    def planes(self, planes: Planes) -> None:
        self._planes = planes

    def rows(self, symbols: npt.NDArray[np.integer]) -> Planes:
        """Planes (n, m, m, 2, D) of n symbols, a copy."""
        planes, rows = self.holding(symbols)
        taken: Planes = planes[rows]
        return taken

    def holding(self, symbols: npt.NDArray[np.integer]) -> tuple[Planes, npt.NDArray[np.integer]]:
        """Planes that hold at least these symbols, and their rows there.

        These are all planes and the symbols themselves, unless the codebook is lazy, which raises
        IndexError for a symbol that it does not have.
        """
        if self._rows is None or self._planes is not None:  # all were made anyway
            return self.planes, symbols
        return self._rows.take(np.ascontiguousarray(symbols, np.int32), self._drawn)

    def _drawn(self, symbols: Iterable[int], threads: int | None = None) -> Planes:
        planes = _core.codebook(
            self._keys([self.names[symbol] for symbol in symbols]),
            self.blocks,
            self.block_size,
            self.family,
            threads_argument(threads, "Codebook"),
        )
        return planes.astype(self.storage, copy=False)

    def _keys(self, names: list[str]) -> npt.NDArray[np.uint32]:
        import hashlib  # brings in OpenSSL: a tenth of the time to import this package

        # 128 bits a symbol: names of any length, and no collisions to think about.
        context = f"{self.seed}\0{self.family}\0{self.block_size}\0".encode()
        digests = b"".join(
            hashlib.blake2b(
                context + name.encode("utf-8", "surrogatepass"), digest_size=16, person=b"hyperhop"
            ).digest()
            for name in names
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
        # The arguments of a random codebook say it all: smaller than the planes, the same bits.
        arguments = (self.names, self.blocks, self.block_size, self.family, self.seed, self.storage)
        if self.family in get_args(Family):
            return partial(Codebook, lazy=self.lazy), arguments
        return Codebook._holding, (self.planes, self.unitary, *arguments)

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
