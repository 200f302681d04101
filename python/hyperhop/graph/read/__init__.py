"""Triples from files, tables and iterables, as the arrays of a graph."""

import os
from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from hyperhop.graph.read import json_lines, lines, rdf, tables
from hyperhop.graph.read.columns import Columns, check_columns
from hyperhop.graph.read.items import Triples, read_items
from hyperhop.graph.read.open import Progress, suffixes
from hyperhop.graph.read.report import BuildReport, Intake

__all__ = ["BuildReport", "Progress", "Triples", "read_triples"]

_SUFFIXES = (
    *lines.SUFFIXES,
    *rdf.SUFFIXES,
    *json_lines.SUFFIXES,
    *tables.PARQUET,
    *tables.ARROW,
)


def read_triples(
    source: Any,
    *,
    delimiter: str | None = None,
    header: bool = False,
    columns: Sequence[str] | None = None,
    literals: str = "keep",
    blank_nodes: str = "keep",
    skip_bad: bool = False,
    progress: Progress | None = None,
) -> tuple[dict[str, npt.NDArray[Any]], BuildReport]:
    """Arrays of the graph that `source` holds; see `KnowledgeGraph.from_triples`."""
    wanted = check_columns(columns)
    _check_choice("literals", literals, rdf.LITERALS)
    _check_choice("blank_nodes", blank_nodes, rdf.BLANK_NODES)
    of_lines = delimiter is not None or header
    of_terms = (literals, blank_nodes) != ("keep", "keep")
    if isinstance(source, str | os.PathLike):
        name = os.fspath(source)
        if not isinstance(name, str):
            raise TypeError(f"from_triples: a path must be str, got {type(name).__name__}")
        suffix, compression = suffixes(name)
        if delimiter is None and suffix not in _SUFFIXES:
            raise ValueError(
                f"from_triples: cannot tell the format of {name}: expected one of "
                f"{', '.join(_SUFFIXES)}, those of text also with .gz or .zst, or a delimiter"
            )
        _check_options(suffix, of_lines, wanted is not None, of_terms)
        if suffix in lines.SUFFIXES or delimiter is not None:
            intake = lines.read_lines(name, suffix, delimiter, header, wanted, skip_bad, progress)
        else:
            intake = _read_file(
                name, suffix, compression, wanted, literals, blank_nodes, skip_bad, progress
            )
    else:
        if of_lines or of_terms:
            options = "delimiter and header" if of_lines else "literals and blank_nodes"
            raise TypeError(f"from_triples: {options} belong to a file, not an iterable")
        if tables.is_table(source):
            intake = tables.read_frame(source, wanted, skip_bad)
        elif wanted is None:
            intake = read_items(source, skip_bad)
        else:
            raise TypeError("from_triples: columns belong to a table, not an iterable")
    return intake.finish()


def _read_file(
    name: str,
    suffix: str,
    compression: str,
    columns: Columns | None,
    literals: str,
    blank_nodes: str,
    skip_bad: bool,
    progress: Progress | None,
) -> Intake:
    if suffix in rdf.SUFFIXES:
        return rdf.read_rdf(name, literals, blank_nodes, skip_bad, progress)
    if suffix in json_lines.SUFFIXES:
        return json_lines.read_json_lines(name, columns, skip_bad, progress)
    if compression:
        raise ValueError(
            f"from_triples: {name} cannot be read: a {suffix} file compresses its own columns, "
            f"{compression} around it hides them; decompress it first"
        )
    read = tables.read_parquet if suffix in tables.PARQUET else tables.read_arrow
    return read(name, columns, skip_bad, progress)


def _check_options(suffix: str, of_lines: bool, of_columns: bool, of_terms: bool) -> None:
    """Refuse an option that says nothing about this format."""
    is_lines = suffix in lines.SUFFIXES or suffix not in _SUFFIXES
    if of_lines and not is_lines:
        raise TypeError(
            f"from_triples: delimiter and header belong to lines of fields, not to {suffix}"
        )
    if of_terms and suffix not in rdf.SUFFIXES:
        raise TypeError(
            f"from_triples: literals and blank_nodes belong to N-Triples, not to {suffix}"
        )
    if of_columns and suffix in rdf.SUFFIXES:
        raise TypeError(f"from_triples: columns belong to a table, not to {suffix}")


def _check_choice(argument: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        expected = ", ".join(map(repr, choices))
        raise ValueError(f"from_triples: {argument} must be one of {expected}, got {value!r}")
