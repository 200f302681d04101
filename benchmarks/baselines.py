"""The strongest public way to do each job, in NumPy and in torch, each with its best layout."""

import numpy as np

import hyperhop as hh
from harness import installed

TILE = 16  # paths at a time: what a tile touches then stays in the caches
TORCH_TILE = 64  # a torch call costs more, so more work each

Groups = list[tuple[np.ndarray, np.ndarray]]


def by_length(paths: hh.Paths) -> Groups:
    """A ragged list as one table (n, L) for each length, with the rows its paths come from."""
    groups = []
    for length in np.unique(paths.lengths):
        rows = np.flatnonzero(paths.lengths == length)
        groups.append((rows, paths.take(rows).symbols.astype(np.int64).reshape(-1, length)))
    return groups


def real_view(vectors: np.ndarray) -> np.ndarray:
    """Complex hypervectors (N, D, m, m) as real rows (N, 2 D m^2), without a copy."""
    return vectors.view(vectors.real.dtype).reshape(len(vectors), -1)


def adjoint(array: np.ndarray) -> np.ndarray:
    """Every block conjugated and transposed, contiguous."""
    return np.ascontiguousarray(np.conj(array.swapaxes(-1, -2)))


def matmul_chain(array: np.ndarray, table: np.ndarray) -> np.ndarray:
    """`C[i0] @ C[i1] @ C[i2]` on complex (R, D, m, m)."""
    result = array[table[:, 0]]
    for column in table.T[1:]:
        result = result @ array[column]
    return result


