from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_Ball = tuple[
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
    bool,
]

def isas() -> list[str]: ...
def isa() -> str: ...
def select_isa(name: str) -> None: ...
def default_threads() -> int: ...
def compiler() -> str: ...
def codebook(
    keys: npt.NDArray[np.uint32], blocks: int, block_size: int, family: str, threads: int
) -> npt.NDArray[np.float32]: ...
def code_rows(
    rows: npt.NDArray[np.floating[Any]], threads: int
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32], npt.NDArray[np.float32]]: ...
def near_rows(
    codes: npt.NDArray[np.int8],
    scales: npt.NDArray[np.float32],
    errors: npt.NDArray[np.float32],
    queries: npt.NDArray[np.int16],
    query_scales: npt.NDArray[np.float32],
    lost: npt.NDArray[np.float32],
    extra: npt.NDArray[np.float64] | None,
    k: int,
    threads: int,
) -> list[npt.NDArray[np.int64]]: ...
def bind(
    x: npt.NDArray[np.generic], y: npt.NDArray[np.generic], out: object, threads: int
) -> npt.NDArray[np.generic]: ...
def unbind_left(
    key: npt.NDArray[np.generic], z: npt.NDArray[np.generic], out: object, threads: int
) -> npt.NDArray[np.generic]: ...
def unbind_right(
    z: npt.NDArray[np.generic], key: npt.NDArray[np.generic], out: object, threads: int
) -> npt.NDArray[np.generic]: ...
def bundle(
    xs: npt.NDArray[np.generic], weights: npt.NDArray[np.float32], out: object, threads: int
) -> npt.NDArray[np.generic]: ...
def normalize(x: npt.NDArray[np.generic], out: object, threads: int) -> npt.NDArray[np.generic]: ...
def unitarize(x: npt.NDArray[np.generic], out: object, threads: int) -> npt.NDArray[np.generic]: ...
def similarity(
    x: npt.NDArray[np.generic], y: npt.NDArray[np.generic], out: object, threads: int
) -> npt.NDArray[np.float32]: ...
def pairwise(
    xs: npt.NDArray[np.generic], ys: npt.NDArray[np.generic], out: object, threads: int
) -> npt.NDArray[np.float32]: ...
def rows_of(
    places: npt.NDArray[np.int32], symbols: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32] | None: ...
def encode_paths(
    planes: npt.NDArray[np.floating[Any]],
    symbols: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    as_planes: bool,
    out: object,
    threads: int,
) -> npt.NDArray[np.generic]: ...
def score_paths(
    planes: npt.NDArray[np.floating[Any]],
    query: npt.NDArray[np.generic],
    symbols: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    algorithm: str,
    unitary: bool,
    out: object,
    threads: int,
) -> npt.NDArray[np.float32]: ...
def score_bundle(
    planes: npt.NDArray[np.floating[Any]],
    symbols: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    chosen: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float32],
    unitary: bool,
    threads: int,
) -> npt.NDArray[np.float64]: ...
def path_groups(
    symbols: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    num_symbols: int,
    algorithm: str,
) -> tuple[int, int]: ...
def top_paths(
    planes: npt.NDArray[np.floating[Any]],
    query: npt.NDArray[np.generic],
    symbols: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    k: int,
    algorithm: str,
    unitary: bool,
    threads: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]: ...
def topk(
    scores: npt.NDArray[np.generic], k: int, largest: bool, threads: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.generic]]: ...
def unitary_map(
    hermitian: npt.NDArray[np.float32], map: str, out: object, threads: int
) -> npt.NDArray[np.float32]: ...

class GraphLimits:
    def __init__(self, edge_visits: int, entries: int, simple_steps: int) -> None: ...

class TripleBuilder:
    def __init__(self, skip_bad: bool, max_entities: int = ...) -> None: ...
    def feed(self, chunk: bytes, delimiter: str, last: bool) -> bool: ...
    def skip_header(self) -> None: ...
    def add_rows(self, rows: list[Any], numbers: list[int]) -> bool: ...
    def intern_entities(
        self, blob: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int32]: ...
    def intern_relations(
        self, blob: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int32]: ...
    def add_ids(
        self,
        heads: npt.NDArray[np.int32],
        relations: npt.NDArray[np.int32],
        tails: npt.NDArray[np.int32],
    ) -> None: ...
    def reject(self, number: int, found: str) -> bool: ...
    def build(self) -> dict[str, npt.NDArray[Any]]: ...
    @property
    def num_read(self) -> int: ...
    @property
    def num_bad(self) -> int: ...
    @property
    def num_duplicates(self) -> int: ...
    @property
    def bad_lines(self) -> list[tuple[int, str, bytes]]: ...

