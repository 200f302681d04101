"""What is finished, on disk as soon as it is: one JSON line a passage.

A record is written whole, flushed and fsynced before the next one. So a killed process loses only
passages that were still being asked about, and so does a machine without power. A line that was
torn off in writing has no line end; it is ignored, and removed by the next run. A later line
replaces an earlier one of the same key. The file is locked (flock) while a run writes to it.
"""

import fcntl
import hashlib
import json
import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

from hyperhop.graph import DamagedStore
from hyperhop.help.extracted import ExtractedPassage
from hyperhop.help.passages import Passage
from hyperhop.help.prompts import PROMPT_VERSION

FILE = "extraction.jsonl"


def key(passage: Passage, model: str, calls: int) -> str:
    """Equal keys mean the same question to the same model about the same text."""
    asked = json.dumps([PROMPT_VERSION, model, calls, passage.id, passage.full_text])
    return hashlib.sha256(asked.encode()).hexdigest()


def finished(
    directory: str | os.PathLike[str], passages: dict[str, Passage]
) -> dict[str, ExtractedPassage]:
    """The recorded passages by key, of those asked for by key; failed ones are not finished.

    Raises DamagedStore where a whole line is not a record.
    """
    path = Path(directory) / FILE
    done: dict[str, ExtractedPassage] = {}
    try:
        file = open(path, "rb")  # noqa: SIM115  (closed below)
    except FileNotFoundError:
        return done
    with file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break  # torn off
            try:
                record = json.loads(line.decode("utf-8", "surrogatepass"))
                of = record.pop("key")
                record.pop("id")
                if of in passages:
                    record["triples"] = [(h, r, t) for h, r, t in record["triples"]]
                    done[of] = ExtractedPassage(passages[of], **record)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                raise DamagedStore(
                    f"{path}, line {number} is not a record of hyperhop; remove the line, and its "
                    "passage is asked about again"
                ) from None
    return {of: passage for of, passage in done.items() if passage.status != "failed"}


class Journal:
    """The open journal of one run; safe to append to from many threads."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        """Raises BlockingIOError where another run holds it."""
        self.directory = Path(directory)
        self._path = self.directory / FILE
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise NotADirectoryError(
                f"{self.directory} is not a directory, cannot extract into it"
            ) from None
        self._guard = threading.Lock()
        self._file = open(self._path, "ab", buffering=0)  # noqa: SIM115  (closed at exit)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._size = self._without_torn_line()
        except BlockingIOError:
            self._file.close()
            raise BlockingIOError(
                f"another run is extracting into {self.directory}: wait until it ends, or "
                "choose another directory"
            ) from None
        except BaseException:
            self._file.close()
            raise
        _sync_directory(self.directory)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._guard:
            self._file.close()

    def append(self, of: str, extracted: ExtractedPassage) -> None:
        """Write one record; on an error (a full disk) the file is as it was before."""
        record: dict[str, Any] = {"key": of, "id": extracted.id, **extracted.to_dict()}
        del record["passage"]  # the next run is given it again
        line = json.dumps(record, ensure_ascii=False) + "\n"
        data = line.encode("utf-8", "surrogatepass")
        with self._guard:
            try:
                written = 0
                while written < len(data):
                    written += self._file.write(data[written:])
                os.fsync(self._file.fileno())
            except BaseException:
                self._file.truncate(self._size)
                raise
            self._size += len(data)

    def _without_torn_line(self) -> int:
        """Cut off what follows the last line end; the size that is left."""
        with open(self._path, "rb") as file:
            end = file.seek(0, os.SEEK_END)
            while end:
                start = max(0, end - (1 << 16))
                file.seek(start)
                at = file.read(end - start).rfind(b"\n")
                if at >= 0:
                    end = start + at + 1
                    break
                end = start
        self._file.truncate(end)
        return end


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
