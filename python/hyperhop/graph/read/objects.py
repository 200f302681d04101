"""Graphs of other libraries: networkx, PyTorch Geometric, scipy sparse matrices."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop.graph.read.report import Intake

Names = Sequence[str | int]


def read_networkx(graph: Any, relation: str) -> Intake:
    """Edges of a directed networkx graph; see `KnowledgeGraph.from_networkx`."""
    function = "from_networkx"
    if not hasattr(graph, "is_directed"):
        raise TypeError(f"{function}: expected a networkx graph, got {type(graph).__name__}")
    if not graph.is_directed():
        raise ValueError(
            f"{function}: the graph is undirected, but a fact has a direction: choose it, or take "
            "graph.to_directed(), which has every edge both ways"
        )
    intake = _intake("networkx")
    nodes = list(graph.nodes)
    place = {node: at for at, node in enumerate(nodes)}
    entities = intake.builder.intern_entities(*_packed(function, "node", nodes))
    multigraph = graph.is_multigraph()
    edges = graph.edges(keys=True, data=relation) if multigraph else graph.edges(data=relation)
    relations: dict[Any, int] = {}
    heads, tails, kinds = [], [], []
    for edge in edges:
        kind = edge[-1]
        if kind is None and multigraph and isinstance(edge[2], str):
            kind = edge[2]
        if kind is None:
            by_key = " and its key is no str" if multigraph else ""
            raise ValueError(
                f"{function}: the edge {edge[0]!r} -> {edge[1]!r} has no attribute "
                f"{relation!r}{by_key}: no relation is known"
            )
        _check_name(function, "relation", kind)  # as a key, True and 1.0 would be 1
        heads.append(place[edge[0]])
        tails.append(place[edge[1]])
        kinds.append(relations.setdefault(kind, len(relations)))
    ids = intake.builder.intern_relations(*_packed(function, "relation", list(relations)))
    intake.builder.add_ids(
        entities[np.array(heads, np.int64)],
        ids[np.array(kinds, np.int64)],
        entities[np.array(tails, np.int64)],
    )
    return intake


def read_pyg(
    data: Any, entity_names: Names | Mapping[str, Names] | None, relation_names: Names | None
) -> Intake:
    """Edges of PyG `Data` or `HeteroData`; see `KnowledgeGraph.from_pyg`."""
    if hasattr(data, "edge_types"):
        if relation_names is not None:
            raise TypeError("from_pyg: the edge types of HeteroData are its relations' names")
        return _read_hetero(data, entity_names)
    if isinstance(entity_names, Mapping):
        raise TypeError("from_pyg: entity_names of Data must be a sequence, got a mapping")
    function = "from_pyg"
    if not hasattr(data, "edge_index"):
        raise TypeError(f"{function}: expected Data or HeteroData, got {type(data).__name__}")
    edges = _edge_index(data.edge_index, "edge_index")
    if entity_names is None:
        entity_names = getattr(data, "entity_names", None)
    if relation_names is None:
        relation_names = getattr(data, "relation_names", None)
    nodes = _count(data.num_nodes)
    names = range(nodes) if entity_names is None else entity_names
    if len(names) < nodes:
        raise ValueError(
            f"{function}: entity_names must have {nodes} names, one a node, got {len(names)}"
        )
    kinds = getattr(data, "edge_type", None)
    if kinds is not None:
        types = _integers(kinds, "edge_type").ravel()
    elif relation_names is not None and len(relation_names) == 1:
        types = np.zeros(edges.shape[1], np.int64)
    else:
        raise ValueError(
            f"{function}: data has no edge_type: set it, or name the one relation of all edges "
            "by relation_names"
        )
    if len(types) != edges.shape[1]:
        raise ValueError(
            f"{function}: edge_type must have one value an edge ({edges.shape[1]}), "
            f"got {len(types)}"
        )
    if relation_names is None:
        relation_names = range(int(types.max(initial=-1)) + 1)
    intake = _intake("PyG Data")
    _check_range(function, "edge_index", edges, len(names))
    _check_range(function, "edge_type", types, len(relation_names))
    entities = intake.builder.intern_entities(*_packed(function, "entity", names))
    relations = intake.builder.intern_relations(*_packed(function, "relation", relation_names))
    intake.builder.add_ids(entities[edges[0]], relations[types], entities[edges[1]])
    return intake


def read_scipy(matrices: Mapping[str, Any], entities: Names | None) -> Intake:
    """Entries of one sparse matrix per relation; see `KnowledgeGraph.from_scipy`."""
    function = "from_scipy"
    if not isinstance(matrices, Mapping):
        raise TypeError(
            f"{function}: matrices must map relation names to sparse matrices, "
            f"got {type(matrices).__name__}"
        )
    for name, matrix in matrices.items():
        if not hasattr(matrix, "tocoo"):
            raise TypeError(
                f"{function}: matrices[{name!r}] must be a scipy sparse matrix, "
                f"got {type(matrix).__name__}"
            )
    size = _square({matrix.shape for matrix in matrices.values()}, entities)
    names = range(size) if entities is None else entities
    intake = _intake("scipy matrices")
    ids = intake.builder.intern_entities(*_packed(function, "entity", names))
    relations = intake.builder.intern_relations(*_packed(function, "relation", list(matrices)))
    for relation, matrix in zip(relations, matrices.values(), strict=True):
        entries = matrix.tocoo()
        stored = entries.data != 0
        heads, tails = ids[entries.row[stored]], ids[entries.col[stored]]
        intake.builder.add_ids(heads, np.full(len(heads), relation, np.int32), tails)
    return intake


def _read_hetero(data: Any, entity_names: Any) -> Intake:
    function = "from_pyg"
    if entity_names is not None and not isinstance(entity_names, Mapping):
        raise TypeError("from_pyg: entity_names of HeteroData must map node types to names")
    given = entity_names or {}
    unknown = [kind for kind in given if kind not in data.node_types]
    if unknown:
        raise ValueError(
            f"{function}: entity_names names the node type {unknown[0]!r}, "
            f"expected one of {list(data.node_types)}"
        )
    intake = _intake("PyG HeteroData")
    all_names: list[str | int] = []
    first: dict[str, int] = {}
    count: dict[str, int] = {}
    for kind in data.node_types:
        first[kind] = len(all_names)
        count[kind] = _count(data[kind].num_nodes)
        names = given.get(kind)
        if names is None:
            names = [f"{kind}:{at}" for at in range(count[kind])]
        elif len(names) != count[kind]:
            raise ValueError(
                f"{function}: entity_names[{kind!r}] must have {count[kind]} names, "
                f"got {len(names)}"
            )
        all_names.extend(names)
    entities = intake.builder.intern_entities(*_packed(function, "entity", all_names))
    kinds = list(data.edge_types)
    named = [".".join(kind) for kind in kinds]
    relations = intake.builder.intern_relations(*_packed(function, "relation", named))
    for kind, relation in zip(kinds, relations, strict=True):
        edges = _edge_index(data[kind].get("edge_index"), f"edge_index of {kind}")
        head, _, tail = kind
        for end in (head, tail):
            if end not in count:
                raise ValueError(
                    f"{function}: the number of nodes of type {end!r} is unknown: set num_nodes"
                )
        _check_range(function, f"edge_index of {kind}", edges[0], count[head])
        _check_range(function, f"edge_index of {kind}", edges[1], count[tail])
        intake.builder.add_ids(
            entities[edges[0] + first[head]],
            np.full(edges.shape[1], relation, np.int32),
            entities[edges[1] + first[tail]],
        )
    return intake


def _intake(format: str) -> Intake:
    return Intake("", format, "item", "a triple", skip_bad=False)


def _check_name(function: str, what: str, name: Any) -> None:
    if isinstance(name, bool | np.bool_) or not isinstance(name, str | int | np.integer):
        raise TypeError(
            f"{function}: the name of a {what} must be str or int, "
            f"got {type(name).__name__}: {name!r}"
        )


def _packed(
    function: str, what: str, names: Names
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Names as one UTF-8 blob with offsets; whole numbers become decimal text."""
    texts: list[str] = []
    for name in names:
        _check_name(function, what, name)
        texts.append(name if isinstance(name, str) else str(int(name)))
    if not all(texts):
        raise ValueError(f"{function}: the name of a {what} must not be empty")
    if len(set(texts)) != len(texts):
        twice = next(text for text, count in Counter(texts).items() if count > 1)
        raise ValueError(f"{function}: two of the {what} names are {twice!r}; they would be merged")
    try:
        blob = "".join(texts).encode("utf-8")
        sizes = [len(text) if text.isascii() else len(text.encode("utf-8")) for text in texts]
    except UnicodeEncodeError:
        raise ValueError(f"{function}: the name of a {what} holds a lone surrogate") from None
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return np.frombuffer(blob, np.uint8), offsets