class NameIndex:
    def __init__(
        self,
        blob: npt.NDArray[np.uint8],
        offsets: npt.NDArray[np.int64],
        order: npt.NDArray[np.int32] | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def num_ids(self) -> int: ...
    def ids(self, begin: int, end: int) -> list[int]: ...
    def name(self, id: int) -> str: ...
    def names(self, ids: Sequence[int] | npt.NDArray[np.int32]) -> list[str]: ...
    def find(self, name: str) -> int: ...
    def lower_bound(self, name: str) -> int: ...

def gather_names(
    blob: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], ids: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]: ...
def list_names(
    blob: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], ids: npt.NDArray[np.int32]
) -> list[str]: ...
def join_lines(
    entity_blob: npt.NDArray[np.uint8],
    entity_offsets: npt.NDArray[np.int64],
    relation_blob: npt.NDArray[np.uint8],
    relation_offsets: npt.NDArray[np.int64],
    heads: npt.NDArray[np.int32],
    relations: npt.NDArray[np.int32],
    tails: npt.NDArray[np.int32],
) -> bytes: ...

class FoldedNames:
    def __init__(self, names: NameIndex, fold: Callable[[str], str], ascii: bool = ...) -> None: ...
    def find(self, key: str) -> list[int]: ...
    def has_prefix(self, prefix: str) -> bool: ...
    def near(self, key: str, count: int) -> list[int]: ...
    def keys(self) -> list[str]: ...

class GramIndex:
    def __init__(self, folded: FoldedNames) -> None: ...
    def closest(self, texts: list[str], cutoff: float, count: int) -> list[list[str]]: ...

class GraphIndex:
    def __init__(
        self,
        out_offsets: npt.NDArray[np.int64],
        out_relations: npt.NDArray[np.int32],
        out_tails: npt.NDArray[np.int32],
        in_offsets: npt.NDArray[np.int64],
        in_relations: npt.NDArray[np.int32],
        in_heads: npt.NDArray[np.int32],
        num_relations: int,
    ) -> None: ...
    def has_triple(self, head: int, relation: int, tail: int) -> bool: ...
    def has_triples(
        self,
        heads: npt.NDArray[np.int32],
        relations: npt.NDArray[np.int32],
        tails: npt.NDArray[np.int32],
    ) -> npt.NDArray[np.bool_]: ...

_NameChange = tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.int32] | None]
_GraphChange = tuple[int, _NameChange, _NameChange, dict[str, npt.NDArray[Any]] | None]

def graph_merge(
    graph: GraphIndex,
    entities: NameIndex,
    relations: NameIndex,
    other: GraphIndex,
    other_entities: NameIndex,
    other_relations: NameIndex,
    max_entities: int = ...,
) -> _GraphChange: ...
def graph_without(
    graph: GraphIndex,
    entities: NameIndex,
    relations: NameIndex,
    heads: npt.NDArray[np.int64],
    relation_ids: npt.NDArray[np.int64],
    tails: npt.NDArray[np.int64],
    missing_ok: bool,
) -> tuple[int, _GraphChange]: ...
def graph_equal(
    graph: GraphIndex,
    entities: NameIndex,
    relations: NameIndex,
    other: GraphIndex,
    other_entities: NameIndex,
    other_relations: NameIndex,
) -> bool: ...

class GraphWalkRules:
    def __init__(
        self,
        graph: GraphIndex,
        max_hops: int,
        return_to_topic: bool,
        max_degree: int | None,
        skip_hubs: bool,
        mediators: npt.NDArray[np.uint8] | None,
    ) -> None: ...

def graph_leaving(graph: GraphIndex, entity: int) -> npt.NDArray[np.int32]: ...
def graph_schema(
    graph: GraphIndex, max_pairs: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int64]] | None: ...
def schema_sequences(
    schema_offsets: npt.NDArray[np.int64],
    schema_symbols: npt.NDArray[np.int32],
    schema_counts: npt.NDArray[np.int64],
    first: npt.NDArray[np.int32],
    max_hops: int,
    cap: int,
    beam: int,
    inverse: bool,
    symbol_ranks: npt.NDArray[np.int32],
    limits: GraphLimits,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], bool]: ...
