"""What PathHD section 2.7 and appendix D.1 say of random hypervectors: the laws, and samples.

Laws are functions of D blocks of size m, d = D m^2. A path is a tuple of symbol numbers.

Why c = 1 in proposition 1 for Haar blocks: where some relation stands once in query and distractor
together, each block U of Q^H Z is Haar. E|tr U|^(2k) counts the permutations of k things whose
longest increasing subsequence is at most m (Rains 1998), so it is at most k!, the moment of a
complex normal number. Hence E exp(t Re tr U) <= exp(t^2 / 4); the similarity X, the mean over D
blocks of Re tr U / m, has E exp(t X) <= exp(t^2 / (4 d)); and Chernoff's bound is exp(-d eps^2) on
either side. A diagonal block holds m phases, each with E exp(t cos) = I_0(t) <= exp(t^2 / 4): D m
terms instead of D m^2, so c = 1 / m.
"""

from collections.abc import Sequence

import numpy as np

from hyperhop import binders, ghrr

Path = Sequence[int]


def constant(block_size: int, family: str) -> float:
    """c of proposition 1: 1 for "haar", 1 / m for "diagonal"."""
    return {"haar": 1.0, "diagonal": 1.0 / block_size}[family]


def noise_std(d: int, c: float) -> float:
    """Standard deviation of the similarity of independent paths."""
    return (2 * c * d) ** -0.5


def tail_bound(epsilon, d: int, c: float):
    """Proposition 1: P(|X| >= epsilon) is at most this."""
    return 2 * np.exp(-c * d * np.square(epsilon))


def threshold(d: int, c: float, distractors: int, delta: float) -> float:
    """Corollary 1 solved for epsilon: all distractors score at most this, with odds 1 - delta."""
    return float(np.sqrt(np.log(2 * distractors / delta) / (c * d)))


def permutation_value(order: Path, block_size: int) -> float:
    """E sim(r_0 r_1 ..., r_order[0] r_order[1] ...) for distinct Haar relations: m^(-2 g).

    In E tr(Q^H Z) each relation stands once as U and once as U^H, and E U_ij conj(U_kl) is
    delta_ik delta_jl / m. Each relation so glues two pairs of the 2 L indices between the factors;
    indices that are left free count m each. 2 g = L + 1 - free: 2 for every permutation of two or
    three relations, 2 or 4 for four, 0 for the path itself.
    """
    length = len(order)
    # Between factors, cyclically: factor p has index p on its left and p + 1 on its right.
    glued = list(range(2 * length))

    def find(index: int) -> int:
        while glued[index] != index:
            index = glued[index]
        return index

    for position, symbol in enumerate(order):
        plain, adjoint = length + position, length - 1 - symbol
        for a, b in ((plain, adjoint + 1), (plain + 1, adjoint)):
            glued[find(a % (2 * length))] = find(b % (2 * length))
    free = sum(find(index) == index for index in range(2 * length))
    return float(block_size) ** (free - length - 1)


def power_constant(power: int, block_size: int) -> float:
    """c where Q^H Z is R^power, as for the query s and the distractor r r s.

    The eigenvalues of the power of a Haar matrix are those of min(power, m) independent smaller
    ones (Rains 2003), so variance and exponent are that much worse.
    """
    return 1.0 / min(power, block_size)


def ghrr_symbols(count, samples, blocks, block_size, family="haar", seed=0) -> np.ndarray:
    """Planes (count, samples, m, m, 2, D): `samples` independent codebooks of `count` symbols.

    The blocks of one long hypervector are independent, so it is cut into many short ones.
    """
    names = [f"r{i}" for i in range(count)]
    planes = ghrr.Codebook(names, samples * blocks, block_size, family, seed, threads=1).planes
    cut = planes.reshape(count, block_size, block_size, 2, samples, blocks)
    return np.ascontiguousarray(np.moveaxis(cut, 4, 1))


def flat_symbols(operator, count, samples, d, seed=0) -> np.ndarray:
    """(count, samples, d), the same of an operator that works number by number."""
    names = [f"r{i}" for i in range(count)]
    return binders.get(operator, samples * d).random(names, seed).reshape(count, samples, d)


def similarities(bind, similarity, symbols: np.ndarray, query: Path, path: Path) -> np.ndarray:
    """float64 (samples,): sim(query, path), one for each independent codebook."""
    codes = []
    for sequence in (query, path):
        code = symbols[sequence[0]]
        for symbol in sequence[1:]:
            code = bind(code, symbols[symbol])
        codes.append(code)
    return np.asarray(similarity(*codes), np.float64)


def ghrr_similarities(symbols: np.ndarray, query: Path, path: Path) -> np.ndarray:
    return similarities(ghrr.bind, ghrr.similarity, symbols, query, path)


def flat_similarities(operator, symbols: np.ndarray, query: Path, path: Path) -> np.ndarray:
    binder = binders.get(operator, symbols.shape[-1])
    return similarities(binder.bind, binder.similarity, symbols, query, path)
