"""The operators of PathHD table 3 on synthetic path retrieval.

    python benchmarks/operators.py [--seeds N] [--quick]

A query is a plan bundled with other plans at equal weight; the candidates are the plan, paths drawn
at random, all permutations of the plan, and the plan with a relation inserted twice in a row. The
table gives Hits@1 by the candidates that stand beside the plan. Similarities equal to rounding are
ties, and a tie of n counts 1 / n: an operator that cannot tell two paths apart gets no luck.
Measured at equal d and at equal real degrees of freedom.
"""

import argparse
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from hyperhop import binders

RELATIONS = 30
OTHERS = 300
BUNDLED = 24
TIE = 1e-5
RIVALS = ("others", "permuted", "repeated", "all")


@dataclass
class Task:
    """Paths as tuples of relations. `others` serve every question, as candidates or as noise."""

    plans: list[tuple[int, ...]]
    permuted: list[list[tuple[int, ...]]]
    repeated: list[list[tuple[int, ...]]]
    others: list[tuple[int, ...]]
    noise: np.ndarray  # (questions, BUNDLED) rows of the second half of `others`


def make_task(rng: np.random.Generator, questions: int) -> Task:
    def path(length):
        return tuple(rng.choice(RELATIONS, length, replace=False).tolist())

    plans = [path(length) for length in rng.integers(2, 5, questions)]
    permuted = [[p for p in permutations(plan) if p != plan] for plan in plans]
    repeated = []
    for plan in plans:
        doubled = {
            (*plan[:place], relation, relation, *plan[place:])
            for place in range(len(plan) + 1)
            for relation in rng.integers(0, RELATIONS, 3).tolist()
        }
        repeated.append(sorted(doubled))
    taken = {tuple(sorted(plan)) for plan in plans}
    others: list[tuple[int, ...]] = []
    while len(others) < 2 * OTHERS:
        drawn = path(rng.integers(1, 5))
        if tuple(sorted(drawn)) not in taken:
            taken.add(tuple(sorted(drawn)))
            others.append(drawn)
    noise = OTHERS + rng.random((questions, OTHERS)).argsort(axis=1)[:, :BUNDLED]
    return Task(plans, permuted, repeated, others, noise)


def hits(binder: binders.Binder, task: Task, seed: int) -> dict[str, float]:
    """Hits@1 for each set of rivals."""
    codebook = binder.random([f"r{i}" for i in range(RELATIONS)], seed)
    others = binders.encode_paths(binder, codebook, task.others)
    score = dict.fromkeys(RIVALS, 0.0)
    for question, plan in enumerate(task.plans):
        permuted, repeated = task.permuted[question], task.repeated[question]
        own = binders.encode_paths(binder, codebook, [plan, *permuted, *repeated])
        query = own[0] + others[task.noise[question]].sum(axis=0)
        true, *rest = binder.similarity(query, own)
        swapped, doubled = rest[: len(permuted)], rest[len(permuted) :]
        unlike = binder.similarity(query, others[:OTHERS])
        groups = (unlike, swapped, doubled, np.concatenate([unlike, swapped, doubled]))
        for name, rivals in zip(RIVALS, groups, strict=True):
            if np.max(rivals) <= true + TIE:
                score[name] += 1 / (1 + np.sum(np.abs(rivals - true) <= TIE))
    return {name: value / len(task.plans) for name, value in score.items()}


def swapped(binder: binders.Binder, seed: int) -> float:
    a, b = binder.random(["a", "b"], seed)
    return float(binder.similarity(binder.bind(a, b), binder.bind(b, a)))


def measure(sizes: dict[str, int], seeds: int, questions: int) -> None:
    title = ", ".join(f"{name} = {value}" for name, value in sizes.items())
    heads = "".join(f"{name:>13}" for name in RIVALS)
    print(f"\nequal {title}\n{'':16}{'d':>5}{'real':>6}{heads}{'sim(ab, ba)':>13}")
    for name, family in [*((n, "haar") for n in binders.NAMES), ("ghrr", "diagonal")]:
        binder = binders.get(name, family=family, **sizes)
        rows = [
            hits(binder, make_task(np.random.default_rng(seed), questions), seed)
            for seed in range(seeds)
        ]
        cells = ""
        for rivals in RIVALS:
            values = 100 * np.array([row[rivals] for row in rows])
            cells += f"{values.mean():>7.1f} ± {values.std(ddof=1):<3.1f}"
        order = np.mean([swapped(binder, seed) for seed in range(seeds)])
        label = name if family == "haar" else f"{name}, {family}"
        print(f"{label:16}{binder.d:>5}{binder.real_dof:>6}{cells}{order:>13.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="2 or more (5)")
    parser.add_argument("--quick", action="store_true", help="20 questions a seed instead of 100")
    options = parser.parse_args()
    if options.seeds < 2:
        parser.error(f"--seeds must be at least 2, got {options.seeds}")
    questions = 20 if options.quick else 100
    print(
        f"Hits@1 in %, mean and standard deviation of seeds 0 to {options.seeds - 1}; {questions} "
        f"questions each, {OTHERS} other paths, plan bundled with {BUNDLED} others"
    )
    for sizes in ({"d": 256}, {"real_dof": 512}):
        measure(sizes, options.seeds, questions)


if __name__ == "__main__":
    main()
