"""NAME=VALUE on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

_TRUTH = {"true": True, "false": False}


def named_value(known: Mapping[str, Any], text: str) -> dict[str, Any]:
    """NAME=VALUE of --with, the value as the kind that the known one of this name has.

    typer.BadParameter for another name, and for a value of another kind.
    """
    name, equals, value = text.partition("=")
    if not equals or name not in known:
        raise typer.BadParameter(
            f"--with takes NAME=VALUE with one of {', '.join(sorted(known))}, got {text!r}"
        )
    kind = type(known[name])
    try:
        return {name: _TRUTH[value.lower()] if kind is bool else kind(value)}
    except (KeyError, ValueError):
        what = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise typer.BadParameter(f"--with {name}= takes {what}, got {value!r}") from None
