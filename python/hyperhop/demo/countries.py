"""Triples about the countries of the world, built from the records of ``countryinfo``.

Entities are plain English names. Where one name belongs to different things ("Georgia" the country
and the US state, "Spanish" the language and the demonym), only the first kind of ``KINDS`` keeps
the plain name and the others say what they are: "Georgia (province of United States)", "Spanish
(demonym)". Where two things of that first kind share it, none keeps it: "Kingston (capital of
Jamaica)". So no path of the graph can step from one thing to its namesake. Facts are those of the
package, its mistakes included; whatever cannot be turned into a fact is listed, never guessed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from hyperhop.demo.records import (
    Record,
    country_records,
    currency_name,
    language_name,
    territory_name,
)

Triple = tuple[str, str, str]

# Who keeps the plain name; kinds that follow are told apart by a note in parentheses.
KINDS = (
    "country",
    "capital",
    "language",
    "currency",
    "region",
    "province",
    "demonym",
    "name",
    "time zone",
    "calling code",
    "domain",
)
_NOTE = re.compile(r" \((?:(?:capital|province) of .+|" + "|".join(KINDS) + r")\)$")


@dataclass
class Countries:
    """Triples in record order, and one line for everything that was left out or merged."""

    triples: list[Triple]
    notes: list[str]


class _Thing(NamedTuple):
    """Something a record names: equal things are one entity."""

    kind: str
    label: str
    owner: str = ""  # tells things of one kind and label apart (provinces, capitals)


@dataclass
class _Country:
    """All records of one ISO 3166 alpha-3 code, merged."""

    name: str
    records: list[Record] = field(default_factory=list)

    def values(self, key: str, separators: str = "") -> list[str]:
        """Return the distinct texts that the records hold under a key, in order."""
        found: dict[str, None] = {}
        for record in self.records:
            value = record.get(key)
            for text in value if isinstance(value, list) else [value] if value else []:
                for part in re.split(separators, text) if separators else [text]:
                    if name := " ".join(part.split()):
                        found[name] = None
        return list(found)


def country_triples() -> Countries:
    """Build the demo graph's triples. Raises ImportError where a package of the demo is missing."""
    notes: list[str] = []
    countries = _merged_countries(notes)
    facts = [fact for code in countries for fact in _facts_of(countries, code, notes)]
    names = _entity_names([thing for head, _, tail in facts for thing in (head, tail)])
    return Countries([(names[h], relation, names[t]) for h, relation, t in facts], notes)


def plain_name(entity: str) -> str:
    """Return an entity's name without the note that tells it from its namesakes."""
    return _NOTE.sub("", entity)


def _merged_countries(notes: list[str]) -> dict[str, _Country]:
    """Group the records by alpha-3 code; the shortest of several names is the country's name.

    States that no longer exist are left out: their capitals and names now belong to others.
    """
    countries: dict[str, _Country] = {}
    for record in country_records():
        code, name = record["ISO"]["alpha3"], record["name"]
        if territory_name(record["ISO"]["alpha2"]) is None:
            notes.append(f"{name}: left out, its code {code!r} is no longer assigned")
            continue
        country = countries.setdefault(code, _Country(name))
        if country.records:
            notes.append(f"{code}: records {country.name!r} and {name!r} are one country")
        country.records.append(record)
        country.name = min(country.name, name, key=lambda text: (len(text), text))
    return countries


def _facts_of(
    countries: dict[str, _Country], code: str, notes: list[str]
) -> Iterator[tuple[_Thing, str, _Thing]]:
    country = countries[code]
    head = _Thing("country", country.name)
    for city in country.values("capital", separators="/"):
        yield head, "capital", _Thing("capital", city, country.name)
    for border in country.values("borders"):
        neighbour = countries.get(border) or _by_alpha2(countries, border)
        if neighbour is None:
            notes.append(f"{country.name}: no record for the border code {border!r}")
        else:
            yield head, "borders", _Thing("country", neighbour.name)
    for key, relation, name_of in (
        ("languages", "language", language_name),
        ("currencies", "currency", currency_name),
    ):
        for item in country.values(key):
            if name := name_of(item):
                yield head, relation, _Thing(relation, name)
            else:
                notes.append(f"{country.name}: no name for the {relation} code {item!r}")
    for key, relation in (
        ("region", "region"),
        ("subregion", "subregion"),
        ("intermediateregion", "intermediate_region"),
    ):
        for name in country.values(key):
            yield head, relation, _Thing("region", name)
    for name in country.values("provinces"):
        yield head, "province", _Thing("province", name, country.name)
    for name in country.values("demonym", separators="[,/]"):
        yield head, "demonym", _Thing("demonym", name)
    for name in country.values("timezones"):
        yield head, "time_zone", _Thing("time zone", name)
    for name in country.values("callingCodes"):
        yield head, "calling_code", _Thing("calling code", f"+{name}")
    for name in country.values("tld"):
        yield head, "internet_domain", _Thing("domain", name)
    for name in _other_names(country):
        yield head, "also_called", _Thing("name", name)


def _other_names(country: _Country) -> list[str]:
    """Alternative spellings, without ISO codes: in a question, IN, ARE and PER are plain words."""
    codes = {record["ISO"][key] for record in country.records for key in ("alpha2", "alpha3")}
    names = country.values("name") + country.values("altSpellings")
    return [name for name in dict.fromkeys(names) if name not in codes | {country.name}]


def _by_alpha2(countries: dict[str, _Country], code: str) -> _Country | None:
    """Find a country by its two-letter code, which a few records use among their borders."""
    for country in countries.values():
        if any(record["ISO"]["alpha2"] == code for record in country.records):
            return country
    return None


def _entity_names(things: list[_Thing]) -> dict[_Thing, str]:
    """Give every thing a name of its own, equal for equal things (rule: module docstring)."""
    namesakes: defaultdict[str, dict[_Thing, None]] = defaultdict(dict)
    for thing in things:
        namesakes[thing.label.casefold()][thing] = None
    names: dict[_Thing, str] = {}
    for group in namesakes.values():
        first_kind = min((thing.kind for thing in group), key=KINDS.index)
        firsts = [thing for thing in group if thing.kind == first_kind]
        for thing in group:
            note = f"{thing.kind} of {thing.owner}" if thing.owner else thing.kind
            names[thing] = thing.label if firsts == [thing] else f"{thing.label} ({note})"
    return names
