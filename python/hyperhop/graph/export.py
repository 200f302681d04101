"""Writing all facts of a graph to a file."""

import csv
import gzip
import io
import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from hyperhop._extras import optional
from hyperhop.graph.facts import Facts, Text
from hyperhop.graph.read.open import BOM, Progress, suffixes, zstd_library
from hyperhop.graph.terms import TermWriter

_ROW_GROUP = 1 << 20  # rows of a table held in memory at once
_Write = Callable[[Facts, BinaryIO, Callable[[int], None]], None]


def export(facts: Facts, path: str | os.PathLike[str], progress: Progress | None) -> None:
    """Write `facts`; see `KnowledgeGraph.export`."""
    name = os.fspath(path)
    suffix, compression = suffixes(name)
    write = _WRITERS.get(suffix)
    if write is None:
        raise ValueError(
            f"export: cannot tell the format of {name}: expected one of {', '.join(_WRITERS)}, "
            "those of text also with .gz or .zst"
        )
    if compression and suffix in (".parquet", ".arrow"):
        raise ValueError(
            f"export: {name}: a {suffix} file is not compressed again: leave {compression} out"
        )
    done = 0

    def told(rows: int) -> None:
        nonlocal done
        done += rows
        if progress is not None:
            progress(done, facts.num_triples)

    with replaced(name) as file, compressed(file, compression) as stream:
        write(facts, stream, told)


@contextmanager
def replaced(name: str) -> Iterator[BinaryIO]:
    """A file beside `name` that takes its place when all went well, and is removed if not."""
    if os.path.isdir(name):
        raise IsADirectoryError(f"{name} is a directory, expected a file to write")
    folder, base = os.path.split(name)
    temporary = os.path.join(folder, f".{base}.{secrets.token_hex(4)}.part")
    try:
        file = open(temporary, "xb")  # noqa: SIM115  (closed below)
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no directory {folder}") from None
    try:
        with file:
            yield file  # a compressor may close it
        _sync(temporary)
        os.replace(temporary, name)
    except BaseException:
        os.unlink(temporary)
        raise


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def compressed(file: BinaryIO, compression: str) -> Iterator[BinaryIO]:
    """What is written through it reaches `file` compressed as ".gz" or ".zst" says; "": as is."""
    stream: Any
    if not compression:
        yield file
        return
    if compression == ".gz":
        # Neither name nor time: the same facts give the same bytes.
        stream = gzip.GzipFile("", "wb", 6, file, mtime=0)
    elif zstd := zstd_library():
        stream = zstd.ZstdFile(file, "wb")
    else:
        arrow = optional("pyarrow", "writing .zst", "arrow")
        stream = arrow.CompressedOutputStream(arrow.PythonFile(file, "w"), "zstd")
    with stream:
        yield stream


def _write_tsv(facts: Facts, stream: BinaryIO, told: Callable[[int], None]) -> None:
    first = True
    for part in facts.parts():
        rows = len(part[0])
        lines = facts.lines(part)
        if lines.count(b"\t") != 2 * rows or lines.count(b"\n") != rows or b"\r" in lines:
            for triple in facts.names(part):
                if any(mark in name for name in triple for mark in "\t\n\r"):
                    raise ValueError(
                        f"export: the triple {triple!r} holds a tab or a line end, which .tsv "
                        "cannot: write .csv, .jsonl, .nt, .parquet or .arrow"
                    )
        # Readers drop one byte order mark; a name may begin with one of its own.
        stream.write(BOM + lines if first and lines.startswith(BOM) else lines)
        first = False
        told(rows)


def _write_csv(facts: Facts, stream: BinaryIO, told: Callable[[int], None]) -> None:
    most = csv.field_size_limit()
    for number, part in enumerate(facts.parts()):
        text = io.StringIO(newline="")
        triples = list(facts.names(part))
        if any(len(name) > most for triple in triples for name in triple):
            raise ValueError(
                f"export: a name has more than {most:,} characters, which readers of .csv refuse: "
                "write .tsv, .jsonl, .nt, .parquet or .arrow"
            )
        csv.writer(text).writerows(triples)  # lines end in \r\n, so both are quoted
        rows = text.getvalue().encode("utf-8")
        stream.write(BOM + rows if number == 0 and rows.startswith(BOM) else rows)
        told(len(part[0]))


def _write_json_lines(facts: Facts, stream: BinaryIO, told: Callable[[int], None]) -> None:
    quoted = json.JSONEncoder(ensure_ascii=False).encode
    for part in facts.parts():
        lines = "".join(
            f'{{"head": {quoted(head)}, "relation": {quoted(relation)}, "tail": {quoted(tail)}}}\n'
            for head, relation, tail in facts.names(part)
        )
        stream.write(lines.encode("utf-8"))
        told(len(part[0]))


def _write_rdf(facts: Facts, stream: BinaryIO, told: Callable[[int], None]) -> None:
    terms = TermWriter(optional("pyoxigraph", "writing N-Triples", "rdf"))
    relations: dict[str, str] = {}
    for part in facts.parts():
        lines = []
        subject, last = "", None
        for head, relation, tail in facts.names(part):
            if head != last:
                subject, last = terms.subject(head), head
            if relation not in relations:
                relations[relation] = terms.iri(relation)
            lines.append(f"{subject} {relations[relation]} {terms.object(tail)} .\n")
        stream.write("".join(lines).encode("utf-8"))
        told(len(part[0]))


def _write_parquet(facts: Facts, stream: BinaryIO, told: Callable[[int], None]) -> None:
    pa = optional("pyarrow", "writing Parquet", "arrow")
    parquet = optional("pyarrow.parquet", "writing Parquet", "arrow")
    with parquet.ParquetWriter(stream, _schema(pa), compression="zstd") as writer:
        for part in facts.parts(_ROW_GROUP):
            writer.write_batch(_record_batch(pa, facts.text(part)))
            told(len(part[0]))


def _write_arrow(facts: Facts, stream: BinaryIO, told: Callable[[int], None]) -> None:
    pa = optional("pyarrow", "writing Arrow", "arrow")
    with pa.ipc.new_file(stream, _schema(pa)) as writer:
        for part in facts.parts():
            writer.write_batch(_record_batch(pa, facts.text(part)))
            told(len(part[0]))


_WRITERS: dict[str, _Write] = {
    ".tsv": _write_tsv,
    ".csv": _write_csv,
    ".jsonl": _write_json_lines,
    ".nt": _write_rdf,
    ".parquet": _write_parquet,
    ".arrow": _write_arrow,
}


def _schema(pa: Any) -> Any:
    return pa.schema([(name, pa.large_string()) for name in ("head", "relation", "tail")])


def _record_batch(pa: Any, columns: tuple[Text, Text, Text]) -> Any:
    arrays = [
        pa.LargeStringArray.from_buffers(
            len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(text)
        )
        for text, offsets in columns
    ]
    return pa.record_batch(arrays, schema=_schema(pa))