def graph_sequences(
    graph: GraphIndex,
    topics: npt.NDArray[np.int32],
    rules: GraphWalkRules,
    cap: int,
    beam: int,
    inverse: bool,
    symbol_ranks: npt.NDArray[np.int32],
    limits: GraphLimits,
    threads: int,
) -> list[tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], bool, npt.NDArray[np.int32]]]: ...
def graph_paths(
    graph: GraphIndex,
    topics: npt.NDArray[np.int32],
    rules: GraphWalkRules,
    sequences: list[tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]],
    cap: int,
    simple: bool,
    limits: GraphLimits,
    threads: int,
) -> list[
    tuple[
        npt.NDArray[np.int32],
        npt.NDArray[np.int64],
        bool,
        npt.NDArray[np.int32],
        npt.NDArray[np.int64],
        bool,
        npt.NDArray[np.int32],
    ]
]: ...
def graph_chosen_paths(
    graph: GraphIndex,
    topic: int,
    rules: GraphWalkRules,
    symbols: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    chosen: npt.NDArray[np.int64],
    cap: int,
    simple: bool,
    limits: GraphLimits,
) -> tuple[
    npt.NDArray[np.int32],
    npt.NDArray[np.int64],
    tuple[
        npt.NDArray[np.int32],
        npt.NDArray[np.int64],
        bool,
        npt.NDArray[np.int32],
        npt.NDArray[np.int64],
        bool,
        npt.NDArray[np.int32],
    ],
]: ...
def take_paths(
    symbols: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    indices: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]: ...
def best_paths(
    scores: npt.NDArray[np.float64],
    symbols: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    ranks: npt.NDArray[np.int64],
    count: int,
) -> npt.NDArray[np.int64]: ...
def graph_broken_step(
    graph: GraphIndex,
    entities: npt.NDArray[np.int32],
    path_offsets: npt.NDArray[np.int64],
    symbols: npt.NDArray[np.int32],
    symbol_offsets: npt.NDArray[np.int64],
) -> int: ...
def graph_ball(
    graph: GraphIndex,
    topics: Sequence[int],
    hops: int,
    out: bool,
    inward: bool,
    induced: bool,
    max_degree: int,
    skip_hubs: bool,
    mediators: object,
    max_edges: int,
    edge_visits: int,
) -> _Ball: ...
def graph_balls(
    graph: GraphIndex,
    topics: Sequence[Sequence[int]],
    hops: int,
    out: bool,
    inward: bool,
    induced: bool,
    max_degree: int,
    skip_hubs: bool,
    mediators: object,
    max_edges: int,
    edge_visits: int,
    threads: int,
) -> list[_Ball]: ...
def graph_neighbours(
    graph: GraphIndex, entity: int, out: bool, relation: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]: ...
def graph_degree(graph: GraphIndex, entity: int, out: bool, inward: bool) -> int: ...

class TripleAdjacency:
    def __init__(
        self,
        head: npt.NDArray[np.int64],
        tail: npt.NDArray[np.int64],
        num_entities: int,
        order: npt.NDArray[np.int64] | None,
        links: npt.NDArray[np.int64],
    ) -> None: ...

def expand(
    index: TripleAdjacency,
    hypernodes: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    keep_parents: bool,
    threads: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]: ...
def beam_step(
    index: TripleAdjacency,
    hypernodes: npt.NDArray[np.int64],
    embeddings: npt.NDArray[np.generic],
    queries: npt.NDArray[np.float32],
    offsets: npt.NDArray[np.int64],
    k: int,
    keep_parents: bool,
    threads: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32], npt.NDArray[np.int64]]: ...
def score(
    index: TripleAdjacency,
    hypernodes: npt.NDArray[np.int64],
    embeddings: npt.NDArray[np.generic],
    queries: npt.NDArray[np.float32],
    offsets: npt.NDArray[np.int64],
    out: object,
    threads: int,
) -> npt.NDArray[np.float32]: ...

class FlowEdges:
    def __init__(
        self,
        src: npt.NDArray[np.int32],
        relation: npt.NDArray[np.int32],
        dst: npt.NDArray[np.int32],
        num_nodes: int,
        num_relations: int,
    ) -> None: ...

