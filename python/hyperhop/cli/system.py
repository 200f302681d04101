"""The settings a graph directory carries, and the system they describe."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

import typer

from hyperhop.cli.options import SystemName
from hyperhop.cli.vectors import kept
from hyperhop.graph import KnowledgeGraph, store
from hyperhop.help import HELP
from hyperhop.pathhd import PathHD, get_planner
from hyperhop.pathhd.planners import needs_encoder
from hyperhop.rsf import RSF
from hyperhop.rsf.store import load
from hyperhop.text import TextEncoder, encoder_for, encoder_settings
from hyperhop.text.settings import EncoderSettings, open_encoder

DEFAULT_PLANNER: str = signature(PathHD).parameters["planner"].default
DEFAULT_K: int = signature(PathHD).parameters["k"].default
RSF_K: int = signature(RSF).parameters["k"].default
DEFAULT_HOPS: int = signature(PathHD).parameters["max_hops"].default

# What a kind of directory holds, and who can ask it, the first if nobody is named.
_KINDS = {
    "graph": ((SystemName.PATHHD,), "a graph"),
    "rsf": ((SystemName.RSF, SystemName.PATHHD), "a trained model with its graph"),
    "help": ((SystemName.HELP,), "an index of documents"),
}
_ASKS = {
    SystemName.PATHHD: "a graph, which hyperhop index makes of triples",
    SystemName.RSF: "a trained model, which hyperhop train rsf makes",
    SystemName.HELP: "an index of documents, which hyperhop index makes of passages",
}


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


def system_of(directory: Path, wanted: SystemName | None) -> SystemName:
    """The system that is asked: the one wanted, else the one that the directory was made for.

    Raises typer.BadParameter for a system that cannot ask it, and what `read_meta` raises.
    """
    kind = store.read_meta(directory)["kind"]
    systems, holds = _KINDS[kind]
    if wanted is None:
        return systems[0]
    if wanted not in systems:
        raise typer.BadParameter(
            f"--system {wanted} asks {_ASKS[wanted]}; {directory} holds {holds}"
        )
    return wanted


def open_model(
    directory: Path, *, encoder: str | None, max_degree: int | None, k: int | None
) -> RSF:
    """Open a trained model; slow vectors of what it is asked are kept."""
    model = load(directory)
    slow = kept(open_encoder(model.settings, encoder))
    return RSF(model, slow, RSF_K if k is None else k, max_degree=max_degree)


def open_help(
    directory: Path,
    *,
    encoder: str | None,
    scorer: str | None,
    levels: int | None,
    quota: int | None,
    k: int | None,
) -> HELP:
    """Open an index of documents as its settings and the given options say."""
    stored = store.read_meta(directory, SystemName.HELP.value)["settings"]
    given = {"scorer": scorer, "levels": levels, "quota": quota, "passages": k}
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return HELP.open(directory, encoder=kept(open_encoder(stored, encoder)), **chosen)


def open_system(
    directory: Path,
    *,
    encoder: str | None,
    planner: str | None,
    max_hops: int | None,
    max_degree: int | None,
    inverse: bool,
    k: int | None,
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
        DEFAULT_K if k is None else k,
        max_hops=max_hops or stored.get("max_hops") or DEFAULT_HOPS,
        inverse=inverse,
        max_degree=max_degree,
    )
