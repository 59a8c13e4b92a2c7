"""The JSON text of an answer, built from a few rows at a time and limited in length."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from asc.errors import CubeError
from asc.operators.cube.answer_memory import Reserve

ANSWER_BYTES_MAX = 128 << 20
"""The most bytes of the rows of an answer, as JSON."""

BESIDE_BYTES_MAX = 32 << 20
"""The most bytes of all fields of an answer except its rows, as JSON. These fields include the questions for roll-up
and drill-down, each with the whole WHERE.
"""

_VALUES_AT_ONCE, _BYTES_AT_ONCE = 1_000, 1 << 20


def answer_text(answer: Mapping[str, Any], reserve: Reserve) -> bytes:
    """Return an answer as JSON in UTF-8.

    Raise CubeError if the rows have more than ANSWER_BYTES_MAX bytes, or the other fields more than BESIDE_BYTES_MAX.
    ``reserve`` is called with the bytes that are held, and may raise.
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


def _bounded(texts: Iterator[bytes], most_bytes: int, refusal: CubeError, reserve: Reserve) -> Iterator[bytes]:
    """Yield texts while their total length is at most ``most_bytes``. Raise ``refusal`` if the total length exceeds
    this.
    """
    size_bytes = 0
    for text in texts:
        size_bytes += len(text)
        # The parts, and what they are joined to.
        reserve(2 * len(text))
        if size_bytes > most_bytes:
            raise refusal
        yield text


def _beside_texts(found: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield the fields of an answer except its rows, each followed by a comma."""
    for name, value in found.items():
        if name == "rows":
            continue
        yield b"%s:" % _dumped(name)
        if isinstance(value, list):
            yield b"["
            yield from _list_texts(value)
            yield b"],"
        else:
            yield b"%s," % _dumped(value)


def _list_texts(values: Sequence[object]) -> Iterator[bytes]:
    """Yield values as JSON, several values in each text. The number of values follows from the length of the preceding
    text, because values may be long.
    """
    start, count = 0, 1
    while start < len(values):
        part = _dumped(values[start : start + count])[1:-1]
        yield b",%s" % part if start else part
        start, count = start + count, max(1, min(_VALUES_AT_ONCE, count * _BYTES_AT_ONCE // len(part)))


def _dumped(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
