"""Files of rows: their formats, and reading them one row at a time."""

from __future__ import annotations

import csv
import gzip
import io
import re
import shlex
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, AnyStr, BinaryIO

from broker.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

FORMATS = {
    ".csv": "csv",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".json": "ndjson",
    ".parquet": "parquet",
}
"""File format by the suffix of the name. A further suffix ``.gz`` is ignored."""

STDIN = Path("-")
"""The path that represents standard input, which is read once from beginning to end."""

Advance = Callable[[int], object]
"""A callback that receives, from time to time, the number of bytes of the file that have been read so far."""

LINE_BYTES_MAX = 64 << 20
"""The longest line that is read. Spark's parsers and Kafka accept shorter ones only."""

_GZIP_RATIO_MAX = 1_032
"""The largest number of bytes to which deflate can expand one byte."""

_SCANNED_BYTES = 1 << 20

ROWS_A_STEP = 1_000
_HEAD_BYTES = 4_096


_CSV_FAULTS: Mapping[str, str] = MappingProxyType(
    {
        "unexpected end of data": 'has a quote that is not closed: close it, or write "" for a quote within a field',
        "expected after": 'has text behind a closing quote: write "" for a quote within a field',
        "larger than field limit": f"has a field of over {csv.field_size_limit():,} characters: shorten or remove it",
        "NUL": "has a NUL character: remove it",
    }
)
"""Descriptions of faulty rows, by words in the error of Python's CSV reader."""


def file_format(path: Path) -> str:
    """Return ``csv``, ``ndjson`` or ``parquet``, by the file's name. Raise InputError for another name.

    >>> file_format(Path("flights.CSV.gz"))
    'csv'
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    found = FORMATS.get(suffixes[-1]) if suffixes else None
    if found is None:
        raise InputError(
            "unknown format of file", str(path), f"its name must end in {', '.join(FORMATS)} (or .gz after it)"
        )
    return found


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Callable[[], int], BinaryIO]]:
    """Yield a function that returns how many bytes of the file have been read, and the bytes decompressed."""
    if path == STDIN:
        yield _nothing_read, sys.stdin.buffer
        return
    with path.open("rb") as raw:
        if path.suffix.lower() != ".gz":
            _check_encoding(path, raw.peek(_HEAD_BYTES)[:_HEAD_BYTES])
            yield raw.tell, raw
            return
        with gzip.open(raw, "rb") as content:
            _check_encoding(path, content.peek(_HEAD_BYTES)[:_HEAD_BYTES])
            yield raw.tell, content  # type: ignore[misc]  # GzipFile is a BinaryIO in all but name


def _check_encoding(path: Path, head: bytes) -> None:
    """Raise InputError for a text in UTF-16, detected by its byte order mark or by zero bytes in most of its
    characters.
    """
    order = {b"\xff\xfe": "UTF-16LE", b"\xfe\xff": "UTF-16BE"}.get(head[:2])
    if order is None and head.count(0) * 3 > len(head):
        order = "UTF-16LE" if head[1::2].count(0) >= head[::2].count(0) else "UTF-16BE"
    if order is not None:
        encoding = "UTF-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else order
        remedy = f"it is {order}, not UTF-8: 'iconv -f {encoding} -t UTF-8' makes it that"
        raise InputError("not readable as text, file", str(path), remedy)


def _nothing_read() -> int:
    return 0


def begins_array(line: bytes) -> bool:
    """Return whether the first line of a file that is not empty begins a JSON array of objects, which is not
    NDJSON.

    >>> [begins_array(line) for line in (b"[", b' [{"n": 1},', b'[1, 2]', b'{"n": 1}')]
    [True, True, False, False]
    """
    return re.match(rb"(?:\xef\xbb\xbf)?\s*\[\s*(?:\{|\Z)", line) is not None


def no_lines(path: Path) -> InputError:
    """Return the error for a file that is a JSON array in place of NDJSON."""
    command, name = "jq -c '.[]'", shlex.quote(str(path))
    if path == STDIN:
        remedy = f"put {command} before it, which writes a line for each of its objects"
        return InputError("a JSON array, not NDJSON, in", "standard input", remedy)
    read = f"zcat {name} | {command}" if path.suffix.lower() == ".gz" else f"{command} {name}"
    return InputError("a JSON array, not NDJSON, in file", str(path), f"{read} writes a line for each of its objects")


def check_lines(path: Path) -> None:
    """Raise InputError for a file that is a JSON array in place of NDJSON."""
    with _whole_gzip(path), _opened(path) as (_, content):
        head = content.read(_HEAD_BYTES).lstrip()
        if begins_array(head.split(b"\n", 1)[0]):
            raise no_lines(path)


@contextmanager
def _whole_gzip(path: Path) -> Iterator[None]:
    """Convert the errors of gzip for a damaged file into InputError."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError("broken gzip file", str(path), f"{error}; make it again") from None


