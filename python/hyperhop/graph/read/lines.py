"""Lines of fields: tab-separated, comma-separated, or with another delimiter."""

import csv
import io
from collections.abc import Callable, Generator, Sequence
from contextlib import closing

from hyperhop.graph.read.columns import Columns, find_columns
from hyperhop.graph.read.open import BOM, CHUNK_BYTES, Progress, opened
from hyperhop.graph.read.report import Intake

SUFFIXES = (".tsv", ".txt", ".csv")
_BATCH_ROWS = 4096
_Rows = Generator[tuple[int, list[str] | str], None, None]  # line number, and fields or a fault


def read_lines(
    name: str,
    suffix: str,
    delimiter: str | None,
    header: bool,
    columns: Columns | None,
    skip_bad: bool,
    progress: Progress | None,
) -> Intake:
    """Triples of a file of lines; `suffix` is its own, without .gz or .zst."""
    quoted = suffix == ".csv"
    separator = _separator(delimiter, quoted)
    intake = Intake(
        name,
        "comma-separated values" if quoted else f"lines split at {_in_words(separator)}",
        "line",
        f"3 non-empty fields separated by {_in_words(separator)}",
        skip_bad=skip_bad,
    )
    with opened(name, progress) as (stream, report):
        if quoted:
            _feed_csv(intake, stream, separator, header, columns, report)
        else:
            _feed_lines(intake, stream, separator, header, columns, report)
    return intake


def _separator(delimiter: str | None, quoted: bool) -> str:
    if delimiter is None:
        return "," if quoted else "\t"
    if not isinstance(delimiter, str):
        raise TypeError(f"from_triples: delimiter must be str, got {type(delimiter).__name__}")
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '\r\n"\0':
        raise ValueError(
            f"from_triples: delimiter must be one ASCII character, not a quote or a line end, "
            f"got {delimiter!r}"
        )
    return delimiter


def _in_words(delimiter: str) -> str:
    return {"\t": "a tab", " ": "a space"}.get(delimiter, repr(delimiter))


def _feed_lines(
    intake: Intake,
    stream: io.BufferedReader,
    delimiter: str,
    header: bool,
    columns: Columns | None,
    report: Callable[[], None],
) -> None:
    builder = intake.builder
    before = b""
    if header or columns:
        before, names = _read_header(stream, delimiter)
        places = _places(names, columns, intake.source)
        if places is not None:
            with closing(_split_lines(stream, delimiter, before.count(b"\n"))) as rows:
                _feed_rows(intake, rows, places, len(names), report)
            return
        builder.skip_header()
    chunk = before or stream.read(CHUNK_BYTES).removeprefix(BOM)
    while chunk:
        intake.check(builder.feed(chunk, delimiter, False))
        report()
        chunk = stream.read(CHUNK_BYTES)
    intake.check(builder.feed(b"", delimiter, True))


def _feed_csv(
    intake: Intake,
    stream: io.BufferedReader,
    delimiter: str,
    header: bool,
    columns: Columns | None,
    report: Callable[[], None],
) -> None:
    with closing(_csv_rows(stream, delimiter)) as rows:
        places, width = None, 3
        if header or columns:
            number, names = next(rows, (0, []))
            if isinstance(names, str):
                intake.reject(number, names)
            else:
                places, width = _places(names, columns, intake.source), len(names)
        _feed_rows(intake, rows, places, width, report)


def _read_header(stream: io.BufferedReader, delimiter: str) -> tuple[bytes, list[str]]:
    """The bytes through the first line that is not blank, and its fields."""
    read = stream.readline().removeprefix(BOM)
    line = read
    while line and not line.strip(b" \r\n"):
        line = stream.readline()
        read += line
    text = line.decode("utf-8", "backslashreplace").removesuffix("\n").removesuffix("\r")
    return read, text.split(delimiter)


def _places(
    names: Sequence[str], columns: Columns | None, source: str
) -> tuple[int, int, int] | None:
    """Where head, relation and tail stand; None where they are simply the three fields."""
    found = find_columns(names, columns, source)
    if found is None or found == tuple(names):
        return None
    head, relation, tail = (names.index(name) for name in found)
    return head, relation, tail


def _split_lines(stream: io.BufferedReader, delimiter: str, number: int) -> _Rows:
    # Bytes that are not UTF-8 become lone surrogates, which the builder refuses with their line.
    text = io.TextIOWrapper(stream, "utf-8", errors="surrogateescape", newline="\n")
    try:
        for line in text:
            number += 1
            line = line.removesuffix("\n").removesuffix("\r")
            if line.strip(" "):
                yield number, line.split(delimiter)
    finally:
        text.detach()  # the caller closes the stream


def _csv_rows(stream: io.BufferedReader, delimiter: str) -> _Rows:
    text = io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline="")
    rows = csv.reader(text, delimiter=delimiter, strict=True)
    try:
        while True:
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                yield rows.line_num, str(error)
                continue
            if row and (len(row) > 1 or row[0].strip(" ")):
                yield rows.line_num, row
    finally:
        text.detach()


def _feed_rows(
    intake: Intake,
    rows: _Rows,
    places: tuple[int, int, int] | None,
    width: int,
    report: Callable[[], None],
) -> None:
    """Rows of fields, or of a fault in words, into the builder."""
    batch: list[list[str]] = []
    numbers: list[int] = []

    def flush() -> None:
        intake.check(intake.builder.add_rows(batch, numbers))
        batch.clear()
        numbers.clear()
        report()

    for number, row in rows:
        if isinstance(row, str):
            flush()
            intake.reject(number, row)
        elif places is not None and len(row) != width:
            flush()
            intake.reject(number, f"{len(row)} fields where the header has {width}")
        else:
            batch.append(row if places is None else [row[place] for place in places])
            numbers.append(number)
            if len(batch) == _BATCH_ROWS:
                flush()
    flush()
