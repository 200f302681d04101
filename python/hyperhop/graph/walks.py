"""Walks from topics: symbol sequences, and the entity paths along them."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from hyperhop._arrays import threads_argument
from hyperhop._core import (
    GraphLimits,
    GraphWalkRules,
    graph_chosen_paths,
    graph_paths,
    graph_sequences,
)
from hyperhop.graph.arguments import at_least, check_hubs, mask_or_ids
from hyperhop.graph.path_set import PathSet
from hyperhop.graph.sequences import Sequences
from hyperhop.paths import Paths, as_paths

if TYPE_CHECKING:
    from hyperhop.graph.knowledge_graph import KnowledgeGraph

Hubs = Literal["sample", "skip"]

# Bounds on one topic: about two seconds and half a gigabyte.
_LIMITS = GraphLimits(edge_visits=10**9, entries=125_000_000, simple_steps=50_000_000)
_MOST_SEQUENCES = 100_000


class Rules:
    """The arguments that both kinds of walk share, checked; `function` names the caller."""

    def __init__(
        self,
        function: str,
        kg: "KnowledgeGraph",
        max_hops: int,
        return_to_topic: bool,
        max_degree: int | None,
        hubs: Hubs,
        mediators: npt.ArrayLike | None,
    ) -> None:
        check_hubs(function, hubs)
        self.function, self.kg = function, kg
        self.max_hops = at_least(function, "max_hops", max_hops, 0)
        most = None if max_degree is None else at_least(function, "max_degree", max_degree, 1)
        mask = None
        if mediators is not None:
            mask = mediator_mask(function, kg, mediators).view(np.uint8)
        self.max_symbols = self.max_hops if mask is None else 2 * self.max_hops
        self.compiled = GraphWalkRules(
            kg._index, self.max_hops, return_to_topic, most, hubs == "skip", mask
        )


def mediator_mask(
    function: str, kg: "KnowledgeGraph", mediators: npt.ArrayLike
) -> npt.NDArray[np.bool_]:
    """One bool an entity id: `mediators` itself, uncopied, or what an array of ids says."""
    given = mask_or_ids(function, mediators, kg.num_entity_ids)
    if given.dtype == np.bool_:
        return np.asarray(given, np.bool_)
    mask = np.zeros(kg.num_entity_ids, np.bool_)
    mask[given] = True
    return mask


def find_sequences(
    rules: Rules,
    topics: Iterable[int | str],
    beam: int | None,
    cap: int,
    inverse: bool,
    threads: int | None,
) -> list[Sequences]:
    """`KnowledgeGraph.sequences` of each topic."""
    kg, function = rules.kg, rules.function
    most = at_least(function, "cap", cap, 1)
    width = 0 if beam is None else at_least(function, "beam", beam, 1)
    found = graph_sequences(
        kg._index,
        _topic_ids(kg, function, topics),
        rules.compiled,
        most,
        width,
        inverse,
        kg._symbol_ranks if width else np.zeros(0, np.int32),
        _LIMITS,
        threads_argument(threads, function),
    )
    return [Sequences.unchecked(*one) for one in found]


def all_sequences(
    rules: Rules, topics: Iterable[int | str], inverse: bool, threads: int | None
) -> list[Sequences]:
    """What `KnowledgeGraph.paths` expands where it is given no sequences."""
    return find_sequences(rules, topics, None, _MOST_SEQUENCES, inverse, threads)


def expand_paths(
    rules: Rules,
    topics: Iterable[int | str],
    sequences: Sequence[Paths | npt.ArrayLike],
    cap: int,
    simple: bool,
    threads: int | None,
) -> list[PathSet]:
    """`KnowledgeGraph.paths` of each topic along its own sequences."""
    kg, function = rules.kg, rules.function
    most = at_least(function, "cap", cap, 1)
    chosen = [as_paths(one, function) for one in sequences]
    ids = _topic_ids(kg, function, topics)
    if len(chosen) != len(ids):
        raise ValueError(f"{function}: {len(ids)} topics, but {len(chosen)} lists of sequences")
    longest = max((int(one.lengths.max(initial=0)) for one in chosen), default=0)
    if longest > rules.max_symbols:
        hops = f"max_hops = {rules.max_hops}"
        allowed = hops if rules.max_symbols == rules.max_hops else f"twice {hops}"
        raise ValueError(
            f"{function}: sequences must have at most {allowed} symbols, got {longest}"
        )
    found = graph_paths(
        kg._index,
        ids,
        rules.compiled,
        [(one.symbols, one.offsets) for one in chosen],
        most,
        simple,
        _LIMITS,
        threads_argument(threads, function),
    )
    return [_path_set(one, *arrays) for one, arrays in zip(chosen, found, strict=True)]


def expand_chosen(
    rules: Rules,
    topic: int,
    sequences: Paths,
    chosen: npt.NDArray[np.int64],
    cap: int,
    simple: bool,
) -> PathSet:
    """`expand_paths` of one topic along some of the sequences that were found from it."""
    symbols, offsets, arrays = graph_chosen_paths(
        rules.kg._index,
        topic,
        rules.compiled,
        sequences.symbols,
        sequences.offsets,
        chosen,
        cap,
        simple,
        _LIMITS,
    )
    return _path_set(Paths.of_valid(symbols, offsets), *arrays)


def several(function: str, topics: Iterable[int | str]) -> list[int | str]:
    """Topics as a list. Raises TypeError for a single one."""
    if isinstance(topics, str) or not isinstance(topics, Iterable):
        raise TypeError(
            f"{function}: topics must be an iterable of names or ids, got {type(topics).__name__}"
        )
    return list(topics)


def _path_set(
    sequences: Paths,
    entities: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    truncated: bool,
    ends: npt.NDArray[np.int32],
    end_offsets: npt.NDArray[np.int64],
    ends_truncated: bool,
    hubs: npt.NDArray[np.int32],
) -> PathSet:
    if isinstance(sequences, Sequences) and sequences.hubs.size:
        hubs = np.union1d(hubs, sequences.hubs)
    missing = truncated or sequences.truncated
    return PathSet(sequences, entities, offsets, missing, ends, end_offsets, ends_truncated, hubs)


def _topic_ids(
    kg: "KnowledgeGraph", function: str, topics: Iterable[int | str]
) -> npt.NDArray[np.int32]:
    if isinstance(topics, np.ndarray) and topics.dtype == np.int32:
        return topics  # compiled code checks ids
    return np.array([kg._topic(function, topic) for topic in several(function, topics)], np.int32)