def _integers(values: Any, name: str) -> npt.NDArray[np.int64]:
    array = np.asarray(values.cpu() if hasattr(values, "cpu") else values)
    if array.dtype.kind not in "iu":
        raise TypeError(f"from_pyg: {name} must hold integers, got {array.dtype}")
    return array.astype(np.int64, copy=False)


def _edge_index(values: Any, name: str) -> npt.NDArray[np.int64]:
    if values is None:
        raise ValueError(f"from_pyg: data has no {name}")
    edges = _integers(values, name)
    if edges.ndim != 2 or edges.shape[0] != 2:
        raise ValueError(f"from_pyg: {name} must have shape (2, edges), got {edges.shape}")
    return edges


def _check_range(function: str, name: str, ids: npt.NDArray[np.int64], bound: int) -> None:
    if ids.size and not (ids.min() >= 0 and ids.max() < bound):
        worst = int(ids.min()) if ids.min() < 0 else int(ids.max())
        raise ValueError(f"{function}: {name} holds {worst}, expected 0 <= id < {bound}")


def _count(nodes: Any) -> int:
    if nodes is None:
        raise ValueError("from_pyg: the number of nodes is unknown: set num_nodes")
    return int(nodes)


def _square(shapes: set[tuple[int, ...]], entities: Names | None) -> int:
    """The one size n of all (n, n) matrices."""
    if not shapes:
        return 0 if entities is None else len(entities)
    shape = next(iter(shapes))
    if len(shapes) != 1 or len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(
            f"from_scipy: matrices must all have one square shape, got {sorted(shapes)}"
        )
    if entities is not None and len(entities) != shape[0]:
        raise ValueError(
            f"from_scipy: entities must have {shape[0]} names, one a row, got {len(entities)}"
        )
    return int(shape[0])
