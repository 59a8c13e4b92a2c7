"""The JSON text of an answer to a question. The text is encoded in parts of a bounded size, and its length is
limited.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from asc.errors import CubeError
from asc.operators.cube.answer_memory import Reserve

ANSWER_BYTES_MAX = 128 << 20
"""The most bytes of the rows of an answer, as JSON."""

BESIDE_BYTES_MAX = 32 << 20
"""The most bytes of all fields of an answer except its rows, as JSON. These fields include the questions for roll-up
and drill-down, each with the whole WHERE.
"""

_VALUES_AT_ONCE, _CHARS_AT_ONCE = 1_000, 1 << 16
"""The most values that are encoded as one part of an answer, and the most characters of these values. A character takes
at most six bytes in JSON.
"""

_PLAIN_CHARS = 24
"""The estimated characters of a value that is no text, such as a number, in JSON."""

_PART_BYTES = 64
"""The bytes of memory that the bytes object of a part takes in addition to its text."""


def answer_text(answer: Mapping[str, Any], reserve: Reserve) -> bytes:
    """Return an answer as JSON in UTF-8.

    Raise CubeError if the rows have more than ANSWER_BYTES_MAX bytes, or the other fields more than BESIDE_BYTES_MAX.
    ``reserve`` is called with the bytes of memory of each part, and raises an error if the answers in progress need too
    many. A text may be six times as long in JSON, so the bytes are known only after the encoding. Therefore only one
    part of a bounded size is encoded before each call.
    """
    shorter = "name fewer cuboids or measures, or shorten where"
    beside = f"gives roll_up and drill_down of over {BESIDE_BYTES_MAX >> 20} MiB: {shorter}"
    rows = f"gives rows of over {ANSWER_BYTES_MAX >> 20} MiB: give a lower one, and go on by the cursor"
    parts = [
        b"{",
        *_bounded(_beside_texts(answer), BESIDE_BYTES_MAX, CubeError("by", None, beside), reserve),
        b'"rows":[',
        *_bounded(_list_texts(answer["rows"]), ANSWER_BYTES_MAX, CubeError("limit", None, rows), reserve),
        b"]}",
    ]
    return b"".join(parts)


def states_bytes(table: pa.Table, reserve: Reserve) -> bytes:
    """Return a table of states as an Arrow IPC stream. Raise CubeError if it has more than ANSWER_BYTES_MAX bytes."""
    if table.nbytes > ANSWER_BYTES_MAX:
        most = f"{ANSWER_BYTES_MAX >> 20} MiB"
        raise CubeError("states in bytes", table.nbytes, f"are over {most}: ask for fewer groups or a shorter interval")
    reserve(2 * table.nbytes)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _bounded(texts: Iterator[bytes], most_bytes: int, refusal: CubeError, reserve: Reserve) -> Iterator[bytes]:
    """Yield texts while their total length is at most ``most_bytes``. Raise ``refusal`` if the total length exceeds
    this.
    """
    size_bytes = 0
    for text in texts:
        size_bytes += len(text)
        # Twice the length, because the parts and the joined text are in memory at the same time.
        reserve(2 * len(text) + _PART_BYTES)
        if size_bytes > most_bytes:
            raise refusal
        yield text


def _beside_texts(found: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield the fields of an answer except its rows, each followed by a comma."""
    for name, value in found.items():
        if name == "rows":
            continue
        yield b"%s:" % _dumped(name)
        yield from _texts(value)
        yield b","


def _texts(value: object) -> Iterator[bytes]:
    """Yield a value as JSON, in parts of a bounded size."""
    if isinstance(value, str):
        yield b'"'
        for start in range(0, len(value), _CHARS_AT_ONCE):
            yield _dumped(value[start : start + _CHARS_AT_ONCE])[1:-1]
        yield b'"'
    elif isinstance(value, list):
        yield b"["
        yield from _list_texts(value)
        yield b"]"
    elif isinstance(value, dict):
        for place, (name, own) in enumerate(value.items()):
            yield b"%s%s:" % (b"," if place else b"{", _dumped(name))
            yield from _texts(own)
        yield b"}" if value else b"{}"
    else:
        yield _dumped(value)


def _list_texts(values: Sequence[object]) -> Iterator[bytes]:
    """Yield values as JSON, several short values in each part."""
    start = chars = 0
    for place, value in enumerate(values):
        own = _chars(value)
        if place > start and (chars + own > _CHARS_AT_ONCE or place - start == _VALUES_AT_ONCE):
            yield from _several_texts(values[start:place], chars, is_first=not start)
            start, chars = place, 0
        chars += own
    yield from _several_texts(values[start:], chars, is_first=not start)


def _several_texts(values: Sequence[object], chars: int, *, is_first: bool) -> Iterator[bytes]:
    """Yield the JSON of successive values of a list, without brackets. ``chars``: the characters of all these values. A
    single value may have more than _CHARS_AT_ONCE, and is then divided. ``is_first``: whether the values begin the
    list, so that no comma precedes them.
    """
    if not is_first:
        yield b","
    if chars <= _CHARS_AT_ONCE:
        yield _dumped(values)[1:-1]
    else:
        yield from _texts(values[0])


def _chars(value: object) -> int:
    """Return the approximate length of a value's JSON: the characters of all texts and names of fields in the value,
    and _PLAIN_CHARS for each other value.
    """
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(len, value)) + sum(map(_chars, value.values()))
    return sum(map(_chars, value)) if isinstance(value, list) else _PLAIN_CHARS


def _dumped(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
