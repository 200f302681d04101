"""Settings of a training, as options and files give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from hyperhop.cli.values import named_value
from hyperhop.rsf.training import Settings, preset
from hyperhop.rsf.training.toml import read_toml
from hyperhop.text.registry import encoder_name

Preset = Annotated[
    str,
    typer.Option(
        metavar="P",
        help="Settings to start from: cpu (minutes on two cores), or paper (appendix 10.2).",
    ),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="TOML with [model] and [training], which replace the preset's, and [encoder].",
    ),
]
Values = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="NAME=VALUE",
        help="Replace one setting by its name, such as hidden=256 or gate=false; may be repeated.",
        show_default=False,
    ),
]


def settings_of(
    name: str,
    config: Path | None,
    values: Sequence[str],
    needs: Mapping[str, Any],
    questions: int,
    **others: Any,
) -> Settings:
    """The preset for so many questions with these `needs`, then what the file, `others` and
    `values` replace.

    None among `others` replaces nothing. Where nobody names a radius it is the number of hops.
    """
    settings = preset(name, needs["hops"], questions).replaced(needs)
    named: set[str] = set()
    if config is not None:
        tables = read_toml(config)
        try:
            settings = settings.with_tables(tables)
        except TypeError as error:
            raise ValueError(f"{config}: {error}") from None
        named.update(tables.get("training", {}))
    settings = settings.replaced({key: value for key, value in others.items() if value is not None})
    known = {**settings.model.to_dict(), **settings.training.to_dict()}
    for text in values:
        value = named_value(known, text)
        settings = settings.replaced(value)
        named.update(value)
    if "radius" not in named:
        settings = settings.replaced({"radius": settings.model.hops})
    return settings


def encoder_of(config: Path | None, encoder: str | None) -> dict[str, str] | None:
    """The file's encoder as `open_encoder` takes it; None where it names none.

    ValueError where `encoder` is another one, and for a table that no encoder has.
    """
    table = {} if config is None else read_toml(config).get("encoder", {})
    if not table:
        return None
    texts = all(isinstance(value, str) for value in table.values())
    if "name" not in table or not table.keys() <= {"name", "query_prompt"} or not texts:
        raise ValueError(
            f"{config}: [encoder] must have a name and may have a query_prompt, both text, got "
            f"{table}"
        )
    if encoder is not None and encoder_name(encoder) != table["name"]:
        raise ValueError(
            f"{config} is for the encoder {table['name']!r}, got --encoder {encoder}: leave one of "
            "them out"
        )
    return {("encoder" if key == "name" else key): value for key, value in table.items()}
