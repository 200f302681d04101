"""Names as RDF terms.

A name that is a term (an absolute IRI, a blank node, a literal) stands for itself; any other is the
IRI urn:hyperhop: + its percent-encoded UTF-8.
"""

import re
from typing import Any
from urllib.parse import quote, unquote

_PREFIX = "urn:hyperhop:"
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
_LITERAL = re.compile(r'"((?:[^"\\\n\r]|\\.)*)"(?:@([a-z0-9-]+)|\^\^<(\S+)>)?')
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "\\": "\\"}


def decoded(iri: str) -> str:
    """The name that an IRI stands for."""
    if iri.startswith(_PREFIX):
        name = unquote(iri[len(_PREFIX) :], errors="replace")
        if name and _encoded(name) == iri:
            return name
    return iri


class TermWriter:
    """Writes each name as the term that reads back as the very same name."""

    def __init__(self, rdf: Any) -> None:
        self._rdf = rdf

    def iri(self, name: str) -> str:
        """As a relation: an IRI."""
        if _IRI.fullmatch(name) and decoded(name) == name:
            try:
                return str(self._rdf.NamedNode(name))
            except ValueError:
                pass
        return f"<{_encoded(name)}>"

    def subject(self, name: str) -> str:
        """As a head: an IRI or a blank node."""
        if name.startswith("_:") and ":" not in name[2:]:
            try:
                if str(self._rdf.BlankNode(name[2:])) == name:
                    return name
            except ValueError:
                pass
        return self.iri(name)

    def object(self, name: str) -> str:
        """As a tail: an IRI, a blank node or a literal."""
        return name if name.startswith('"') and self._is_literal(name) else self.subject(name)

    def _is_literal(self, name: str) -> bool:
        """Is it a literal in the one form that reading gives it?"""
        found = _LITERAL.fullmatch(name)
        if found is None:
            return False
        text, language, datatype = found.groups()
        try:
            value = _ESCAPE.sub(_unescaped, text)
            kind = self._rdf.NamedNode(datatype) if datatype else None
            return str(self._rdf.Literal(value, language=language, datatype=kind)) == name
        except (KeyError, ValueError, OverflowError):
            return False


def _encoded(name: str) -> str:
    return _PREFIX + quote(name, safe="")


def _unescaped(escape: re.Match[str]) -> str:
    short, long, letter = escape.groups()
    return _ESCAPED[letter] if letter else chr(int(short or long, 16))
