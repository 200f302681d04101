"""What a local model is: its files, wherever they lie and whatever their folder is called."""

import hashlib
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

_READ = (".json", ".txt", ".model", ".safetensors", ".bin", ".py")
_OTHER_FORMS = ("onnx", "openvino")  # folders with the same weights once more


def model_files(folder: Path) -> list[Path]:
    """Files of a model's folder that decide its vectors, in the order of their names."""
    found = []
    for path, folders, names in os.walk(folder):
        folders[:] = [n for n in folders if not n.startswith(".") and n not in _OTHER_FORMS]
        found += [Path(path) / name for name in names if name.endswith(_READ)]
    return sorted(found)


def content_id(folder: Path, files: Iterable[Path], more: str = "") -> str:
    """16 hexadecimal digits that stand for the contents of files of a folder, and for `more`.

    O(bytes): 0.1 to 0.3 s for 90 MB, once in a process while size and time of a file stay.
    """
    digest = hashlib.sha256(more.encode())
    for file in files:
        found = file.stat()
        digest.update(f"{file.relative_to(folder).as_posix()}\n".encode())
        digest.update(_digest(os.path.realpath(file), found.st_size, found.st_mtime_ns))
    return digest.hexdigest()[:16]


@lru_cache(maxsize=256)
def _digest(path: str, size: int, changed: int) -> bytes:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
