"""Alias tables: other texts that mean an entity."""

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hyperhop._core import NameIndex
from hyperhop.graph.knowledge_graph import KnowledgeGraph

Aliases = Mapping[str, str | Iterable[str]] | str | os.PathLike[str]


class AliasTable:
    """Alias texts by id, in byte order, and the entities each of them means."""

    def __init__(self, kg: KnowledgeGraph, aliases: Aliases) -> None:
        """ValueError naming the row (or alias) that is wrong; see `EntityLinker`."""
        means: dict[str, set[int]] = {}
        for where, alias, name in _pairs(aliases):
            try:
                entity = kg.entity_id(name)
            except LookupError as error:
                raise ValueError(f"EntityLinker: aliases, {where}: {error}") from None
            means.setdefault(alias, set()).add(entity)
        texts = sorted(means)  # code point order, which is byte order
        self._entities = [tuple(sorted(means[text])) for text in texts]
        self._texts = texts

    @cached_property
    def names(self) -> NameIndex:
        """The texts by id."""
        encoded = [text.encode("utf-8") for text in self._texts]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(text) for text in encoded], out=offsets[1:])
        return NameIndex(np.frombuffer(b"".join(encoded), np.uint8), offsets)

    def __getstate__(self) -> dict[str, Any]:
        return {"_entities": self._entities, "_texts": self._texts}

    def entities(self, alias: int) -> tuple[int, ...]:
        """Entities that an alias means, ascending."""
        return self._entities[alias]


def _pairs(aliases: Aliases) -> Iterator[tuple[str, str, str]]:
    """(where it stands, alias, entity name) of every row."""
    if isinstance(aliases, Mapping):
        for alias, names in aliases.items():
            where = f"alias {alias!r}"
            for name in [names] if isinstance(names, str) else _listed(where, names):
                _check(where, alias, name)
                yield where, alias, name
    elif isinstance(aliases, str | os.PathLike):
        with Path(aliases).open(encoding="utf-8-sig", newline="\n") as lines:
            yield from _rows(os.fspath(aliases), lines)
    else:
        raise TypeError(
            "EntityLinker: aliases must be a mapping from alias to entity name or the path of a "
            f"table, got {type(aliases).__name__}"
        )


def _rows(path: str, lines: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    number = 0
    try:
        for number, line in enumerate(lines, 1):
            row = line.rstrip("\r\n")
            if not row.strip():
                continue
            where = f"{path}, line {number}"
            fields = row.split("\t")
            if len(fields) != 2:
                raise ValueError(
                    f"EntityLinker: aliases, {where}: expected alias TAB entity name, got "
                    f"{len(fields)} fields"
                )
            _check(where, *fields)
            yield where, fields[0], fields[1]
    except UnicodeDecodeError as error:
        raise ValueError(
            f"EntityLinker: aliases, {path}, after line {number}: not UTF-8 ({error.reason})"
        ) from None


def _listed(where: str, names: Any) -> list[Any]:
    try:
        return list(names)
    except TypeError:
        raise TypeError(
            f"EntityLinker: aliases, {where}: expected an entity name or several, got "
            f"{type(names).__name__}"
        ) from None


def _check(where: str, alias: Any, name: Any) -> None:
    for value in (alias, name):
        if not isinstance(value, str):
            raise TypeError(
                f"EntityLinker: aliases, {where}: expected str, got {type(value).__name__}"
            )
    if not alias.strip():
        raise ValueError(f"EntityLinker: aliases, {where}: the alias is empty")
    if any("\ud800" <= character <= "\udfff" for character in alias):
        raise ValueError(f"EntityLinker: aliases, {where}: the alias holds a lone surrogate")
