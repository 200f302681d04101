"""Rows on disk by key: append-only files that several processes may write at once."""

import contextlib
import fcntl
import json
import os
import threading
import zlib
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Storage = Literal["float32", "float16"]
KEY_BYTES = 16
_CHECK_BYTES = 4
_FORMAT = "hyperhop rows 1"
_LONGEST_HEADER = 1 << 16
_READ_BYTES = 1 << 24


class RowFile:
    """Rows of one encoder in one storage type, looked up by 16-byte keys.

    NAME.rows holds each row and its checksum, NAME.keys one line that says what the rows are and
    then the keys, in the same order. A writer holds the lock on NAME.lock, appends rows and then
    their keys: what a killed writer left behind its last whole key does not count, and is written
    over by the next. Readers take no lock. Memory: the keys.
    """

    def __init__(self, folder: str | os.PathLike[str], name: str, storage: Storage) -> None:
        """Makes the folder; ValueError if its file for this name is damaged or of another kind."""
        os.makedirs(folder, exist_ok=True)
        label = blake2b(f"{storage} {name}".encode("utf-8", "surrogatepass"), digest_size=10)
        base = Path(folder) / label.hexdigest()
        self.path = base.with_suffix(".rows")
        self._keys_path, self._lock_path = base.with_suffix(".keys"), base.with_suffix(".lock")
        self._what = {"format": _FORMAT, "name": name, "storage": storage}
        self._dtype = np.dtype(storage).newbyteorder("<")
        self._mutex = threading.Lock()
        self._forget()
        with self._mutex:
            self._refresh()

    @property
    def dim(self) -> int | None:
        """Length of the rows; None while there is none."""
        return self._dim

    def read(self, keys: Sequence[bytes], rows: npt.NDArray[Any]) -> tuple[list[int], int]:
        """Fill `rows`; returns the places of keys that are not here, and how many are damaged.

        A damaged row is not here either. One read of the disk a row.
        """
        with self._mutex:
            self._refresh()
            numbers = [self._numbers.get(key) for key in keys]
        missing, damaged = [place for place, n in enumerate(numbers) if n is None], 0
        if len(missing) == len(keys):
            return missing, 0
        if not self.path.exists():
            return list(range(len(keys))), len(keys) - len(missing)
        with _opened(self.path, os.O_RDONLY) as file:
            for place, number in enumerate(numbers):
                if number is None:
                    continue
                record = os.pread(file, self._record, number * self._record)
                row, check = record[:-_CHECK_BYTES], record[-_CHECK_BYTES:]
                if len(record) == self._record and check == _check(keys[place], row):
                    rows[place] = np.frombuffer(row, self._dtype)
                else:
                    missing.append(place)
                    damaged += 1
        return sorted(missing), damaged

    def append(self, keys: Sequence[bytes], rows: npt.NDArray[Any]) -> None:
        """Add rows of the storage type; where a key is here already, the new row counts.

        ValueError if the rows here have another length.
        """
        packed = np.ascontiguousarray(rows, self._dtype)
        pairs = zip(keys, packed, strict=True)
        records = b"".join(row.tobytes() + _check(key, row.tobytes()) for key, row in pairs)
        with self._mutex, _locked(self._lock_path):
            self._refresh()
            with (
                _opened(self._keys_path, os.O_RDWR | os.O_CREAT) as key_file,
                _opened(self.path, os.O_RDWR | os.O_CREAT) as row_file,
            ):
                if self._dim is None:
                    os.ftruncate(key_file, 0)
                    line = json.dumps({**self._what, "dim": packed.shape[1]}) + "\n"
                    _write(key_file, line.encode("ascii"), 0)
                    self._refresh()
                if packed.shape[1] != self._dim:
                    raise ValueError(
                        f"{self._keys_path} holds rows of dim {self._dim} of "
                        f"{self._what['name']!r}, got {packed.shape[1]}: use another folder"
                    )
                _write(row_file, records, self._count * self._record)
                _write(key_file, b"".join(keys), self._header + self._count * KEY_BYTES)
            self._refresh()

    def _forget(self) -> None:
        self._file_id: int | None = None
        self._dim: int | None = None
        self._header = self._record = self._count = 0
        self._numbers: dict[bytes, int] = {}

    def _refresh(self) -> None:
        """Take notice of what was appended since, by whichever process."""
        try:
            opened = os.open(self._keys_path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            self._forget()
            return
        try:
            found = os.fstat(opened)
            known = self._header + self._count * KEY_BYTES
            if self._dim is None or found.st_ino != self._file_id or found.st_size < known:
                self._forget()  # the first look at it, or another file
                self._read_header(opened)
                self._file_id = found.st_ino
            if self._dim is not None:
                whole = (found.st_size - self._header) // KEY_BYTES
                self._read_keys(opened, whole)
        finally:
            os.close(opened)

    def _read_header(self, keys: int) -> None:
        line, newline, _ = os.pread(keys, _LONGEST_HEADER, 0).partition(b"\n")
        if not newline and len(line) < _LONGEST_HEADER:
            return  # its writer was killed: the next one starts over
        try:
            told = json.loads(line)
        except ValueError:
            told = None
        dim = told.get("dim") if isinstance(told, dict) else None
        if type(dim) is not int or dim < 1 or told != {**self._what, "dim": dim}:
            raise ValueError(
                f"{self._keys_path} is damaged or of another version: remove it, its rows are "
                "encoded again"
            )
        self._dim, self._header = dim, len(line) + 1
        self._record = dim * self._dtype.itemsize + _CHECK_BYTES

    def _read_keys(self, keys: int, whole: int) -> None:
        step = _READ_BYTES // KEY_BYTES
        while self._count < whole:
            size = min(whole - self._count, step) * KEY_BYTES
            block = os.pread(keys, size, self._header + self._count * KEY_BYTES)
            for start in range(0, len(block) - KEY_BYTES + 1, KEY_BYTES):
                self._numbers[block[start : start + KEY_BYTES]] = self._count
                self._count += 1
            if len(block) < size:
                return  # cut off meanwhile


def _check(key: bytes, row: bytes) -> bytes:
    return zlib.crc32(row, zlib.crc32(key)).to_bytes(_CHECK_BYTES, "little")


def _write(file: int, data: bytes, offset: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(file, view, offset)
        view, offset = view[written:], offset + written


@contextlib.contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o666)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One writer at a time; the system releases it when the process ends."""
    # opened anew each time: a forked child would share the lock of an open file
    with _opened(path, os.O_RDWR | os.O_CREAT) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
