"""Reading passages: files of rows, text files, and folders of these."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hyperhop.graph import MalformedLine, UnreadableFile
from hyperhop.graph.read.open import BOM, opened, suffixes
from hyperhop.help.chunks import CHUNK, Chunker
from hyperhop.help.passages import Passage, as_passages
from hyperhop.help.rows import SUFFIXES, Row, Skip, folded, read_rows

MARKDOWN = (".md", ".markdown")
TEXTS = (".txt", *MARKDOWN)

# What a row's parts go by, the first that is there.
TEXT = ("text", "passage", "paragraph_text", "contents", "content")
TITLE = ("title",)
ID = ("id", "_id", "idx")
_EXPECTED = "a text, or an object with the text under one of " + ", ".join(TEXT)


def read_passages(
    path: str | os.PathLike[str],
    *,
    chunk: int | None = None,
    overlap: int | None = None,
    skip: Skip | None = None,
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
        skip: told of a row that is no passage and of a file that cannot be read, which is then left
            out; without it the first of them is raised.

    Raises FileNotFoundError; UnreadableFile for a file or a folder of another kind, or one that is
    not UTF-8; MalformedLine for a row that is no passage; ValueError for equal ids. O(bytes).
    """
    name = os.fspath(path)
    kind = suffixes(name)[0]
    if chunk is None and not os.path.isdir(name) and kind not in TEXTS:
        chunk = 0
    chunker = Chunker("read_passages", CHUNK if chunk is None else chunk, overlap)
    if os.path.isdir(name):
        found = list(_documents(name, skip))
    elif kind in TEXTS:
        found = [_document(name, Path(name).name)]
    elif kind in SUFFIXES:
        found = [(one, False) for one in _rows(name, skip)]
    else:
        raise UnreadableFile(
            f"{name}: expected a folder or a file {', '.join((*TEXTS, *SUFFIXES))}, got {kind!r}"
        )
    return as_passages(
        [piece for passage, markdown in found for piece in chunker.pieces(passage, markdown)]
    )


def row_id(value: Mapping[str, Any], position: int) -> str:
    """The id of a row, its names folded: its own, else its position.

    Raises ValueError for one that is neither text nor a whole number.
    """
    of = _first(value, ID)
    if of is None or type(of) is int:
        return str(position if of is None else of)
    if not isinstance(of, str):
        raise ValueError(f"an id of type {type(of).__name__}")
    return of


def _first(value: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


def _documents(folder: str, skip: Skip | None) -> Iterator[tuple[Passage, bool]]:
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
        try:
            yield _document(os.path.join(folder, name), name)
        except UnreadableFile as error:
            if skip is None:
                raise
            skip(error)


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


def _rows(source: str, skip: Skip | None) -> Iterator[Passage]:
    for position, row in enumerate(read_rows(source, _EXPECTED, skip)):
        try:
            yield _passage(row, position)
        except ValueError as error:
            malformed = MalformedLine(source, row.number, _EXPECTED, str(error), row.unit)
            if skip is None:
                raise malformed from None
            skip(malformed)


def _passage(row: Row, position: int) -> Passage:
    """Raises ValueError with what is wrong."""
    if isinstance(row.value, str):
        return Passage(str(position), row.value)
    if not isinstance(row.value, dict):
        raise ValueError(f"a {type(row.value).__name__}")
    keys = folded(row.value)
    text, title, of = _first(keys, TEXT), _first(keys, TITLE), row_id(keys, position)
    if not isinstance(text, str):
        raise ValueError("none" if text is None else f"a text of type {type(text).__name__}")
    if not isinstance(title, str | None):
        raise ValueError(f"a title of type {type(title).__name__}")
    return Passage(of, text, title)
