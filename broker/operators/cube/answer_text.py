"""The text of an answer: JSON, made of few rows at a time, and no longer than a bound."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from asc.errors import CubeError
from asc.operators.cube.answer_memory import Reserve

ANSWER_BYTES_MAX = 128 << 20
"""The most bytes of an answer: of its rows as JSON."""

_ROWS_AT_ONCE, _BYTES_AT_ONCE = 1_000, 1 << 20


def answer_text(found: Mapping[str, Any], reserve: Reserve) -> bytes:
    """Return an answer as JSON in UTF-8. CubeError where its rows are longer than ANSWER_BYTES_MAX.

    ``reserve`` is called with the bytes that are held, and may raise.
    """
    fields = [b"%s:%s" % (_dumped(name), _dumped(value)) for name, value in found.items() if name != "rows"]
    size_bytes, parts = 0, []
    for part in _row_texts(found["rows"]):
        size_bytes += len(part)
        # The parts, and what they are joined to.
        reserve(2 * len(part))
        if size_bytes > ANSWER_BYTES_MAX:
            remedy = f"gives rows of over {ANSWER_BYTES_MAX >> 20} MiB: give a lower one, and go on by the cursor"
            raise CubeError("limit", None, remedy)
        parts.append(part)
    return b"{%s}" % b",".join([*fields, b'"rows":[%s]' % b",".join(parts)])


def _row_texts(rows: Sequence[Mapping[str, Any]]) -> Iterator[bytes]:
    """Yield rows as JSON, so many at a time as the last ones say, for texts and names of measures may be long."""
    start, count = 0, 1
    while start < len(rows):
        part = _dumped(rows[start : start + count])[1:-1]
        yield part
        start, count = start + count, max(1, min(_ROWS_AT_ONCE, count * _BYTES_AT_ONCE // len(part)))


def _dumped(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