def propagate(
    graph: FlowEdges,
    pi: npt.NDArray[np.generic],
    beta: npt.NDArray[np.generic],
    segments: object,
    out: object,
    threads: int,
) -> npt.NDArray[np.generic]: ...
def propagate_backward(
    graph: FlowEdges,
    pi: npt.NDArray[np.generic],
    beta: npt.NDArray[np.generic],
    grad: npt.NDArray[np.generic],
    segments: object,
    threads: int,
) -> tuple[npt.NDArray[np.generic], npt.NDArray[np.generic]]: ...
def hop(
    graph: FlowEdges,
    pi: npt.NDArray[np.generic],
    beta: npt.NDArray[np.generic],
    rho: npt.NDArray[np.generic] | None,
    gate: npt.NDArray[np.generic],
    gate_is_number: bool,
    eps: float,
    segments: object,
    reachable_only: bool,
    out: object,
    threads: int,
) -> npt.NDArray[np.generic]: ...
def hop_backward(
    graph: FlowEdges,
    pi: npt.NDArray[np.generic],
    beta: npt.NDArray[np.generic],
    result: npt.NDArray[np.generic],
    grad: npt.NDArray[np.generic],
    rho: npt.NDArray[np.generic] | None,
    gate: npt.NDArray[np.generic],
    gate_is_number: bool,
    eps: float,
    segments: object,
    reachable_only: bool,
    threads: int,
) -> tuple[
    npt.NDArray[np.generic],
    npt.NDArray[np.generic],
    npt.NDArray[np.generic] | None,
    npt.NDArray[np.generic] | None,
]: ...
def backtrack(
    graph: FlowEdges,
    flows: Sequence[npt.NDArray[np.generic]],
    betas: Sequence[npt.NDArray[np.generic]],
    targets: npt.NDArray[np.int64],
    segments: object,
    k: int,
    greedy: bool,
    with_beta: bool,
    threads: int,
) -> tuple[
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
    npt.NDArray[np.int64],
    npt.NDArray[np.floating],
    npt.NDArray[np.int64],
]: ...
def propagate_sparse(
    graph: FlowEdges,
    nodes: npt.NDArray[np.int32],
    values: npt.NDArray[np.generic],
    beta: npt.NDArray[np.generic],
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.floating]]: ...
def propagate_facts(
    facts: GraphIndex,
    inverse: bool,
    stay: bool,
    nodes: npt.NDArray[np.int32],
    values: npt.NDArray[np.generic],
    beta: npt.NDArray[np.generic],
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.floating]]: ...
def content_score(
    function: str,
    features: npt.NDArray[np.generic],
    query_name: str,
    query: npt.NDArray[np.generic],
    segments: object,
    out: object,
    threads: int,
) -> npt.NDArray[np.generic]: ...
def read(
    function: str,
    pi_name: str,
    pi: npt.NDArray[np.generic],
    features: npt.NDArray[np.generic],
    segments: object,
    out: object,
    threads: int,
) -> npt.NDArray[np.generic]: ...
def feature_gradient(
    function: str,
    weights_name: str,
    weights: npt.NDArray[np.generic],
    rows_name: str,
    rows: npt.NDArray[np.generic],
    dim: int,
    segments: object,
    threads: int,
) -> npt.NDArray[np.generic]: ...
def entropy(
    pi: npt.NDArray[np.generic], segments: object, eps: float, out: object, threads: int
) -> npt.NDArray[np.generic]: ...
def entropy_backward(
    pi: npt.NDArray[np.generic],
    grad: npt.NDArray[np.generic],
    segments: object,
    eps: float,
    threads: int,
) -> npt.NDArray[np.generic]: ...
def hop_content(
    graph: FlowEdges,
    pi: npt.NDArray[np.generic],
    beta: npt.NDArray[np.generic],
    rho: npt.NDArray[np.generic] | None,
    query: npt.NDArray[np.generic] | None,
    gate: npt.NDArray[np.generic],
    gate_is_number: bool,
    eps: float,
    segments: object,
    reachable_only: bool,
    features: npt.NDArray[np.generic],
    out: object,
    context_out: object,
    threads: int,
) -> tuple[npt.NDArray[np.generic], npt.NDArray[np.generic]]: ...
def hop_content_backward(
    graph: FlowEdges,
    pi: npt.NDArray[np.generic],
    beta: npt.NDArray[np.generic],
    result: npt.NDArray[np.generic],
    context: npt.NDArray[np.generic],
    grad: npt.NDArray[np.generic],
    grad_context: npt.NDArray[np.generic],
    rho: npt.NDArray[np.generic] | None,
    query: npt.NDArray[np.generic] | None,
    gate: npt.NDArray[np.generic],
    gate_is_number: bool,
    eps: float,
    segments: object,
    reachable_only: bool,
    features: npt.NDArray[np.generic],
    features_gradient: bool,
    threads: int,
) -> tuple[
    npt.NDArray[np.generic],
    npt.NDArray[np.generic],
    npt.NDArray[np.generic] | None,
    npt.NDArray[np.generic] | None,
    npt.NDArray[np.generic] | None,
    npt.NDArray[np.generic] | None,
]: ...
