"""Functions of bytes: digests, and conversions between binary and text."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.expressions.expression import Expression
from asc.predicate.functions.checks import unified
from asc.predicate.functions.function import MANY, Call, Function, plain
from asc.predicate.functions.growth import times
from asc.predicate.functions.results import BIGINT, BINARY, STRING
from asc.predicate.functions.try_spellings import as_bytes, as_text, renamed

_CHARACTER_SETS = ("US-ASCII", "ISO-8859-1", "UTF-8", "UTF-16BE", "UTF-16LE", "UTF-16", "UTF-32")
_FORMATS = ("hex", "base64", "utf-8", "utf8")


def _character_set(call: Call) -> str | None:
    if not call.is_null(1) and str(call.constant(1)).upper() not in _CHARACTER_SETS:
        return f"{call.name} takes one of the character sets {', '.join(_CHARACTER_SETS)}"
    return None


def _decoding(call: Call) -> str | None:
    """Return the reason for refusing the arguments of a call of ``decode``; None if they are allowed.

    There are two forms: bytes and a character set; or a value, then pairs of a comparison value and its result, and an
    optional default.
    """
    if len(call.args) == 2:
        if call.type(0) not in (None, pa.string(), pa.binary(), pa.null()):
            return f"argument 1 of decode is {types.name(call.type(0))}, not a string or binary"
        return _character_set(call)
    for sought in _sought(call):
        if not types.comparable("=", call.type(0), sought.type):
            return f"{types.name(call.type(0))} and {types.name(sought.type)} cannot be compared"
        if types.mixed_instants([call.type(0), sought.type]):
            return "decode of instants of several types: CAST them to one type"
    return unified(_decoded_kinds(call), "decode to")


def _sought(call: Call) -> Sequence[Expression]:
    return call.args[1:-1:2] if len(call.args) % 2 == 0 else call.args[1::2]


def _decoded_kinds(call: Call) -> list[pa.DataType | None]:
    """Return the types of the possible results of ``decode``, including the default.

    A missing default is a NULL of type string.
    """
    return [*call.kinds[2::2], call.type(-1) if len(call.args) % 2 == 0 else pa.string()]


def _decoded(call: Call) -> pa.DataType | None:
    return pa.string() if len(call.args) == 2 else types.common(_decoded_kinds(call))


def _decode(call: Call) -> str:
    return as_text(call) if len(call.args) == 2 else plain(call)


def _format(call: Call) -> str | None:
    if len(call.args) > 1 and not call.is_null(1) and str(call.constant(1)).lower() not in _FORMATS:
        return f"{call.name} takes one of the formats {', '.join(_FORMATS)}"
    return None


def _table() -> dict[str, Function]:
    return {
        **dict.fromkeys(("md5", "sha", "sha1"), Function(1, 1, "B", STRING)),
        "sha2": Function(2, 2, "Bi", STRING),
        "crc32": Function(1, 1, "B", BIGINT),
        "bitmap_count": Function(1, 1, "Y", BIGINT),
        "hex": Function(1, 1, "s", STRING, growth=times(2)),
        "unhex": Function(1, 1, "s", BINARY),
        "base64": Function(1, 1, "B", STRING, growth=times(1.5)),
        "unbase64": Function(1, 1, "s", BINARY, spelling=as_bytes, fails=True),
        "encode": Function(2, 2, "s", BINARY, _character_set, times(4), as_bytes, fails=True),
        "decode": Function(2, MANY, "x", _decoded, _decoding, times(3), _decode),
        "try_to_binary": Function(1, 2, "s", BINARY, _format),
        "to_binary": Function(1, 2, "s", BINARY, _format, spelling=renamed("try_to_binary"), fails=True),
    }


BINARIES = _table()