class MatmulTiles:
    """The same chain, a tile of paths at a time in memory that is allocated once."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.buffers = [np.empty((TILE, *array.shape[1:]), array.dtype) for _ in range(3)]

    def chain(self, tile: np.ndarray) -> np.ndarray:
        result, factor, product = (buffer[: len(tile)] for buffer in self.buffers)
        # mode="clip" because the default copies through another buffer.
        np.take(self.array, tile[:, 0], axis=0, out=result, mode="clip")
        for column in tile.T[1:]:
            np.take(self.array, column, axis=0, out=factor, mode="clip")
            np.matmul(result, factor, out=product)
            result, product = product, result
        return result

    def encode(self, table: np.ndarray) -> np.ndarray:
        encoded = np.empty((len(table), *self.array.shape[1:]), self.array.dtype)
        for start in range(0, len(table), TILE):
            encoded[start : start + TILE] = self.chain(table[start : start + TILE])
        return encoded

    def scores(self, query: np.ndarray, groups: Groups) -> np.ndarray:
        """One real dot product a path: unitary blocks have constant norm."""
        flat = real_view(query[None])[0]
        scores = np.empty(sum(len(rows) for rows, _ in groups), np.float32)
        for rows, table in groups:
            for start in range(0, len(table), TILE):
                encoded = self.chain(table[start : start + TILE])
                scores[rows[start : start + TILE]] = real_view(encoded) @ flat
        return scores / np.float32(query.shape[0] * query.shape[1])


def matmul_prefixes(array: np.ndarray, table: np.ndarray) -> np.ndarray:
    """The chain with every distinct prefix multiplied out once."""
    prefixes, which = np.unique(table[:, :-1], axis=0, return_inverse=True)
    return matmul_chain(array, prefixes)[which.reshape(-1)] @ array[table[:, -1]]


def shared_prefixes(
    array: np.ndarray, adjoints: np.ndarray, query: np.ndarray, groups: Groups
) -> np.ndarray:
    """Moves every distinct prefix to the query once; a path is then one real dot product."""
    rows_of = real_view(array)
    scores = np.empty(sum(len(rows) for rows, _ in groups), np.float32)
    for rows, table in groups:
        if table.shape[1] == 1:
            scores[rows] = rows_of[table[:, 0]] @ real_view(query[None])[0]
            continue
        order = np.lexsort(table.T[::-1])
        rows, last = rows[order], table[order, -1]
        prefixes, starts = np.unique(table[order, :-1], axis=0, return_index=True)
        ends = np.append(starts[1:], len(rows))
        parents, which = np.unique(prefixes[:, :-1], axis=0, return_inverse=True)
        above = np.broadcast_to(query, (len(parents), *query.shape))
        for column in parents.T:
            above = adjoints[column] @ above
        for start in range(0, len(prefixes), TILE):
            tile = slice(start, start + TILE)
            moved = real_view(adjoints[prefixes[tile, -1]] @ above[which.reshape(-1)[tile]])
            for vector, begin, end in zip(moved, starts[tile], ends[tile], strict=True):
                scores[rows[begin:end]] = [rows_of[symbol] @ vector for symbol in last[begin:end]]
    return scores / np.float32(query.shape[0] * query.shape[1])


class Torch:
    """torch twins; `here` says whether torch is installed."""

    def __init__(self, array: np.ndarray, threads: int) -> None:
        self.here = installed("torch")
        if self.here:
            import torch

            torch.set_num_threads(threads)
            self.torch = torch
            self.array = torch.from_numpy(array)
            # Blocks last, so that a product is multiply-adds over long vectors.
            self.re = self.array.real.movedim(1, -1).contiguous()
            self.im = self.array.imag.movedim(1, -1).contiguous()

    def columns(self, table: np.ndarray):
        return self.torch.from_numpy(np.ascontiguousarray(table.T))

    def bmm_chain(self, table: np.ndarray):
        """torch.bmm on complex64, all blocks as one batch."""
        _, d, m, _ = self.array.shape
        columns = self.columns(table)
        result = self.array[columns[0]].reshape(-1, m, m)
        for column in columns[1:]:
            result = self.torch.bmm(result, self.array[column].reshape(-1, m, m))
        return result.reshape(len(table), d, m, m)

    def planes_chain(self, table: np.ndarray):
        """Real and imaginary parts (n, m, m, D): m rank-one updates by addcmul."""
        columns = self.columns(table)
        re, im = self.re[columns[0]], self.im[columns[0]]
        for column in columns[1:]:
            b_re, b_im = self.re[column], self.im[column]
            out_re, out_im = self.torch.zeros_like(re), self.torch.zeros_like(im)
            for k in range(re.shape[1]):
                x_re, x_im = re[:, :, k : k + 1], im[:, :, k : k + 1]
                y_re, y_im = b_re[:, k : k + 1], b_im[:, k : k + 1]
                out_re.addcmul_(x_re, y_re).addcmul_(x_im, y_im, value=-1)
                out_im.addcmul_(x_re, y_im).addcmul_(x_im, y_re)
            re, im = out_re, out_im
        return re, im

    def encode_bmm(self, table: np.ndarray) -> np.ndarray:
        encoded = self.torch.empty((len(table), *self.array.shape[1:]), dtype=self.array.dtype)
        for start in range(0, len(table), TORCH_TILE):
            tile = slice(start, start + TORCH_TILE)
            encoded[tile] = self.bmm_chain(table[tile])
        return encoded.numpy()

    def encode_planes(self, table: np.ndarray) -> np.ndarray:
        """float32 (n, m, m, 2, D), the layout of `encode_paths(planes=True)`."""
        _, m, _, d = self.re.shape
        encoded = self.torch.empty((len(table), m, m, 2, d))
        for start in range(0, len(table), TORCH_TILE):
            tile = slice(start, start + TORCH_TILE)
            encoded[tile, :, :, 0], encoded[tile, :, :, 1] = self.planes_chain(table[tile])
        return encoded.numpy()

    def scores(self, query: np.ndarray, groups: Groups) -> np.ndarray:
        """Encode a tile of paths as planes, then real dot products."""
        flat = self.torch.from_numpy(query).movedim(0, -1)
        re, im = (part.contiguous().reshape(-1) for part in (flat.real, flat.imag))
        scores = np.empty(sum(len(rows) for rows, _ in groups), np.float32)
        for rows, table in groups:
            for start in range(0, len(table), TORCH_TILE):
                tile = slice(start, start + TORCH_TILE)
                x_re, x_im = (part.flatten(1) for part in self.planes_chain(table[tile]))
                scores[rows[tile]] = (x_re @ re + x_im @ im).numpy()
        return scores / np.float32(query.shape[0] * query.shape[1])
