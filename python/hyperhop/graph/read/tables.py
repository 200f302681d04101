"""Columns: Parquet, Arrow, and anything that hands out an Arrow stream."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._extras import optional
from hyperhop.graph.errors import UnreadableFile
from hyperhop.graph.read.columns import Columns, need_columns
from hyperhop.graph.read.open import Progress, opened_raw
from hyperhop.graph.read.report import Intake

PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
_BATCH_ROWS = 1 << 17
_FILE_MAGIC = b"ARROW1"

_Intern = Callable[[npt.NDArray[np.uint8], npt.NDArray[np.int64]], npt.NDArray[np.int32]]
_Batches = Iterator[Any]  # pyarrow.RecordBatch


def is_table(source: Any) -> bool:
    """Does it hand out its columns as Arrow (pandas, polars, pyarrow, duckdb)?"""
    return hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")


def read_frame(source: Any, columns: Columns | None, skip_bad: bool) -> Intake:
    """Triples of a table in memory."""
    kind = type(source).__name__
    pa = optional("pyarrow", f"reading a {kind}", "arrow")
    try:
        if hasattr(source, "__arrow_c_stream__"):
            reader = pa.RecordBatchReader.from_stream(source)
        else:
            batch = pa.record_batch(source)
            reader = pa.RecordBatchReader.from_batches(batch.schema, [batch])
    except (pa.ArrowException, TypeError) as error:
        raise TypeError(f"from_triples: {kind} is no table of text columns: {error}") from None
    with reader:
        return _read(pa, "", kind, reader.schema, reader, columns, skip_bad)


def read_parquet(
    name: str, columns: Columns | None, skip_bad: bool, progress: Progress | None
) -> Intake:
    """Triples of a Parquet file; `progress` hears of rows."""
    pa = optional("pyarrow", "reading Parquet", "arrow")
    parquet = optional("pyarrow.parquet", "reading Parquet", "arrow")
    with opened_raw(name) as raw:
        with _readable(pa, name, "Parquet"):
            file = parquet.ParquetFile(raw)
            schema = file.schema_arrow
        chosen = _choose(schema, columns, name)
        batches = file.iter_batches(_BATCH_ROWS, columns=list(chosen))
        told = _told(_guarded(pa, name, "Parquet", batches), file.metadata.num_rows, progress)
        return _read(pa, name, "Parquet", schema, told, chosen, skip_bad)


def read_arrow(
    name: str, columns: Columns | None, skip_bad: bool, progress: Progress | None
) -> Intake:
    """Triples of an Arrow IPC file (Feather 2) or stream; `progress` hears of bytes."""
    pa = optional("pyarrow", "reading Arrow", "arrow")
    with opened_raw(name) as raw:
        size = raw.seek(0, 2)
        raw.seek(0)
        with _readable(pa, name, "Arrow"):
            if raw.peek(6).startswith(_FILE_MAGIC):
                file = pa.ipc.open_file(raw)
                schema, batches = file.schema, map(file.get_batch, range(file.num_record_batches))
            else:
                stream = pa.ipc.open_stream(raw)
                schema, batches = stream.schema, iter(stream)

        def reported() -> _Batches:
            for batch in _guarded(pa, name, "Arrow", batches):
                yield batch
                if progress is not None:
                    progress(raw.tell(), size)

        return _read(pa, name, "Arrow", schema, reported(), columns, skip_bad)


def _told(batches: _Batches, rows: int, progress: Progress | None) -> _Batches:
    done = 0
    for batch in batches:
        yield batch
        done += batch.num_rows
        if progress is not None:
            progress(done, rows)


@contextmanager
def _readable(pa: Any, name: str, format: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk, not the data
        found = str(error).partition("\n")[0]
        raise UnreadableFile(f"{name} cannot be read as {format}: {found}") from None


def _guarded(pa: Any, name: str, format: str, batches: _Batches) -> _Batches:
    while True:
        with _readable(pa, name, format):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


def _choose(schema: Any, columns: Columns | None, source: str) -> Columns:
    """The three columns; row labels, which pandas stores beside its columns, only by name."""
    if columns is not None:
        return need_columns(schema.names, columns, source)
    notes = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    labels = notes.get("index_columns", [])
    return need_columns([name for name in schema.names if name not in labels], None, source)


def _read(
    pa: Any,
    name: str,
    format: str,
    schema: Any,
    batches: _Batches,
    columns: Columns | None,
    skip_bad: bool,
) -> Intake:
    columns = _choose(schema, columns, name)
    for column in columns:
        _check_type(pa, name, column, schema.field(column).type)
    expected = "a row with non-empty " + ", ".join(map(repr, columns))
    intake = Intake(name, format, "row", expected, skip_bad=skip_bad)
    builder = intake.builder
    heads = _Column(pa, builder.intern_entities)
    relations = _Column(pa, builder.intern_relations)
    tails = _Column(pa, builder.intern_entities)
    first_row = 1
    for whole in batches:
        for begin in range(0, whole.num_rows, _BATCH_ROWS):
            batch = whole.slice(begin, _BATCH_ROWS)
            with _readable(pa, name or "the table", format):
                parts = [_simple(pa, batch.column(column)) for column in columns]
                faults = [_faults(pa, part) for part in parts]
            parts = _without_bad_rows(pa, intake, columns, parts, faults, first_row)
            head, relation, tail = parts
            builder.add_ids(heads.ids(head), relations.ids(relation), tails.ids(tail))
            first_row += batch.num_rows
    return intake


def _check_type(pa: Any, source: str, column: str, type_: Any) -> None:
    values = type_.value_type if pa.types.is_dictionary(type_) else type_
    if not (_is_text(pa, values) or pa.types.is_integer(values)):
        fault = f"column {column!r} holds {type_}, expected text or whole numbers"
        if source:
            raise ValueError(f"{source}: {fault}")
        raise TypeError(f"from_triples: {fault}")


def _is_text(pa: Any, type_: Any) -> bool:
    types = pa.types
    return bool(
        types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_)
    )


def _simple(pa: Any, array: Any) -> Any:
    """As large strings, or as a dictionary of them. Raises ArrowInvalid where they are damaged."""
    array.validate()
    if array.type == pa.string_view():
        array.view(pa.binary_view()).validate(full=True)  # the cast reads what they point to
    if not pa.types.is_dictionary(array.type):
        return array.cast(pa.large_string())
    values = array.dictionary
    if values.type == pa.large_string():
        return array
    return pa.DictionaryArray.from_arrays(array.indices, values.cast(pa.large_string()))


def _without_bad_rows(
    pa: Any,
    intake: Intake,
    columns: Columns,
    parts: list[Any],
    faults: list[npt.NDArray[np.uint8]],
    first_row: int,
) -> list[Any]:
    """Reject rows with a name that is null, empty or not UTF-8; return the others."""
    bad = faults[0] | faults[1] | faults[2]
    if not bad.any():
        return parts
    words = {1: "null", 2: "empty", 3: "invalid UTF-8"}
    for row in np.flatnonzero(bad).tolist():
        number, column = next((f[row], c) for f, c in zip(faults, columns, strict=True) if f[row])
        intake.reject(first_row + row, f"{column!r} {words[min(int(number), 3)]}")
    return [part.filter(pa.array(bad == 0)) for part in parts]


def _faults(pa: Any, array: Any) -> npt.NDArray[np.uint8]:
    """For each value 0 where it is a name, 1 where it is null, 2 empty, 3 not UTF-8.

    Raises ArrowInvalid where offsets or indices point outside, as those of a damaged file may.
    """
    if pa.types.is_dictionary(array.type):
        # A null index takes the value after the dictionary's last.
        of_values = np.append(_faults(pa, array.dictionary), np.uint8(1))
        indices = array.indices.cast(pa.int64()).fill_null(len(array.dictionary))
        places = indices.to_numpy()
        if places.size and not 0 <= places.min() <= places.max() <= len(array.dictionary):
            raise pa.ArrowInvalid("an index is outside its dictionary")
        faults: npt.NDArray[np.uint8] = of_values[places]
        return faults
    offsets, _ = _buffers(array)
    faults = np.where(offsets[1:] == offsets[:-1], 2, 0).astype(np.uint8)
    if array.null_count:
        faults[array.is_null().to_numpy(zero_copy_only=False)] = 1
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        array.view(pa.large_binary()).validate(full=True)
        for i, value in enumerate(array.cast(pa.large_binary()).to_pylist()):
            try:
                (value or b"").decode("utf-8")
            except UnicodeDecodeError:
                faults[i] = 3
    return faults


def _buffers(array: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Offsets and bytes of large strings, without a copy."""
    _, offsets, data = array.buffers()
    if len(array) == 0 or offsets is None:
        return np.zeros(len(array) + 1, np.int64), np.zeros(0, np.uint8)
    blob = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    all_offsets = np.frombuffer(offsets, np.int64, array.offset + len(array) + 1)
    return all_offsets[array.offset :], blob


