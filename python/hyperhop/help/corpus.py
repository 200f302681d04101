"""Reading passages: files of rows, text files, and folders of these."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hyperhop._extras import optional
from hyperhop.graph import MalformedLine, UnreadableFile
from hyperhop.graph.read.open import BOM, opened, opened_raw, suffixes
from hyperhop.help.chunks import CHUNK, Chunker
from hyperhop.help.passages import Passage, as_passages

MARKDOWN = (".md", ".markdown")
TEXTS = (".txt", *MARKDOWN)
JSON_LINES = (".jsonl", ".ndjson")
PARQUET = (".parquet", ".pq")

# What a row's parts go by, the first that is there.
TEXT = ("text", "passage", "paragraph_text", "contents", "content")
TITLE = ("title",)
ID = ("id", "_id", "idx")
_EXPECTED = "a text, or an object with the text under one of " + ", ".join(TEXT)


def read_passages(
    path: str | os.PathLike[str], *, chunk: int | None = None, overlap: int | None = None
) -> list[Passage]:
    """Passages of a file or a folder, in its order.

    - A folder: its files .txt, .md and .markdown, in order of their paths, those of folders inside
      it too; hidden ones and all others are left out. A file's id is its path inside the folder,
      its title the name without suffix. Text is UTF-8; a byte order mark is dropped.
    - One such file, likewise; also with .gz or .zst.
    - JSON Lines (.jsonl, .ndjson) and .json (a list), also with .gz or .zst; Parquet (.parquet,
      .pq; extra `arrow`): a row has its text under "text", "passage", "paragraph_text", "contents"
      or "content", and maybe a "title" and an "id", "_id" or "idx", all in any case; a JSON row may
      be a text alone. A row without an id gets its position. Other keys are left out.

    A blank text is a passage too. Texts are taken verbatim.

    Args:
        chunk: most characters of a passage; longer texts are split where a sentence, a paragraph
            or a Markdown section ends, if they can (extra `documents`), into "ID#1", "ID#2" ...;
            0 for whole texts. None: 1200 for text files, and rows stay whole.
        overlap: most characters that a piece shares with the one before it; None for 100, or less
            where `chunk` is below 400.

    Raises FileNotFoundError; UnreadableFile for a file or a folder of another kind, or one that is
    not UTF-8; MalformedLine for a row that is no passage; ValueError for equal ids. O(bytes).
    """
    name = os.fspath(path)
    kind = suffixes(name)[0]
    if chunk is None and not os.path.isdir(name) and kind not in TEXTS:
        chunk = 0
    chunker = Chunker("read_passages", CHUNK if chunk is None else chunk, overlap)
    if os.path.isdir(name):
        found = list(_documents(name))
    elif kind in TEXTS:
        found = [_document(name, Path(name).name)]
    elif kind in _ROWS:
        found = [(one, False) for one in _rows(name, _ROWS[kind](name))]
    else:
        raise UnreadableFile(
            f"{name}: expected a folder or a file {', '.join((*TEXTS, *_ROWS))}, got {kind!r}"
        )
    return as_passages(
        [piece for passage, markdown in found for piece in chunker.pieces(passage, markdown)]
    )


def _documents(folder: str) -> Iterator[tuple[Passage, bool]]:
    paths = [
        path.relative_to(folder)
        for path in Path(folder).rglob("*")
        if path.suffix.lower() in TEXTS and path.is_file()
    ]
    shown = sorted(
        path.as_posix() for path in paths if not any(part.startswith(".") for part in path.parts)
    )
    if not shown:
        raise UnreadableFile(f"{folder} holds no file {', '.join(TEXTS)}")
    for name in shown:
        yield _document(os.path.join(folder, name), name)


def _document(path: str, name: str) -> tuple[Passage, bool]:
    """The text of a file, and whether it is Markdown."""
    with opened(path, None) as (stream, _):
        data = stream.read()
    title = Path(name).name.removesuffix(suffixes(name)[1])
    text = _decoded(path, data.removeprefix(BOM))
    return Passage(name, text, Path(title).stem), suffixes(name)[0] in MARKDOWN


def _decoded(path: str, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{path} is not UTF-8: byte {error.start}") from None


def _rows(source: str, rows: Iterator[tuple[int, str, Any]]) -> Iterator[Passage]:
    """Passages of rows, each with its number and what it is called."""
    for position, (number, unit, row) in enumerate(rows):
        try:
            yield _passage(row, position)
        except ValueError as error:
            raise MalformedLine(source, number, _EXPECTED, str(error), unit) from None


def _passage(row: Any, position: int) -> Passage:
    """Raises ValueError with what is wrong."""
    if isinstance(row, str):
        return Passage(str(position), row)
    if not isinstance(row, Mapping):
        raise ValueError(f"a {type(row).__name__}")
    keys = {str(key).strip().casefold(): value for key, value in row.items()}
    text, title, of = (
        next((keys[name] for name in names if keys.get(name) is not None), None)
        for names in (TEXT, TITLE, ID)
    )
    if of is None or type(of) is int:
        of = str(position if of is None else of)
    if not isinstance(text, str):
        raise ValueError("none" if text is None else f"a text of type {type(text).__name__}")
    if not isinstance(of, str):
        raise ValueError(f"an id of type {type(of).__name__}")
    if not isinstance(title, str | None):
        raise ValueError(f"a title of type {type(title).__name__}")
    return Passage(of, text, title)


def _json_lines(name: str) -> Iterator[tuple[int, str, Any]]:
    with opened(name, None) as (stream, _):
        for number, line in enumerate(stream, 1):
            data = line.removeprefix(BOM) if number == 1 else line
            if not data.strip():
                continue
            try:
                yield number, "line", json.loads(data)
            except (ValueError, RecursionError) as error:
                raise MalformedLine(name, number, _EXPECTED, f"no JSON: {error}") from None


def _json(name: str) -> Iterator[tuple[int, str, Any]]:
    with opened(name, None) as (stream, _):
        data = stream.read()
    try:
        content = json.loads(data.removeprefix(BOM))
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(f"{name} is not JSON: {error}") from None
    if not isinstance(content, list):
        hint = "; read_openie reads it" if isinstance(content, dict) and "docs" in content else ""
        raise UnreadableFile(f"{name} holds no list of passages{hint}")
    for number, row in enumerate(content, 1):
        yield number, "item", row


def _parquet(name: str) -> Iterator[tuple[int, str, Any]]:
    pa = optional("pyarrow", "reading Parquet", "arrow")
    parquet = optional("pyarrow.parquet", "reading Parquet", "arrow")
    known = {*TEXT, *TITLE, *ID}
    with opened_raw(name) as raw:
        number = 0
        try:
            file = parquet.ParquetFile(raw)
            columns = [c for c in file.schema_arrow.names if c.strip().casefold() in known]
            for batch in file.iter_batches(columns=columns):
                for row in batch.to_pylist():
                    number += 1
                    yield number, "row", row
        except pa.ArrowException as error:
            raise UnreadableFile(f"{name} cannot be read as Parquet: {error}") from None


_ROWS: dict[str, Callable[[str], Iterator[tuple[int, str, Any]]]] = {
    **dict.fromkeys(JSON_LINES, _json_lines),
    ".json": _json,
    **dict.fromkeys(PARQUET, _parquet),
}
