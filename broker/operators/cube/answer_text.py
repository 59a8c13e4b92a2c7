"""The JSON text of an answer, built in parts of a bounded size and limited in length."""

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
"""The most values of one part of an answer, and the most characters of their texts. A character takes at most six bytes
in JSON.
"""

_PLAIN_CHARS = 24
"""The number of characters that a value other than a text counts for."""

_PART_BYTES = 64
"""The bytes of memory that a part takes besides its text."""


def answer_text(answer: Mapping[str, Any], reserve: Reserve) -> bytes:
    """Return an answer as JSON in UTF-8.

    Raise CubeError if the rows have more than ANSWER_BYTES_MAX bytes, or the other fields more than BESIDE_BYTES_MAX.
    ``reserve`` is called with the bytes that are held, and may raise. A text may be six times as long in JSON, so only
    one part of a bounded size is made before each call.
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
        # Twice the length: for the parts, and for the joined text.
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
    """Yield successive values of a list. ``chars``: their characters; one value alone may have more than a part."""
    if not is_first:
        yield b","
    if chars <= _CHARS_AT_ONCE:
        yield _dumped(values)[1:-1]
    else:
        yield from _texts(values[0])


def _chars(value: object) -> int:
    """Return the characters of a value that make its JSON long: those of its texts and names."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(len, value)) + sum(map(_chars, value.values()))
    return sum(map(_chars, value)) if isinstance(value, list) else _PLAIN_CHARS


def _dumped(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
