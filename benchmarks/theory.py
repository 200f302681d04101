"""PathHD's theory measured: noise, tails, candidate counts, permutations, repeated relations.

    python benchmarks/theory.py [-o FILE.png|FILE.svg] [--seed N]

Prints a table of law against measurement and draws the plots. tests/test_theory.py asserts them.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path

import numpy as np

import theory_laws as laws
from harness import installed
from hyperhop import ghrr


@dataclass
class Series:
    """One curve: what was measured at each x, its spread, and the law. `samples` are for tails."""

    label: str
    x: list[float] = field(default_factory=list)
    measured: list[float] = field(default_factory=list)
    spread: list[float] = field(default_factory=list)
    law: list[float] = field(default_factory=list)
    samples: np.ndarray | None = None

    def add(self, x: float, measured: float, law: float, spread: float = 0.0) -> None:
        for values, value in zip(
            (self.x, self.measured, self.law, self.spread), (x, measured, law, spread), strict=True
        ):
            values.append(float(value))


def noise(seed: int, samples: int = 2000) -> Iterator[Series]:
    """Standard deviation of sim(a b, c d) against d."""
    for family, sizes in (("haar", (1, 2, 4)), ("diagonal", (2, 4))):
        for m in sizes:
            series = Series(f"{family}, m = {m}")
            for d in (64, 256, 1024, 4096):
                count = max(500, samples * 64 // d)
                table = laws.ghrr_symbols(4, count, d // m**2, m, family, seed)
                values = laws.ghrr_similarities(table, (0, 1), (2, 3))
                law = laws.noise_std(d, laws.constant(m, family))
                series.add(d, np.sqrt(np.mean(values**2)), law)
            yield series


def tails(seed: int, samples: int = 50_000) -> Iterator[Series]:
    """P(|sim(a b, a c)| >= epsilon) at d = 256, and proposition 1's bound."""
    blocks, m = 16, 4
    d = blocks * m * m
    for family in ("haar", "diagonal"):
        c = laws.constant(m, family)
        table = laws.ghrr_symbols(3, samples, blocks, m, family, seed)
        values = np.abs(laws.ghrr_similarities(table, (0, 1), (0, 2)))
        series = Series(f"{family}, c = {c:g}", samples=values)
        for epsilon in (0.05, 0.1, 0.15, 0.2):
            bound = float(laws.tail_bound(epsilon, d, c))
            series.add(epsilon, np.mean(values >= epsilon), min(1.0, bound))
        yield series


def capacity(seed: int, queries: int = 400, delta: float = 0.05) -> Iterator[Series]:
    """The best of M distractors, at odds 1 - delta, against corollary 1, at d = 4096."""
    blocks, m, most = 256, 4, 1000
    for family in ("haar", "diagonal"):
        c = laws.constant(m, family)
        names = [f"r{i}" for i in range(queries + most)]
        planes = ghrr.Codebook(names, blocks, m, family, seed).planes
        scores = ghrr.pairwise(planes[:queries], planes[queries:])
        series = Series(f"{family}, c = {c:g}")
        for count in (1, 3, 10, 30, 100, 300, 1000):
            worst = np.quantile(scores[:, :count].max(axis=1), 1 - delta)
            series.add(count, worst, laws.threshold(blocks * m * m, c, count, delta))
        yield series


def swaps(seed: int, samples: int = 40) -> Iterator[Series]:
    """sim(path, its permutation) against m, mean over permutations and its standard error."""
    two_or_three = [*permutations(range(2))][1:] + [*permutations(range(3))][1:]
    for label, orders, family, sizes in (
        ("2 or 3 relations", two_or_three, "haar", (2, 3, 4, 6, 8)),
        ("4, as b a d c", [(1, 0, 3, 2)], "haar", (2, 3, 4)),
        ("diagonal blocks", [(1, 0)], "diagonal", (2, 4, 8)),
    ):
        series = Series(label)
        for m in sizes:
            table = laws.ghrr_symbols(4, samples, 1_200_000 // (samples * m**2), m, family, seed)
            values = np.mean(
                [laws.ghrr_similarities(table, range(len(order)), order) for order in orders],
                axis=0,
            )
            law = 1.0 if family == "diagonal" else laws.permutation_value(orders[0], m)
            series.add(m, values.mean(), law, values.std() / np.sqrt(samples))
        yield series


def repeats(seed: int, d: int = 256, samples: int = 1000) -> Iterator[Series]:
    """sim(r^k s, s) against k, mean and standard deviation: bipolar fails where k is even."""
    for operator, law in REPEATS.items():
        series = Series(operator)
        for power in range(1, 5):
            pair = (1,), (0,) * power + (1,)
            if operator == "ghrr":
                values = laws.ghrr_similarities(
                    laws.ghrr_symbols(2, samples, d // 16, 4, seed=seed), *pair
                )
            else:
                table = laws.flat_symbols(operator, 2, samples, d, seed)
                values = laws.flat_similarities(operator, table, *pair)
            series.add(power, values.mean(), law(power), values.std())
        yield series


# E sim(r^k s, s) for large d: E r^k / sqrt(E r^(2k)).
REPEATS = {
    "bipolar": lambda k: float(k % 2 == 0),
    "real": lambda k: {2: 3**-0.5, 4: 3 * 105**-0.5}.get(k, 0.0),
    "hrr": lambda k: 0.0,
    "fhrr": lambda k: 0.0,
    "ghrr": lambda k: 0.0,
}

EXPERIMENTS = {
    "noise": (noise, "std of sim(a b, c d)", "d"),
    "tails": (tails, "P(|sim(a b, a c)| >= epsilon), d = 256; the law is a bound", "epsilon"),
    "capacity": (
        capacity,
        "best of M distractors, 95 % quantile, d = 4096; the law is a bound",
        "M",
    ),
    "swaps": (swaps, "sim(path, its permutation)", "m"),
    "repeats": (repeats, "sim(r^k s, s), d = 256", "k"),
}


def show(title: str, axis: str, curves: list[Series]) -> None:
    print(f"\n{title}\n{'':28}{axis:>8}{'measured':>11}{'law':>9}")
    for curve in curves:
        for x, measured, law in zip(curve.x, curve.measured, curve.law, strict=True):
            print(f"{curve.label:28}{x:>8g}{measured:>11.4f}{law:>9.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "-o", "--output", type=Path, default="theory.png", help="theory.png; .svg and .pdf work too"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if not installed("matplotlib"):
        parser.error('matplotlib is not installed: pip install ".[bench]"')
    from theory_plots import draw

    results = {}
    for name, (experiment, title, axis) in EXPERIMENTS.items():
        results[name] = list(experiment(options.seed))
        show(title, axis, results[name])
    draw(results, options.output)
    print(f"\ndrawn: {options.output}")


if __name__ == "__main__":
    main()
