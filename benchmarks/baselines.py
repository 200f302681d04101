"""The strongest public way to do each job, in NumPy and in torch, each with its best layout."""

import numpy as np

from harness import installed


def real_view(vectors: np.ndarray) -> np.ndarray:
    """Complex hypervectors (N, D, m, m) as float32 rows (N, 2 D m^2), without a copy."""
    return vectors.view(np.float32).reshape(len(vectors), -1)


def matmul_chain(array: np.ndarray, table: np.ndarray) -> np.ndarray:
    """`C[i0] @ C[i1] @ C[i2]` on complex64 (R, D, m, m)."""
    result = array[table[:, 0]]
    for column in table.T[1:]:
        result = result @ array[column]
    return result


def naive_tiles(array: np.ndarray, query: np.ndarray, table: np.ndarray, tile: int) -> np.ndarray:
    """Encode a tile of paths, one real dot product each: unitary blocks have constant norm."""
    flat = real_view(query[None])[0]
    scale = 1 / (array.shape[1] * array.shape[2])
    scores = [
        real_view(matmul_chain(array, table[i : i + tile])) @ flat
        for i in range(0, len(table), tile)
    ]
    return np.concatenate(scores) * np.float32(scale)


def shared_prefixes(
    array: np.ndarray, query: np.ndarray, table: np.ndarray, tile: int
) -> np.ndarray:
    """As naive_tiles, but every distinct prefix of a sorted list is encoded once."""
    order = np.lexsort(table.T[::-1])
    ordered = table[order]
    flat = real_view(query[None])[0]
    scores = np.empty(len(table), np.float32)
    for start in range(0, len(ordered), tile):
        part = ordered[start : start + tile]
        prefixes, which = np.unique(part[:, :-1], axis=0, return_inverse=True)
        encoded = matmul_chain(array, prefixes)[which.reshape(-1)]
        scores[order[start : start + tile]] = real_view(encoded @ array[part[:, -1]]) @ flat
    return scores / np.float32(array.shape[1] * array.shape[2])


def prefix_gemm(codebook: np.ndarray, prefixes: np.ndarray) -> np.ndarray:
    """All one-step extensions of query-side prefixes: one real GEMM (P, 2d) @ (R, 2d)^T."""
    return prefixes @ codebook.T


class Torch:
    """torch twins on tensors that share the arrays' memory; every method None without torch."""

    def __init__(self, array: np.ndarray, threads: int = 1) -> None:
        self.here = installed("torch")
        if self.here:
            import torch

            torch.set_num_threads(threads)
            self.torch = torch
            self.array = torch.from_numpy(array)
            self.re = self.array.real.contiguous()
            self.im = self.array.imag.contiguous()

    def bmm_chain(self, table: np.ndarray):
        """torch.bmm on complex64, all blocks as one batch."""
        _, d, m, _ = self.array.shape
        columns = self.torch.from_numpy(table.astype(np.int64)).T
        result = self.array[columns[0]].reshape(-1, m, m)
        for column in columns[1:]:
            result = self.torch.bmm(result, self.array[column].reshape(-1, m, m))
        return result.reshape(len(table), d, m, m)

    def planes_chain(self, table: np.ndarray):
        """Real and imaginary parts apart: m rank-one updates of vectors, by addcmul."""
        columns = self.torch.from_numpy(table.astype(np.int64)).T
        re, im = self.re[columns[0]], self.im[columns[0]]
        for column in columns[1:]:
            b_re, b_im = self.re[column], self.im[column]
            out_re, out_im = self.torch.zeros_like(re), self.torch.zeros_like(im)
            for k in range(re.shape[-1]):
                x_re, x_im = re[..., :, k : k + 1], im[..., :, k : k + 1]
                y_re, y_im = b_re[..., k : k + 1, :], b_im[..., k : k + 1, :]
                out_re.addcmul_(x_re, y_re).addcmul_(x_im, y_im, value=-1)
                out_im.addcmul_(x_re, y_im).addcmul_(x_im, y_re)
            re, im = out_re, out_im
        return re, im

    def score_tiles(self, query: np.ndarray, table: np.ndarray, tile: int):
        flat = self.torch.from_numpy(real_view(query[None])[0])
        scores = []
        for i in range(0, len(table), tile):
            encoded = self.bmm_chain(table[i : i + tile])
            scores.append(self.torch.view_as_real(encoded).reshape(len(encoded), -1) @ flat)
        return self.torch.cat(scores) / (self.array.shape[1] * self.array.shape[2])
