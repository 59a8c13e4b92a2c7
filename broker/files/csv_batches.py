"""The rows of CSV files in columnar batches, equal to the rows that `read_csv` yields individually.

Arrow parses the lines that it certainly parses like Python's `csv` module, several times as fast. From the first line
on for which this is not certain, Python parses the rest.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from broker.errors import InputError
from broker.files.input_files import STDIN, Advance, csv_fault, read_blocks

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK_BYTES = 1 << 20
_OPEN_BYTES_MAX = 16 * _BLOCK_BYTES
"""The largest number of bytes that are searched for the end of a quoted field."""

_MARK = b"\xef\xbb\xbf"
"""The byte order mark, which may start a file in UTF-8. Arrow drops it at the start of each block that it reads."""

_ROWS = 5_000
_FIELD_BYTES_MAX = csv.field_size_limit()
_QUOTED_FIELD = r'"(?:[^"]|"")*"'
_FIELD = rf'(?:[^",\r\n]*|{_QUOTED_FIELD})'
_QUOTED_LINES = rf"^(?:{_FIELD}(?:,{_FIELD})*\r?\n)*(?:{_FIELD}(?:,{_FIELD})*)?\z"


def read_csv_batches(path: Path, advance: Advance) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a CSV file with a header, as texts; an empty field is NULL. Rows of standard input are yielded
    as they arrive. The first batch has no rows: it only names the columns.

    Raise InputError with the line number for a fault of the file, after yielding the rows before the fault.
    """
    yield from csv_batches(path, read_blocks(path, _BLOCK_BYTES, advance), waits=path != STDIN)


def csv_batches(path: Path, read: Iterable[bytes], *, waits: bool) -> Iterator[pa.RecordBatch]:
    """Yield the rows in the bytes of a CSV file, as :func:`read_csv_batches` does.

    ``path`` only names the file in errors. ``waits``: whether a batch waits until a quoted field that the read bytes
    leave open is complete.
    """
    blocks = _whole(read, waits=waits)
    first = next(blocks, b"").removeprefix(_MARK)
    header = first[: first.find(b"\n") + 1 or len(first)]
    names = _plain_header(header)
    if names is None:
        yield from _by_python(path, chain([first], blocks))
        return
    yield _batch(names, [])
    line = 1
    for block in chain([first[len(header) :]], blocks):
        if block.strip(b"\r\n"):
            batch = _by_arrow(block, names)
            if batch is None:
                yield from _by_python(path, chain([block], blocks), names, line)
                return
            yield batch
        line += block.count(b"\n")


def _whole(blocks: Iterable[bytes], *, waits: bool) -> Iterator[bytes]:
    """Yield the blocks, divided anew so that no block ends within quotes. If quotes of the file are misplaced, a block
    may still end within quotes.

    ``waits``: whether to wait until an open quoted field is complete; if false, yield the available bytes at once.
    """
    rest = b""
    for read in blocks:
        block = rest + read
        rest = b""
        if waits and len(block) < _OPEN_BYTES_MAX:
            end, quotes = len(block), block.count(b'"')
            while quotes % 2:
                begin = block.rfind(b"\n", 0, end - 1) + 1
                quotes -= block.count(b'"', begin, end)
                end = begin
            block, rest = block[:end], block[end:]
        if block:
            yield block
    if rest:
        yield rest


def _plain_header(line: bytes) -> list[str] | None:
    """Return the column names in the first line of a CSV file if Arrow and Python certainly read the same names in it.
    Otherwise return None.
    """
    try:
        text = line.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        return None
    names = text.split(",")
    if any(char in text for char in '"\r\n\0') or len(names) < 2 or len(set(names)) < len(names):
        return None
    return names


def _by_arrow(block: bytes, names: Sequence[str]) -> pa.RecordBatch | None:
    """Return the lines of a block as rows, parsed by Arrow. Return None if Python's ``csv`` module might parse them
    differently or refuse them.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv as arrow_csv

    has_quotes = b'"' in block
    if b"\0" in block or block.count(b"\r") != block.count(b"\r\n") or block.startswith(_MARK):
        return None
    if has_quotes and not pc.match_substring_regex(pa.scalar(block), _QUOTED_LINES).as_py():
        return None
    places = [str(place) for place in range(len(names))]
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(block),
            arrow_csv.ReadOptions(column_names=places, block_size=len(block) + 1, use_threads=False),
            arrow_csv.ParseOptions(newlines_in_values=has_quotes),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(places, pa.string()), null_values=[""], strings_can_be_null=True
            ),
        )
    except pa.ArrowInvalid:
        return None
    columns = [column.combine_chunks() for column in table.columns]
    if any((pc.max(pc.binary_length(column)).as_py() or 0) > _FIELD_BYTES_MAX for column in columns):
        return None
    return pa.RecordBatch.from_arrays(columns, names=list(names))


def _by_python(
    path: Path, blocks: Iterable[bytes], names: Sequence[str] = (), line: int = 0
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of blocks, which start after ``line`` lines of the file. If ``names`` is empty, the first row has
    the names.
    """
    step = 1 if path == STDIN else _ROWS
    parsed = _rows(path, blocks, names, line)
    is_begin = not names
    names = next(parsed)
    if is_begin:
        yield _batch(names, [])
    rows: list[Sequence[str]] = []
    fault = None
    try:
        for row in parsed:
            rows.append(row)
            if len(rows) == step:
                yield _batch(names, rows)
                rows = []
    except InputError as error:
        fault = error
    if rows:
        yield _batch(names, rows)
    if fault is not None:
        raise fault


def _rows(path: Path, blocks: Iterable[bytes], names: Sequence[str], line: int) -> Iterator[Sequence[str]]:
    """Yield first the column names, then the rows."""
    reader = csv.reader(_lines(blocks), strict=True)
    at = line
    try:
        names = names or next(reader, [])
        if not names or len(set(names)) < len(names):
            raise InputError("no usable header in file", str(path), "the first line must name each column once")
        yield names
        at = line + reader.line_num
        for row in reader:
            at = line + reader.line_num
            if row and len(row) != len(names):
                remedy = f"line {at} has {len(row)} fields, the header {len(names)}; mend or remove it"
                raise InputError("uneven row in file", str(path), remedy)
            if row:
                yield row
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError("not readable as CSV, file", str(path), csv_fault(error, at)) from None


def _lines(blocks: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines of blocks, line ends included, divided as Python divides lines."""
    for block in blocks:
        try:
            text = block.decode()
        except UnicodeDecodeError as error:
            begin = block.rfind(b"\n", 0, error.start) + 1
            yield from io.StringIO(block[:begin].decode(), newline="")
            # Raises the error again, now with the position in the line.
            text = block[begin : block.find(b"\n", begin) + 1 or len(block)].decode()
        yield from io.StringIO(text, newline="")


def _batch(names: Sequence[str], rows: Sequence[Sequence[str]]) -> pa.RecordBatch:
    import pyarrow as pa

    texts = zip(*rows, strict=True) if rows else [[]] * len(names)
    columns = [pa.array([text or None for text in column], pa.string()) for column in texts]
    return pa.RecordBatch.from_arrays(columns, names=list(names))
