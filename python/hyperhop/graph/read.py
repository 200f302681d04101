"""Triples from a file or an iterable, as the arrays of a graph."""

import csv
import gzip
import io
import itertools
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from hyperhop._core import TripleBuilder
from hyperhop.graph.errors import MalformedLine, UnreadableFile

Progress = Callable[[int, int], object]
Triples = Iterable[Iterable[str]]
_Stream = io.BufferedReader | gzip.GzipFile

_CHUNK_BYTES = 1 << 20
_BATCH_ROWS = 4096
_EXCERPT_CHARACTERS = 80
_BOM = b"\xef\xbb\xbf"
_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True)
class BuildReport:
    """What building a graph met.

    Attributes:
        num_read: well-formed triples, duplicates included.
        num_duplicates: triples equal to an earlier one; they were merged.
        num_skipped: malformed lines that were left out.
        skipped: line (or item) number and fault of the first ten of them.
    """

    num_read: int
    num_duplicates: int
    num_skipped: int
    skipped: tuple[tuple[int, str], ...]


def read_triples(
    source: str | os.PathLike[str] | Triples,
    *,
    delimiter: str | None = None,
    header: bool = False,
    skip_bad: bool = False,
    progress: Progress | None = None,
) -> tuple[dict[str, npt.NDArray[Any]], BuildReport]:
    """Arrays of the graph that `source` holds; see `KnowledgeGraph.from_triples`."""
    builder = TripleBuilder(skip_bad)
    if isinstance(source, str | os.PathLike):
        name = os.fspath(source)
        if not isinstance(name, str):
            raise TypeError(f"from_triples: a path must be str, got {type(name).__name__}")
        delimiter, quoted = _format(name, delimiter)
        expected = f"3 non-empty fields separated by {_in_words(delimiter)}"
        with _opened(name, progress) as (stream, report):
            reading = _feed_csv if quoted else _feed_lines
            good = reading(builder, stream, delimiter, header, report)
    else:
        if delimiter is not None or header:
            raise TypeError("from_triples: delimiter and header belong to a file, not an iterable")
        name, expected = "", "3 non-empty str"
        good = _feed_items(builder, source)
    if not good:
        line, found, excerpt = builder.bad_lines[0]
        raise MalformedLine(name, line, expected, _fault(found, excerpt))
    arrays = builder.build()
    skipped = tuple((line, _fault(found, text)) for line, found, text in builder.bad_lines)
    return arrays, BuildReport(builder.num_read, builder.num_duplicates, builder.num_bad, skipped)


def _format(name: str, delimiter: str | None) -> tuple[str, bool]:
    """The delimiter of a file, and whether fields may be quoted."""
    suffix = os.path.splitext(name.lower().removesuffix(".gz"))[1]
    if delimiter is None:
        if suffix not in (".tsv", ".txt", ".csv"):
            raise ValueError(
                f"from_triples: cannot tell the format of {name}: "
                "expected .tsv, .txt or .csv (or one of them with .gz), or a delimiter"
            )
        return ("," if suffix == ".csv" else "\t"), suffix == ".csv"
    if not isinstance(delimiter, str):
        raise TypeError(f"from_triples: delimiter must be str, got {type(delimiter).__name__}")
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '\r\n"\0':
        raise ValueError(
            f"from_triples: delimiter must be one ASCII character, not a quote or a line end, "
            f"got {delimiter!r}"
        )
    return delimiter, suffix == ".csv"


def _in_words(delimiter: str) -> str:
    return {"\t": "a tab", " ": "a space"}.get(delimiter, repr(delimiter))


def _fault(found: str, excerpt: bytes) -> str:
    if not excerpt:
        return found
    text = excerpt.decode("utf-8", "backslashreplace")
    cut = " ..." if len(text) > _EXCERPT_CHARACTERS else ""
    return f"{found} in {text[:_EXCERPT_CHARACTERS]!r}{cut}"


@contextmanager
def _opened(name: str, progress: Progress | None) -> Iterator[tuple[_Stream, Callable[[], None]]]:
    """The file's decompressed bytes, and a function that reports how far reading has come."""
    if os.path.isdir(name):
        raise IsADirectoryError(f"{name} is a directory, expected a file of triples")
    try:
        raw = open(name, "rb")  # noqa: SIM115  (closed below)
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {name}") from None
    with raw:
        total = os.fstat(raw.fileno()).st_size
        compressed = name.lower().endswith(".gz")
        if not compressed and raw.peek(2)[:2] == _GZIP_MAGIC:
            raise UnreadableFile(f"{name} is compressed by gzip, but its name does not end in .gz")

        def report() -> None:
            if progress is not None:
                progress(raw.tell(), total)

        try:
            stream = gzip.GzipFile(fileobj=raw) if compressed else raw
            yield stream, report
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise UnreadableFile(
                f"{name} is named .gz but cannot be read as gzip: {error}"
            ) from None


def _feed_lines(
    builder: TripleBuilder,
    stream: _Stream,
    delimiter: str,
    header: bool,
    report: Callable[[], None],
) -> bool:
    if header:
        builder.skip_header()
    chunk = stream.read(_CHUNK_BYTES).removeprefix(_BOM)
    while chunk:
        if not builder.feed(chunk, delimiter, False):
            return False
        report()
        chunk = stream.read(_CHUNK_BYTES)
    return builder.feed(b"", delimiter, True)


def _feed_csv(
    builder: TripleBuilder,
    stream: _Stream,
    delimiter: str,
    header: bool,
    report: Callable[[], None],
) -> bool:
    # Bytes that are not UTF-8 become lone surrogates, which the builder refuses with their line.
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
    rows = csv.reader(text, delimiter=delimiter, strict=True)
    while True:
        batch: list[list[str]] = []
        lines: list[int] = []
        fault = None
        try:
            for row in rows:
                if not row or (len(row) == 1 and not row[0].strip(" ")):
                    continue
                if header:
                    header = False
                    continue
                batch.append(row)
                lines.append(rows.line_num)
                if len(batch) == _BATCH_ROWS:
                    break
        except csv.Error as error:
            fault = str(error)
        good = builder.add_rows(batch, lines)
        if good and fault is not None:
            good = builder.reject(rows.line_num, fault)
        report()
        if not good or (fault is None and len(batch) < _BATCH_ROWS):
            text.detach()  # the caller closes the stream
            return good


def _feed_items(builder: TripleBuilder, items: Triples) -> bool:
    if not isinstance(items, Iterable):
        raise TypeError(
            f"from_triples: expected a path or an iterable of triples, got {type(items).__name__}"
        )
    remaining = iter(items)
    number = 1
    while batch := list(itertools.islice(remaining, _BATCH_ROWS)):
        if not builder.add_rows(batch, list(range(number, number + len(batch)))):
            return False
        number += len(batch)
    return True
