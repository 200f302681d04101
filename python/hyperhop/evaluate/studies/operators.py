"""Table 3: how relations are composed into a path."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop import binders
from hyperhop.evaluate.plots import Figure
from hyperhop.evaluate.studies.context import Asked, Context
from hyperhop.evaluate.studies.outcome import TIE, outcome, shares
from hyperhop.evaluate.studies.study import Study
from hyperhop.evaluate.tables import Column, Table
from hyperhop.ghrr import Family

_FAMILIES: tuple[Family, ...] = ("haar", "householder", "diagonal")
# As many numbers as PathHD has by default; and so few that noise shows, then of several codebooks,
# for one of them is lucky or not with a pair of paths in all questions.
_SIZES: dict[str, tuple[int | None, int | None, int]] = {  # d, real degrees of freedom, codebooks
    "d 4096": (4096, None, 1),
    "8192 reals": (None, 8192, 1),
    "d 64": (64, None, 5),
    "128 reals": (None, 128, 5),
}
_BUNDLES = (1, 3, 10)

_COLUMNS = (
    Column("equal", "equal"),
    Column("operator", "operator"),
    Column("d", "d", "d"),
    Column("hits_at_1", "hits@1", ".3f"),
    Column("path_hit_at_1", "path@1", ".3f"),
    Column("set_exact", "sets", ".3f"),
    Column("swapped", "swapped", ".3f"),
    Column("path_hit_of_3", "of 3", ".3f"),
    Column("path_hit_of_10", "of 10", ".3f"),
)


@dataclass(frozen=True)
class _Setting:
    label: str
    equal: str
    binder: binders.Binder
    codebooks: int


def run(context: Context) -> Study:
    """Every operator ranks the same candidates against the same plans.

    Random codebooks. The query is the code of the best plan, or a bundle of the best 3 or 10 with
    weights n, n - 1, ..., 1, where codes of other plans are noise. "swapped" is the share of
    questions, of those whose best plan has a permutation among the candidates, where one of these
    scores as high as the plan or higher.
    """
    settings = [
        _Setting(label, equal, binder, codebooks)
        for equal, (d, real_dof, codebooks) in _SIZES.items()
        for label, binder in _operators(d, real_dof)
    ]
    rivals = [_permutations(asked) for asked in context.asked]
    rows = [_measure(context, setting, rivals) for setting in context.track(settings)]
    with_rivals = sum(len(one) > 0 for one in rivals)
    notes = (
        "hits@1, path@1 (gold path), sets (exact answer sets) and swapped: query of one plan. "
        "of 3, of 10: path@1 of a bundle of plans. A tie of n counts 1/n. Small sizes: means of 5 "
        "codebooks.",
        f"swapped: of the {with_rivals} questions with a permutation of their plan among the "
        "candidates, those where it scores as high.",
    )
    title = f"Operators on {context.title}"
    table = Table(title, _COLUMNS, rows, notes)
    figure = Figure(
        title, rows, "bars", "operator", "path_hit_at_1", "operator", "gold path first", by="equal"
    )
    return Study("operators", "table 3", context.about, table, figure)


def _operators(d: int | None, real_dof: int | None) -> list[tuple[str, binders.Binder]]:
    flat = [name for name in binders.NAMES if name != "ghrr"]
    return [(name, binders.get(name, d, real_dof=real_dof)) for name in flat] + [
        (f"ghrr {family}", binders.get("ghrr", d, real_dof=real_dof, family=family))
        for family in _FAMILIES
    ]


def _measure(
    context: Context, setting: _Setting, rivals: list[npt.NDArray[np.int64]]
) -> dict[str, Any]:
    runs = [_run(context, setting.binder, seed, rivals) for seed in range(setting.codebooks)]
    means = {
        key: None if runs[0][key] is None else float(np.mean([run[key] for run in runs]))
        for key in runs[0]
    }
    binder = setting.binder
    sizes = {"d": binder.d, "real_dof": binder.real_dof, "codebooks": setting.codebooks}
    return {"equal": setting.equal, "operator": setting.label, **sizes, **means}


def _run(
    context: Context, binder: binders.Binder, seed: int, rivals: list[npt.NDArray[np.int64]]
) -> dict[str, Any]:
    codebook = binder.random(context.graph.symbols, seed)
    codes = binders.encode_paths(binder, codebook, context.distinct)
    found: dict[int, dict[str, float]] = {}
    swapped = []
    for count in _BUNDLES:
        outcomes = []
        for asked, permuted in zip(context.asked, rivals, strict=True):
            plans = asked.plans.sequences[:count]
            weights = np.arange(len(plans), 0, -1, dtype=np.float32)
            query = np.tensordot(weights, codes[asked.rows[plans]], axes=1)
            scores = binder.similarity(query, codes[asked.rows])
            outcomes.append(outcome(context, asked, scores))
            if count == 1 and len(permuted):
                swapped.append(bool(scores[permuted].max() >= scores[plans[0]] - TIE))
        found[count] = shares(context, outcomes)
    return {
        **found[1],
        "swapped": float(np.mean(swapped)) if swapped else None,
        **{f"path_hit_of_{count}": found[count]["path_hit_at_1"] for count in _BUNDLES[1:]},
    }


def _permutations(asked: Asked) -> npt.NDArray[np.int64]:
    """Candidates with the relations of the best plan in another order."""
    candidates = asked.candidates
    best = int(asked.plans.sequences[0])
    plan = sorted(candidates.paths[best].tolist())
    return np.array(
        [
            index
            for index in range(len(candidates))
            if index != best and sorted(candidates.paths[index].tolist()) == plan
        ],
        np.int64,
    )
