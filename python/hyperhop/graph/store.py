"""The saved form of every index: a directory of .npy files and one meta.json.

Data files carry a generation in their name and are never rewritten. A writer holds a lock, writes
the files of the next generation, and replaces meta.json last; so a reader, or a crash, meets either
the old state or the new one. Files of older generations stay until the next writer removes them,
because a reader may be between meta.json and the files it lists.
"""

import contextlib
import copy
import fcntl
import hashlib
import io
import json
import mmap
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop.graph.errors import DamagedStore

FORMAT_VERSION = 2
_META = "meta.json"
_LOCK = ".lock"
_DATA_FILE = re.compile(r"([a-z_]+)\.(\d+)\.npy")
_NPY_START = b"\x93NUMPY\x01\x00"
# What NumPy writes for a one-dimensional array of plain numbers; anything else is not ours.
_NPY_HEADER = re.compile(
    r"\{'descr': '([|<][iuf]\d)', 'fortran_order': False, 'shape': \((\d+),\), \} *\n"
)


@dataclass(frozen=True)
class Stored:
    """An opened directory: arrays by name (read-only, memory-mapped), counts and settings."""

    arrays: dict[str, npt.NDArray[Any]]
    counts: dict[str, int]
    settings: dict[str, Any] | None


def save(
    directory: str | os.PathLike[str],
    kind: str,
    arrays: Mapping[str, npt.NDArray[Any]],
    counts: Mapping[str, int],
    settings: Mapping[str, Any] | None,
    optional: Iterable[str] = (),
) -> None:
    """Write one-dimensional arrays as a new generation of `directory`.

    `optional` names arrays that older generations may hold; they are removed with those.
    Waits while another process writes there. Raises DamagedStore where the directory holds a
    meta.json of something else, TypeError or ValueError where `settings` is not JSON.
    """
    path = Path(directory)
    stored_settings = None if settings is None else _plain_json(settings)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise NotADirectoryError(f"{path} is not a directory, cannot save there") from None
    with _write_lock(path):
        old = meta_to_replace(path, kind)
        current = old.get("generation", 0)
        ours = {*arrays, *optional, *old.get("arrays", ())}  # nobody else's .npy files are touched
        for name in os.listdir(path):
            match = _DATA_FILE.fullmatch(name)
            if match and match[1] in ours and int(match[2]) != current:
                os.unlink(path / name)
        generation = current + 1
        entries = {
            name: _write_array(path / f"{name}.{generation}.npy", array)
            for name, array in arrays.items()
        }
        _sync_directory(path)
        _replace_meta(
            path,
            {
                "format": "hyperhop",
                "version": FORMAT_VERSION,
                "kind": kind,
                "generation": generation,
                "counts": dict(counts),
                "settings": stored_settings,
                "arrays": entries,
            },
        )