def too_long(path: Path) -> InputError:
    """Return the error for a file with a line that exceeds the limit."""
    what = "standard input" if path == STDIN else str(path)
    remedy = f"has more than {LINE_BYTES_MAX:,} bytes in one line: is it text, a row a line? Divide it into lines"
    return InputError("file of rows", what, remedy)


def check_line_lengths(paths: Iterable[Path]) -> None:
    """Raise InputError for a text file with a line that exceeds the limit, before a library reads the line whole.

    Cost: one pass over each file that is large enough to have such a line; constant memory.
    """
    for path in paths:
        ratio = _GZIP_RATIO_MAX if path.suffix.lower() == ".gz" else 1
        if path.stat().st_size * ratio <= LINE_BYTES_MAX:
            continue
        with _whole_gzip(path), _opened(path) as (_, content):
            length = 0
            while part := content.read(_SCANNED_BYTES):
                end = part.find(b"\n")
                if length + (len(part) if end < 0 else end) > LINE_BYTES_MAX:
                    raise too_long(path)
                # A part is shorter than the longest permitted line, so only lines across two parts need a count.
                length = length + len(part) if end < 0 else len(part) - part.rfind(b"\n") - 1


def _bounded_lines(path: Path, content: IO[AnyStr]) -> Iterator[AnyStr]:
    """Yield the lines of a file, as text or bytes. Raise InputError for a line that exceeds the limit, before reading
    it whole.
    """
    while line := content.readline(LINE_BYTES_MAX + 1):
        if len(line) > LINE_BYTES_MAX:
            raise too_long(path)
        yield line


