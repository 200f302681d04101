"""The settings a graph directory carries, and the system they describe."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any, TypedDict

from hyperhop.graph import KnowledgeGraph
from hyperhop.pathhd import PathHD, planner_names
from hyperhop.text import get_encoder


class Settings(TypedDict):
    """What ``index`` stores and ``ask`` reads; a graph saved by the library alone has none."""

    encoder: str
    encoder_dim: int
    planner: str
    max_hops: int


def make_settings(
    encoder: str | None = None, planner: str | None = None, max_hops: int | None = None
) -> Settings:
    """Return the settings to store, PathHD's defaults where none is given.

    Raises ValueError for an unknown name, ImportError for an encoder whose extra is missing.
    """
    default = signature(PathHD).parameters
    encoder = encoder or default["encoder"].default
    planner = planner or default["planner"].default
    if planner not in planner_names():
        raise ValueError(f"expected the planner {' or '.join(planner_names())}, got {planner!r}")
    return Settings(
        encoder=encoder,
        encoder_dim=get_encoder(encoder).dim,
        planner=planner,
        max_hops=max_hops or default["max_hops"].default,
    )


def open_system(
    directory: Path,
    *,
    encoder: str | None,
    planner: str | None,
    max_hops: int | None,
    max_degree: int | None,
    inverse: bool,
    k: int,
) -> PathHD:
    """Open a graph directory and set PathHD up as its settings and the given options say."""
    graph = KnowledgeGraph.open(directory)
    stored: dict[str, Any] = graph.settings or {}
    made_with = stored.get("encoder")
    if encoder and made_with and encoder != made_with:
        raise ValueError(
            f"{directory} was indexed with the encoder {made_with!r}, got --encoder {encoder!r}: "
            f"leave the option out or index again"
        )
    chosen: dict[str, Any] = {
        "encoder": encoder or made_with,
        "planner": planner or stored.get("planner"),
        "max_hops": max_hops or stored.get("max_hops"),
    }
    given = {name: value for name, value in chosen.items() if value is not None}
    return PathHD(graph, k=k, inverse=inverse, max_degree=max_degree, **given)
