"""The settings a graph directory carries, and the system they describe."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

from hyperhop.cli.vectors import kept
from hyperhop.graph import KnowledgeGraph
from hyperhop.pathhd import PathHD, get_planner
from hyperhop.pathhd.planners import needs_encoder
from hyperhop.text import TextEncoder, encoder_for, encoder_settings
from hyperhop.text.settings import EncoderSettings, open_encoder

DEFAULT_PLANNER: str = signature(PathHD).parameters["planner"].default
DEFAULT_HOPS: int = signature(PathHD).parameters["max_hops"].default


class Settings(EncoderSettings):
    """What ``index`` stores and ``ask`` reads; a graph saved by the library alone has none."""

    planner: str
    max_hops: int


def make_settings(
    encoder: str | None = None, planner: str | None = None, max_hops: int | None = None
) -> Settings:
    """Return the settings to store, PathHD's defaults where none is given.

    Raises ValueError for an unknown name and a planner that needs another encoder, ImportError for
    an encoder whose extra is missing.
    """
    planner = planner or DEFAULT_PLANNER
    made = encoder_for(None, encoder)
    get_planner(planner, [], made)  # whether the two go together
    return Settings(
        **encoder_settings(made),
        planner=planner,
        max_hops=max_hops or DEFAULT_HOPS,
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
    planner = planner or stored.get("planner") or DEFAULT_PLANNER
    wanted: str | TextEncoder | None = encoder
    if needs_encoder(planner):
        wanted = kept(open_encoder(stored, encoder))
    return PathHD(
        graph,
        wanted,
        planner,
        k,
        max_hops=max_hops or stored.get("max_hops") or DEFAULT_HOPS,
        inverse=inverse,
        max_degree=max_degree,
    )
