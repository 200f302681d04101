"""From what passages state to entities, relations and triples with ids."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hyperhop.help.index import Sources
from hyperhop.help.keys import name_key
from hyperhop.help.statements import Statements
from hyperhop.help.texts import TextTable

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Resolved:
    """The graph of a corpus; see `PassageIndex` for its attributes."""

    entities: TextTable
    relations: TextTable
    triples: Ids
    sources: Sources


def resolve(statements: Statements) -> Resolved:
    """Names of equal keys become one, equal triples become one. O(M log M + names)."""
    rows = statements.rows
    entities, entity_of = _shown(statements.forms, rows[:, [0, 2]])
    relations, relation_of = _shown(statements.forms, rows[:, 1])
    stated = np.stack(
        [entity_of[rows[:, 0]], relation_of[rows[:, 1]], entity_of[rows[:, 2]]], axis=1
    )
    order = np.lexsort((stated[:, 2], stated[:, 1], stated[:, 0]))  # stable: passages ascend
    ordered = stated[order]
    first = np.ones(len(ordered), np.bool_)
    first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    counts = np.diff(statements.offsets)
    passages = np.repeat(np.arange(len(counts)), counts)[order]
    sources = Sources(
        np.append(np.flatnonzero(first), len(ordered)).astype(np.int64),
        passages,
        (1 / counts[passages]).astype(np.float32),
    )
    return Resolved(entities, relations, ordered[first], sources)


def _shown(forms: TextTable, used: Ids) -> tuple[TextTable, Ids]:
    """The names shown for those that are used, ascending, and int64 (forms,): the id of each form.

    Of the forms of one key the one used most often is shown, of equally frequent ones the first.
    """
    names, counts = np.unique(used, return_counts=True)
    keys: dict[str, int] = {}
    groups = np.array([keys.setdefault(name_key(forms[form]), len(keys)) for form in names], int)
    order = np.lexsort((names, -counts, groups))
    best = np.ones(len(order), np.bool_)
    best[1:] = groups[order][1:] != groups[order][:-1]
    shown = names[order][best]  # by group
    ids = np.empty(len(shown), np.int64)
    ids[np.argsort(shown)] = np.arange(len(shown))  # forms ascend by text, so their ranks do
    id_of = np.full(len(forms), -1, np.int64)
    id_of[names] = ids[groups]
    return forms.take(np.sort(shown)), id_of
