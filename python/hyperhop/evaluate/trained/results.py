"""The finished parts of a long run, on disk as soon as they are finished."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FILE = "result.json"


class Results:
    """One JSON file: what was run, and what each finished part came to.

    A killed run is asked for again with the same settings, and goes on with the parts that are
    missing. The file is replaced as a whole.

    Attributes:
        run: what was run, as plain values.
        parts: what is finished, by name.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, run: Mapping[str, Any]) -> None:
        """Continue the run whose file lies in `folder`, or begin one; None keeps nothing on disk.

        ValueError where the file is of another run, or none of ours.
        """
        self._path = None if folder is None else Path(folder) / FILE
        self.run: dict[str, Any] = json.loads(json.dumps(dict(run)))
        self.parts: dict[str, Any] = {}
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        if not self._path.exists():
            return
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
            was, self.parts = found["run"], found["parts"]
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{self._path} is not the result of a run of hyperhop") from None
        for name in sorted({*was, *self.run}):
            if was.get(name) != self.run.get(name):
                raise ValueError(
                    f"{self._path} is of a run with {name} {was.get(name)!r}, got "
                    f"{self.run.get(name)!r}: choose another folder"
                )

    def __contains__(self, name: str) -> bool:
        return name in self.parts

    def add(self, name: str, value: Mapping[str, Any]) -> None:
        """Write down a part that is finished."""
        self.parts[name] = json.loads(json.dumps(dict(value)))
        if self._path is None:
            return
        new = self._path.with_name(f"{FILE}.new")
        text = json.dumps({"run": self.run, "parts": self.parts}, indent=1, ensure_ascii=False)
        with new.open("w", encoding="utf-8") as file:
            file.write(f"{text}\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self._path)
