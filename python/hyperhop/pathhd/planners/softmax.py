"""Multinomial logistic regression where several classes may be right."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

_BATCH = 128
_FADE, _FADE_SQUARES = 0.9, 0.999  # of Adam


def fit_softmax(
    inputs: Floats, targets: Floats, *, penalty: float, epochs: int, rate: float, seed: int = 0
) -> Floats:
    """Weights (dim + 1, classes), the last row a constant, that minimise

        mean of -log(sum of the right classes' probabilities) + penalty |weights|^2.

    So one right class of a question may take all: which of several is told by the others is
    learned, not given. `inputs` is float32 (n, dim), `targets` 0 or 1, float32 (n, classes), a 1 in
    every row. Adam (Kingma and Ba, ICLR 2015) over shuffled batches, its rate falling to 0.
    O(epochs * n * dim * classes).
    """
    rng = np.random.default_rng(seed)
    rows = np.hstack([inputs, np.ones((len(inputs), 1), np.float32)])
    weights = np.zeros((rows.shape[1], targets.shape[1]), np.float32)
    mean, squares = np.zeros_like(weights), np.zeros_like(weights)
    steps = epochs * -(-len(rows) // _BATCH)
    step = 0
    for _ in range(epochs):
        order = rng.permutation(len(rows))
        for start in range(0, len(rows), _BATCH):
            batch = order[start : start + _BATCH]
            gradient = rows[batch].T @ _residual(rows[batch] @ weights, targets[batch])
            gradient[:-1] += 2 * penalty * weights[:-1]
            mean += (1 - _FADE) * (gradient - mean)
            squares += (1 - _FADE_SQUARES) * (gradient * gradient - squares)
            step += 1
            unbiased = np.sqrt(1 - _FADE_SQUARES**step) / (1 - _FADE**step)
            size = np.float32(rate * (1 - (step - 1) / steps) * unbiased)
            weights -= size * mean / (np.sqrt(squares) + np.float32(1e-8))
    return weights


def probabilities(scores: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Softmax over the last axis."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares: npt.NDArray[np.floating] = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def _residual(scores: Floats, targets: Floats) -> Floats:
    """Gradient of the mean loss by the scores: probabilities, less those among the right ones."""
    expected = np.asarray(probabilities(scores), np.float32)
    right = np.asarray(probabilities(np.where(targets > 0, scores, -np.inf)), np.float32)
    return (expected - right) / np.float32(len(scores))