def read_lines(path: Path, advance: Advance) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a text file that are not empty, without line ends, each with its number, counted from 1.

    Cost: one pass, constant memory. Raise InputError for a line that exceeds the limit.
    """
    with _whole_gzip(path), _opened(path) as (bytes_read, content):
        for number, line in enumerate(_bounded_lines(path, content), 1):
            if number % ROWS_A_STEP == 1:
                advance(bytes_read())
            stripped = line.rstrip(b"\r\n")
            if stripped.strip():
                yield number, stripped
        advance(bytes_read())


def read_blocks(path: Path, size_bytes: int, advance: Advance) -> Iterator[bytes]:
    """Yield whole lines of a text file in blocks of about ``size_bytes``, in bounded memory.

    Lines of standard input are yielded as they arrive. Raise InputError for a line that exceeds the limit.
    """
    with _whole_gzip(path), _opened(path) as (bytes_read, content):
        rest = b""
        # From a pipe, take the bytes that have arrived: nobody knows when the next line comes.
        read = content.read1 if path == STDIN else content.read  # type: ignore[attr-defined]  # as every stdin has it
        while part := read(size_bytes):
            advance(bytes_read())
            end = part.rfind(b"\n") + 1
            if end:
                yield rest + part[:end]
                rest = part[end:]
            else:
                rest += part
            if len(rest) > LINE_BYTES_MAX:
                raise too_long(path)
        advance(bytes_read())
        if rest:
            yield rest


OnUneven = Callable[[int, str], object]
"""A callback for each CSV row that is excluded because its length differs from the header's. It receives the row's
number and length.
"""


def read_csv(path: Path, advance: Advance, on_uneven: OnUneven | None = None) -> Iterator[dict[str, str | None]]:
    """Yield the rows of a CSV file with a header, as values by column. An empty field is None.

    Raise InputError with the line for text that is not UTF-8. If ``on_uneven`` is None, raise it also for a row that is
    longer or shorter than the header.
    """
    rows: Iterator[list[str]] = iter(())
    line = 0
    try:
        with (
            _whole_gzip(path),
            _opened(path) as (bytes_read, content),
            io.TextIOWrapper(content, encoding="utf-8-sig", newline="") as text,
        ):
            reader = csv.reader(_bounded_lines(path, text), strict=True)
            rows = iter(reader)
            header = next(rows, [])
            if not header or len(set(header)) < len(header):
                remedy = "the first line must name each column once"
                raise InputError("no usable header in file", str(path), remedy)
            line = reader.line_num
            for number, row in enumerate(rows):
                line = reader.line_num
                if number % ROWS_A_STEP == 0:
                    advance(bytes_read())
                if row and len(row) == len(header):
                    yield {name: value or None for name, value in zip(header, row, strict=True)}
                elif row:
                    said = f"{len(row)} fields, the header {len(header)}"
                    if on_uneven is None:
                        raise InputError("uneven row in file", str(path), f"line {line} has {said}; mend or remove it")
                    on_uneven(line, said)
            advance(bytes_read())
    except (csv.Error, UnicodeDecodeError) as error:
        # The text is decoded in blocks, so the line of an invalid character is unknown.
        raise InputError("not readable as CSV, file", str(path), csv_fault(error, line, is_known=False)) from None


def csv_fault(error: csv.Error | UnicodeDecodeError, line: int, *, is_known: bool = True) -> str:
    """Return the fault of the CSV row that begins after line ``line``, and the remedy.

    ``is_known``: the line number is correct also for a text that is not UTF-8.

    >>> csv_fault(csv.Error("unexpected end of data"), 1)
    'the row that begins in line 2 has a quote that is not closed: close it, or write "" for a quote within a field'
    """
    if isinstance(error, UnicodeDecodeError):
        fault = f"is it CSV in UTF-8? Byte 0x{error.object[error.start]:02x} stands where none can"
        place = f"after line {line}: " if is_known and line else ""
        return f"{place}{fault}; 'iconv -f LATIN1 -t UTF-8' makes it of Latin 1"
    said = str(error)
    detail = next(
        (detail for words, detail in _CSV_FAULTS.items() if words in said), f"is no CSV ({said}): mend or remove it"
    )
    return f"the row that begins in line {line + 1} {detail}"


def csv_header(path: Path, separator: str = ",", quote: str = '"') -> tuple[str, list[str]]:
    """Return the first line of a CSV file, and the columns that it names. If ``quote`` is empty, nothing is quoted."""
    try:
        with _whole_gzip(path), _opened(path) as (_, content):
            line = next(_bounded_lines(path, content), b"").splitlines()[:1]
        text = b"".join(line).decode("utf-8-sig")
        if len(separator) > 1:
            return text, [name.strip(quote) for name in text.split(separator)]
        if not quote:
            return text, next(csv.reader([text], delimiter=separator, quoting=csv.QUOTE_NONE), [])
        return text, next(csv.reader([text], delimiter=separator, quotechar=quote), [])
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError("not readable as CSV, file", str(path), csv_fault(error, 0)) from None


def read_parquet(path: Path, advance: Advance) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file, as values by column. Memory: one batch of rows."""
    import pyarrow.parquet as pq

    with _named_parquet(path):
        file = pq.ParquetFile(path)
        total, size, done = max(1, file.metadata.num_rows), path.stat().st_size, 0
        for batch in file.iter_batches(batch_size=ROWS_A_STEP):
            yield from batch.to_pylist()
            done += batch.num_rows
            advance(size * done // total)


def parquet_schema(path: Path) -> pa.Schema:
    """Return the columns of a Parquet file, with Arrow's types."""
    with _named_parquet(path):
        return stored_schema(path).to_arrow_schema()


def stored_schema(path: Path) -> pq.ParquetSchema:
    """Return the columns of a Parquet file with the types in which they are stored."""
    import pyarrow.parquet as pq

    with _named_parquet(path):
        return pq.read_metadata(path).schema


@contextmanager
def _named_parquet(path: Path) -> Iterator[None]:
    """Convert the errors of Arrow about a file into InputError that names the file. Errors of the system pass
    unchanged.
    """
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        # For a deeply nested schema or a damaged page, Arrow raises an OSError without an error number. For damaged
        # names and texts, it raises a UnicodeDecodeError.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise InputError("not readable as Parquet, file", str(path), str(error).split("\n", 1)[0]) from None


def parquet_files(path: Path) -> list[Path]:
    """Return the Parquet files of a path: the path itself, or the files in a folder ordered by name."""
    return [path] if path.is_file() else sorted(path.rglob("*.parquet"))