def content_id(arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """16 hexadecimal digits that stand for arrays, their names and dtypes. O(bytes)."""
    checksum = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        checksum.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        checksum.update(array.data)
    return checksum.hexdigest()[:16]


def load(
    directory: str | os.PathLike[str], kind: str | tuple[str, ...], verify: bool = False
) -> Stored:
    """Map the arrays of a saved directory of a kind, or of one of several kinds.

    Names, headers, sizes and the checksum of meta.json are always checked, the checksums of the
    array files with `verify` (which reads them all). Raises DamagedStore, or FileNotFoundError
    where there is no such directory.
    """
    path = Path(directory)
    meta = read_meta(path, kind)
    while True:
        try:
            arrays = {
                name: _map_array(path, name, entry, meta["generation"], verify)
                for name, entry in meta["arrays"].items()
            }
        except FileNotFoundError as error:
            newer = read_meta(path, kind)
            if newer["generation"] == meta["generation"]:
                raise DamagedStore(f"{path} lacks the file {Path(error.filename).name}") from None
            meta = newer  # a writer came between
            continue
        return Stored(arrays, meta["counts"], copy.deepcopy(meta["settings"]))


def read_meta(
    directory: str | os.PathLike[str], kind: str | tuple[str, ...] | None = None
) -> dict[str, Any]:
    """What meta.json says, checked against its own checksum and, if given, the kind or kinds.

    Raises DamagedStore, or FileNotFoundError where there is no such directory.
    """
    path = Path(directory)
    try:
        data = (path / _META).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        if not path.exists():
            raise FileNotFoundError(f"there is no directory {path}") from None
        if (path / _LOCK).exists():
            raise DamagedStore(
                f"{path} holds no {_META}: writing it was interrupted, write it again"
            ) from None
        raise DamagedStore(f"{path} is not a hyperhop directory: it holds no {_META}") from None
    meta = _parse(data)
    if meta is None or meta.get("format") != "hyperhop":
        raise DamagedStore(f"{path / _META} is not one that hyperhop wrote, or it is damaged")
    version = meta.get("version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise DamagedStore(
            f"{path} has format version {version}, this hyperhop reads up to {FORMAT_VERSION}: "
            "it was written by a newer hyperhop"
        )
    if isinstance(version, int) and version < FORMAT_VERSION:
        raise DamagedStore(
            f"{path} has format version {version}, this hyperhop reads version {FORMAT_VERSION}: "
            "index its triples again"
        )
    # Comparing whole bytes finds a change anywhere in the file, white space included.
    if _encode({key: meta[key] for key in meta if key != "checksum"}) != data:
        raise DamagedStore(f"{path / _META} is damaged: its checksum does not match")
    kinds = (kind,) if isinstance(kind, str) else kind
    if kinds is not None and meta["kind"] not in kinds:
        expected = " or ".join(map(repr, kinds))
        raise DamagedStore(f"{path} holds an index of kind {meta['kind']!r}, expected {expected}")
    return meta


def saved_at(directory: str | os.PathLike[str]) -> float:
    """When the directory was saved last, by its file system: seconds since 1970."""
    return (Path(directory) / _META).stat().st_mtime


def _plain_json(settings: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(settings, Mapping):
        raise TypeError(f"save: settings must be a mapping, got {type(settings).__name__}")
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(settings), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise type(error)(f"save: settings must be plain JSON: {error}") from None
    return plain


def _parse(data: bytes) -> dict[str, Any] | None:
    try:
        meta = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return meta if isinstance(meta, dict) else None


def _encode(meta: dict[str, Any]) -> bytes:
    def text(value: dict[str, Any]) -> str:
        return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"

    checksum = hashlib.sha256(text(meta).encode("utf-8", "surrogatepass")).hexdigest()
    return text({**meta, "checksum": checksum}).encode("utf-8", "surrogatepass")


@contextlib.contextmanager
def _write_lock(path: Path) -> Iterator[None]:
    """Held by one writer at a time; the system releases it when the process ends."""
    descriptor = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def meta_to_replace(path: Path, kind: str) -> dict[str, Any]:
    """The meta.json that readers may be using; empty if there is none.

    Raises DamagedStore where the directory holds something else than an index of this kind, which
    `save` would refuse to replace.
    """
    if not (path / _META).exists():
        return {}
    try:
        return read_meta(path, kind)
    except DamagedStore as error:
        raise DamagedStore(f"{error}; remove it or choose another directory") from None


def _write_array(path: Path, array: npt.NDArray[Any]) -> dict[str, Any]:
    values = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(values))
    checksum = hashlib.sha256()
    with open(path, "wb") as file:
        for part in (header.getbuffer(), values.view(np.uint8).data):
            file.write(part)
            checksum.update(part)
        file.flush()
        os.fsync(file.fileno())
    return {
        "file": path.name,
        "dtype": values.dtype.str,
        "length": len(values),
        "sha256": checksum.hexdigest(),
    }


def _replace_meta(path: Path, meta: dict[str, Any]) -> None:
    temporary = path / f"{_META}.new"
    with open(temporary, "wb") as file:
        file.write(_encode(meta))
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path / _META)
    _sync_directory(path)


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _map_array(
    directory: Path, name: str, entry: dict[str, Any], generation: int, verify: bool
) -> npt.NDArray[Any]:
    if entry["file"] != f"{name}.{generation}.npy":
        raise DamagedStore(f"{directory / _META} lists {entry['file']!r}, not a file of its own")
    path = directory / entry["file"]
    with open(path, "rb") as file:
        start = file.read(10)
        header_size = int.from_bytes(start[8:], "little")
        header = _NPY_HEADER.fullmatch(file.read(header_size).decode("latin-1"))
        if start[:8] != _NPY_START or header is None:
            raise DamagedStore(f"{path} is damaged: it does not begin like a .npy file of hyperhop")
        dtype = np.dtype(entry["dtype"])
        length = entry["length"]
        if header[1] != entry["dtype"] or int(header[2]) != length:
            raise DamagedStore(f"{path} is damaged: its header does not agree with {_META}")
        offset = 10 + header_size
        expected = offset + length * dtype.itemsize
        size = os.fstat(file.fileno()).st_size
        if size != expected:
            raise DamagedStore(f"{path} is damaged: it has {size} bytes, expected {expected}")
        if verify:
            file.seek(0)
            if hashlib.file_digest(file, "sha256").hexdigest() != entry["sha256"]:
                raise DamagedStore(f"{path} is damaged: its checksum does not match")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(mapped, dtype, length, offset)
