"""The bytes of a file, plain or compressed, and how far reading has come."""

import gzip
import importlib
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hyperhop._extras import optional
from hyperhop.graph.errors import UnreadableFile

Progress = Callable[[int, int], object]

BOM = b"\xef\xbb\xbf"
CHUNK_BYTES = 1 << 20
COMPRESSED = {".gz": "gzip", ".zst": "zstd"}
_MAGIC = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}


def suffixes(name: str) -> tuple[str, str]:
    """The suffix that tells the format, and .gz or .zst after it (or ""), in lower case."""
    inner, outer = os.path.splitext(name.lower())
    if outer not in COMPRESSED:
        return outer, ""
    return os.path.splitext(inner)[1], outer


@contextmanager
def opened(
    name: str, progress: Progress | None
) -> Iterator[tuple[io.BufferedReader, Callable[[], None]]]:
    """The file's decompressed bytes, and a function that reports how far reading has come."""
    with opened_raw(name) as raw:
        total = os.fstat(raw.fileno()).st_size
        outer = suffixes(name)[1]
        start = raw.peek(4)
        for suffix, magic in _MAGIC.items():
            if not outer and start.startswith(magic):
                raise UnreadableFile(
                    f"{name} is compressed by {COMPRESSED[suffix]}, "
                    f"but its name does not end in {suffix}"
                )

        def report() -> None:
            if progress is not None:
                progress(raw.tell(), total)

        yield (_decompressed(raw, name, outer) if outer else raw), report


def opened_raw(name: str) -> io.BufferedReader:
    """The file's bytes as they are. Raises FileNotFoundError or IsADirectoryError in words."""
    if os.path.isdir(name):
        raise IsADirectoryError(f"{name} is a directory, expected a file")
    try:
        return open(name, "rb")
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {name}") from None


def zstd_library() -> Any:
    """Python's own module from 3.14 on; None before."""
    return importlib.import_module("compression.zstd") if sys.version_info >= (3, 14) else None


def _decompressed(raw: io.BufferedReader, name: str, outer: str) -> io.BufferedReader:
    if outer == ".gz":
        return io.BufferedReader(_Decompressed(gzip.GzipFile(fileobj=raw), name, outer))
    if not raw.peek(4).startswith(_MAGIC[outer]):
        raise UnreadableFile(f"{name} is named {outer} but does not begin like zstd")
    if zstd := zstd_library():
        return io.BufferedReader(_Decompressed(zstd.ZstdFile(raw), name, outer, zstd.ZstdError))
    arrow = optional("pyarrow", "reading .zst", "arrow")
    stream = arrow.CompressedInputStream(arrow.PythonFile(raw, "r"), "zstd")
    return io.BufferedReader(_Decompressed(stream, name, outer, arrow.ArrowException))


class _Decompressed(io.RawIOBase):
    """A decompressing stream whose failures are UnreadableFile."""

    def __init__(
        self, stream: Any, name: str, suffix: str, fault: type[Exception] = zlib.error
    ) -> None:
        self._stream = stream
        self._name = name
        self._suffix = suffix
        self._faults = (OSError, EOFError, fault)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._stream.read(len(buffer))
        except self._faults as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the disk, not the data
            raise UnreadableFile(
                f"{self._name} is named {self._suffix} but cannot be read as "
                f"{COMPRESSED[self._suffix]}: {error}"
            ) from None
        buffer[: len(data)] = data
        return len(data)
