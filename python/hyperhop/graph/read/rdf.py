"""N-Triples, and how its terms become names."""

import re
from typing import Any

from hyperhop._extras import optional
from hyperhop.graph.read.open import BOM, Progress, opened
from hyperhop.graph.read.report import Intake, shortened
from hyperhop.graph.terms import decoded

SUFFIXES = (".nt",)
LITERALS = ("keep", "value", "skip")
BLANK_NODES = ("keep", "skip")

_CHUNK_BYTES = 1 << 16  # a chunk with a malformed line is parsed again, line by line
_WHERE = re.compile(r"^Parser error .*?: ")


def read_rdf(
    name: str, literals: str, blank_nodes: str, skip_bad: bool, progress: Progress | None
) -> Intake:
    """Triples of an N-Triples file."""
    rdf = optional("pyoxigraph", "reading N-Triples", "rdf")
    intake = Intake(name, "N-Triples", "line", "an N-Triples statement", skip_bad=skip_bad)
    terms = _Terms(rdf, literals, blank_nodes)
    number = 1
    with opened(name, progress) as (stream, report):
        chunk = stream.read(_CHUNK_BYTES).removeprefix(BOM)
        while chunk:
            chunk += stream.readline()
            if not _feed_whole(intake, terms, chunk):
                _feed_by_line(intake, terms, chunk, number)
            number += chunk.count(b"\n")
            report()
            chunk = stream.read(_CHUNK_BYTES)
    return intake


class _BadTerm(ValueError):
    """A term that cannot be a name."""


class _Terms:
    """Turns statements into rows of names."""

    def __init__(self, rdf: Any, literals: str, blank_nodes: str) -> None:
        self._parse = rdf.parse
        self._format = rdf.RdfFormat.N_TRIPLES
        self._iri, self._literal, self._blank = rdf.NamedNode, rdf.Literal, rdf.BlankNode
        self._literals = literals
        self._blank_nodes = blank_nodes

    def rows(self, data: bytes) -> tuple[list[tuple[str, str, str]], int, int]:
        """Rows, and how many statements the policy on literals and on blank nodes left out.

        Raises SyntaxError or _BadTerm.
        """
        rows = []
        without_literals = without_blanks = 0
        skip_literals, skip_blanks = self._literals == "skip", self._blank_nodes == "skip"
        for statement in self._parse(data, format=self._format):
            head, tail = statement.subject, statement.object
            if skip_blanks and (type(head) is self._blank or type(tail) is self._blank):
                without_blanks += 1
            elif skip_literals and type(tail) is self._literal:
                without_literals += 1
            else:
                relation = decoded(statement.predicate.value)
                rows.append((self._name(head), relation, self._name(tail)))
        return rows, without_literals, without_blanks

    def _name(self, term: Any) -> str:
        kind = type(term)
        if kind is self._iri:
            return decoded(term.value)
        if kind is self._blank:
            return str(term)
        if kind is not self._literal:
            raise _BadTerm("a triple in the place of a name")
        name: str = str(term) if self._literals == "keep" else term.value
        if not name:
            raise _BadTerm("an empty literal, which is no name")
        return name


def _feed_whole(intake: Intake, terms: _Terms, chunk: bytes) -> bool:
    """Add all statements of a chunk, or none and return False."""
    try:
        rows, without_literals, without_blanks = terms.rows(chunk)
    except (SyntaxError, _BadTerm):
        return False
    intake.check(intake.builder.add_rows(rows, [0] * len(rows)))
    intake.num_literals_skipped += without_literals
    intake.num_blank_nodes_skipped += without_blanks
    return True


def _feed_by_line(intake: Intake, terms: _Terms, chunk: bytes, number: int) -> None:
    for at, line in enumerate(chunk.split(b"\n")):
        if not _feed_whole(intake, terms, line):
            intake.reject(number + at, _fault(terms, line))


def _fault(terms: _Terms, line: bytes) -> str:
    text = shortened(line.decode("utf-8", "backslashreplace").rstrip())
    try:
        terms.rows(line)
    except _BadTerm as error:
        return f"{error} in {text}"
    except SyntaxError as error:
        return f"{_WHERE.sub('', str(error.msg))} in {text}"
    raise AssertionError("this line was refused")
