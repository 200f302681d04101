"""A stored index: relation paths encoded once, searched by many queries."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop import _core
from hyperhop._arrays import restorer, threads_argument
from hyperhop.ghrr.algebra import normalize
from hyperhop.ghrr.codebook import Codebook, Storage, checked_storage
from hyperhop.ghrr.compare import pairwise, similarity
from hyperhop.ghrr.layout import as_planes
from hyperhop.ghrr.relation_paths import encode_paths
from hyperhop.paths import Paths, as_paths

# Paths encoded at a time, and queries scored at a time: what lives beside the index stays small.
_CHUNK = 512
_QUERIES = 64
# How many more candidates than k are taken from faiss, whose scores differ from ours in the last
# digits.
_MARGIN = 32


class PathIndex:
    """Relation paths stored as hypervectors, for many queries over one list.

    For a list that is scored once, `score_paths` is faster and stores nothing.

    Args:
        cb: the codebook the symbols index.
        paths: as in `encode_paths`; a sequence that is listed many times is stored once.
        storage: "float32" (default) or "float16" for the vectors of the exact back end: half the
            memory, scores move by less than 1e-4.
        backend: "exact" (default), or "faiss:" and an index factory string of faiss, as in
            "faiss:Flat", "faiss:HNSW32" or "faiss:PQ64". faiss then searches the real view
            (2 D m^2 numbers a path, inner product) and keeps it in its own way, so `storage` stays
            "float32"; it finds candidates, which are scored and ordered as the exact back end
            does. Needs the extra "faiss".
        threads: see the module. faiss may build HNSW differently on more than one.

    Attributes:
        storage, backend: as given.
        distinct: Paths, the sequences stored, in the order in which they first appear.

    Raises:
        ValueError: for a bad path, storage or factory string, or too few paths to train on.
        ImportError: where faiss is missing.

    O(D m^3) time a distinct sequence, 8 D m^2 bytes each (4 in float16). What is stored is a copy:
    later changes of `paths` do not show.
    """

    def __init__(
        self,
        cb: Codebook,
        paths: Paths | npt.ArrayLike,
        storage: Storage = "float32",
        backend: str = "exact",
        *,
        threads: int | None = None,
    ) -> None:
        given = as_paths(paths, "PathIndex")
        self.storage, self.backend = checked_storage(storage, "PathIndex"), backend
        self._cb = cb
        first, self._sequence_of = _distinct(given)
        self.distinct = given.take(first)
        self._repeats = len(first) < len(given)
        self._order = np.argsort(self._sequence_of, kind="stable")  # sequence -> its positions
        self._starts = np.searchsorted(self._sequence_of[self._order], np.arange(len(first) + 1))
        name, _, factory = backend.partition(":")
        if backend == "exact":
            self._faiss: Any = None
            shape = (len(first), cb.block_size, cb.block_size, 2, cb.blocks)
            self._vectors: np.ndarray = np.empty(shape, storage)
            for part, planes in self._encoded(threads):
                self._vectors[part] = planes
        elif name == "faiss" and factory:
            if storage != "float32":
                raise ValueError(
                    f"PathIndex: storage {storage!r} is for backend 'exact'; the factory string of "
                    "faiss says how faiss stores, as in 'faiss:SQfp16'"
                )
            self._vectors = np.empty(0, np.float32)
            self._faiss = self._built(factory, threads)
        else:
            raise ValueError(
                "PathIndex: backend must be 'exact' or 'faiss:' and a factory string, as in "
                f"'faiss:Flat', got {backend!r}"
            )

    def __len__(self) -> int:
        return len(self._sequence_of)

    def __repr__(self) -> str:
        return (
            f"PathIndex({len(self)} paths, {len(self.distinct)} distinct, "
            f"blocks={self._cb.blocks}, block_size={self._cb.block_size}, "
            f"storage={self.storage!r}, backend={self.backend!r})"
        )

    @property
    def nbytes(self) -> int:
        """Bytes of the stored vectors, or of the faiss index (which is serialised to count)."""
        if self._faiss is None:
            return self._vectors.nbytes
        return int(_faiss("PathIndex").serialize_index(self._faiss).nbytes)

    def scores(self, queries: Any, *, threads: int | None = None) -> Any:
        """Blockwise cosine of each query with every path: float32 (N,), or (Q, N).

        Equals `score_paths` within 1e-6 where codebook and index are float32. A score depends on
        the query and the path alone. Queries as in `search`. O(Q D m^2) a distinct sequence.

        Raises:
            ValueError: for a back end of faiss, which does not score every path.
        """
        if self._faiss is not None:
            raise ValueError(f"PathIndex.scores: needs backend 'exact', got {self.backend!r}")
        planes, single = self._planes(queries, "PathIndex.scores")
        scores = pairwise(planes, self._vectors, threads=threads)
        if self._repeats:
            scores = scores[:, self._sequence_of]
        return restorer(queries)(scores[0] if single else scores)

    def search(self, queries: Any, k: int, *, threads: int | None = None) -> tuple[Any, Any]:
        """The k best paths of each query: (indices int64, scores float32), (k,) or (Q, k).

        Indices are positions in the list given. The order is that of `hyperhop.topk`: score
        descending, then lower index; k > N gives N. Paths with the same sequence score alike.

        With "faiss:Flat" the answer is that of the exact back end, except that of sequences whose
        scores lie within 1e-5 of the k-th some may be missed where there are more than 32 such.
        Other faiss indexes are approximate: every score returned is exact, but paths may be missed,
        and where fewer than k were found, the rest has index -1 and score -inf.

        Args:
            queries: one hypervector or Q of them, any layout, unitary or not.
            k: how many.
            threads: see the module.

        Raises:
            ValueError: for queries of another shape than the codebook's, or k < 0.
        """
        planes, single = self._planes(queries, "PathIndex.search")
        if k < 0:
            raise ValueError(f"PathIndex.search: k must be at least 0, got {k}")
        k = min(int(k), len(self))
        indices = np.empty((len(planes), k), np.int64)
        scores = np.empty((len(planes), k), np.float32)
        found = self._search_exact if self._faiss is None else self._search_faiss
        for start in range(0, len(planes), _QUERIES):
            part = slice(start, start + _QUERIES)
            indices[part], scores[part] = found(planes[part], k, threads)
        restore = restorer(queries)
        return restore(indices[0] if single else indices), restore(scores[0] if single else scores)

    def _planes(self, queries: Any, function: str) -> tuple[np.ndarray, bool]:
        """Queries as planes (Q, m, m, 2, D), and whether it was a single one."""
        planes = as_planes(queries, function, "queries")
        own = (self._cb.block_size, self._cb.block_size, 2, self._cb.blocks)
        lead = planes.ndim - len(own)
        if lead not in (0, 1) or planes.shape[lead:] != own:
            raise ValueError(
                f"{function}: queries must be one hypervector or a list of them with "
                f"D = {self._cb.blocks}, m = {self._cb.block_size}, got shape {np.shape(queries)}"
            )
        return (planes[None] if lead == 0 else planes), lead == 0

    def _encoded(self, threads: int | None) -> Iterator[tuple[slice, np.ndarray]]:
        """The distinct sequences as planes, some at a time."""
        for start in range(0, len(self.distinct), _CHUNK):
            part = slice(start, min(start + _CHUNK, len(self.distinct)))
            chosen = self.distinct.take(np.arange(part.start, part.stop))
            yield part, encode_paths(self._cb, chosen, planes=True, threads=threads)

    def _search_exact(
        self, planes: np.ndarray, k: int, threads: int | None
    ) -> tuple[np.ndarray, np.ndarray]:
        scores = self.scores(planes, threads=threads)
        return _core.topk(scores, k, True, threads_argument(threads, "PathIndex.search"))

    # --- faiss ------------------------------------------------------------------------------------

    def _rows(self, planes: np.ndarray, threads: int | None) -> np.ndarray:
        """The real view of unit length, whose inner products are blockwise cosines."""
        flat = normalize(planes, threads=threads).reshape(len(planes), -1)
        return np.asarray(flat / np.float32(np.sqrt(self._cb.blocks * self._cb.block_size)))

    def _built(self, factory: str, threads: int | None) -> Any:
        faiss = _faiss(f"PathIndex: backend {self.backend!r}")
        dimension = 2 * self._cb.blocks * self._cb.block_size**2
        try:
            index = faiss.index_factory(dimension, factory, faiss.METRIC_INNER_PRODUCT)
        except RuntimeError as error:
            raise ValueError(
                f"PathIndex: faiss has no index {factory!r} of dimension {dimension}"
            ) from error
        with _faiss_threads(faiss, threads):
            if not index.is_trained:
                rows = np.concatenate([self._rows(p, threads) for _, p in self._encoded(threads)])
                try:
                    index.train(rows)
                except RuntimeError as error:
                    raise ValueError(
                        f"PathIndex: faiss cannot train {factory!r} on {len(rows)} paths"
                    ) from error
            for _, planes in self._encoded(threads):
                index.add(self._rows(planes, threads))
        return index

    def _search_faiss(
        self, planes: np.ndarray, k: int, threads: int | None
    ) -> tuple[np.ndarray, np.ndarray]:
        indices = np.full((len(planes), k), -1, np.int64)
        scores = np.full((len(planes), k), -np.inf, np.float32)
        rows = self._rows(planes, threads)
        broken = np.isnan(rows).any(axis=1)  # a NaN surfaces in every score, as it does in ours
        indices[broken], scores[broken] = np.arange(k), np.nan
        whole = np.flatnonzero(~broken)
        if k == 0 or whole.size == 0:
            return indices, scores
        faiss = _faiss("PathIndex.search")
        wanted = min(k + _MARGIN, len(self.distinct))
        with _faiss_threads(faiss, threads):
            candidates = self._faiss.search(rows[whole], wanted)[1]
        for query, found in zip(whole, candidates, strict=True):
            best = self._best(planes[query], np.sort(found[found >= 0]), k, threads)
            place = slice(len(best[0]))
            indices[query, place], scores[query, place] = best
        return indices, scores

    def _best(
        self, planes: np.ndarray, sequences: np.ndarray, k: int, threads: int | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The best k positions of some sequences, with the bits of the exact back end."""
        vectors = encode_paths(
            self._cb, self.distinct.take(sequences), planes=True, threads=threads
        )
        own = similarity(planes, vectors, threads=threads)
        # Of one sequence the first k positions are enough.
        lists = [self._order[self._starts[s] : self._starts[s + 1]][:k] for s in sequences]
        positions = np.concatenate([*lists, np.empty(0, np.int64)])
        scores = np.repeat(own, [len(positions) for positions in lists])
        chosen = np.lexsort((positions, -scores))[:k]
        return positions[chosen], scores[chosen]


def _distinct(paths: Paths) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where each distinct sequence first appears, and the distinct sequence of each path."""
    numbers: dict[bytes, int] = {}
    first: list[int] = []
    sequence_of = np.empty(len(paths), np.int64)
    for i, path in enumerate(paths):
        number = numbers.setdefault(path.tobytes(), len(first))
        if number == len(first):
            first.append(i)
        sequence_of[i] = number
    return np.array(first, np.int64), sequence_of


def _faiss(who: str) -> Any:
    try:
        import faiss
    except ImportError:
        raise ImportError(f'{who} needs the extra "faiss": pip install "hyperhop[faiss]"') from None
    return faiss


@contextmanager
def _faiss_threads(faiss: Any, threads: int | None) -> Iterator[None]:
    """faiss knows one setting for all: ours while it works, then what it was."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(threads_argument(threads, "PathIndex") or _core.default_threads())
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
