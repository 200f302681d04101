"""The records of the package ``countryinfo`` and the English names of the codes they hold."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

Record = dict[str, Any]


@cache
def country_records() -> tuple[Record, ...]:
    """Return every country record of ``countryinfo``, in file order, without its map outline.

    The package's JSON files are read as they are: its accessor functions return one country at a
    time and hide records that share a name. Raises ImportError where the package is missing.
    """
    try:
        folder = resources.files("countryinfo") / "data"
    except ModuleNotFoundError as error:
        raise ImportError(
            "the demo graph needs the extra 'demo': pip install \"hyperhop[demo]\""
        ) from error
    records = []
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".json"):
            record: Record = json.loads(file.read_text(encoding="utf-8"))
            record.pop("geoJSON", None)
            records.append(record)
    return tuple(records)


def language_name(code: str) -> str | None:
    """Return the English name of an ISO 639 language code, None where babel knows none."""
    return _english("languages").get(code)


def currency_name(code: str) -> str | None:
    """Return the English name of an ISO 4217 currency code, None where babel knows none."""
    return _english("currencies").get(code)


def territory_name(code: str) -> str | None:
    """Return the English name of an ISO 3166 alpha-2 code, None where it is not assigned now."""
    return _english("territories").get(code)


@cache
def _english(table: str) -> dict[str, str]:
    try:
        from babel import Locale
    except ImportError as error:
        raise ImportError(
            "the demo graph needs the extra 'demo': pip install \"hyperhop[demo]\""
        ) from error
    return dict(getattr(Locale("en"), table))