class _Column:
    """Ids of the names of a column, batch after batch; a dictionary is interned once."""

    def __init__(self, pa: Any, intern: _Intern) -> None:
        self._pa = pa
        self._intern = intern
        self._dictionary: Any = None
        self._known = np.zeros(0, np.int32)

    def ids(self, array: Any) -> npt.NDArray[np.int32]:
        if not self._pa.types.is_dictionary(array.type):
            offsets, blob = _buffers(array)
            return self._intern(blob, offsets)
        if self._dictionary is None or not _same_memory(self._dictionary, array.dictionary):
            self._dictionary = array.dictionary
            self._known = np.full(len(array.dictionary), -1, np.int32)
        indices = array.indices.to_numpy()
        # Values that no row uses are no entities.
        new = np.unique(indices[self._known[indices] < 0])
        if len(new):
            offsets, blob = _buffers(self._dictionary.take(self._pa.array(new)))
            self._known[new] = self._intern(blob, offsets)
        ids: npt.NDArray[np.int32] = self._known[indices]
        return ids


def _same_memory(a: Any, b: Any) -> bool:
    def place(array: Any) -> tuple[Any, ...]:
        buffers = (buffer and buffer.address for buffer in array.buffers())
        return (len(array), array.offset, *buffers)

    return place(a) == place(b)
