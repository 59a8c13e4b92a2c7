"""Functions of bytes: digests, and what stands for them in text."""

from __future__ import annotations

from asc.predicate.functions.caught import as_bytes, as_text
from asc.predicate.functions.function import Call, Function
from asc.predicate.functions.growth import times
from asc.predicate.functions.results import BIGINT, BINARY, STRING

_CHARACTER_SETS = ("US-ASCII", "ISO-8859-1", "UTF-8", "UTF-16BE", "UTF-16LE", "UTF-16", "UTF-32")
_FORMATS = ("hex", "base64", "utf-8", "utf8")


def _digest_bits(call: Call) -> str | None:
    return None if call.constant(1) in (0, 224, 256, 384, 512) else "sha2 takes 0, 224, 256, 384 or 512 bits"


def _character_set(call: Call) -> str | None:
    if str(call.constant(1)).upper() not in _CHARACTER_SETS:
        return f"{call.name} takes one of the character sets {', '.join(_CHARACTER_SETS)}"
    return None


def _format(call: Call) -> str | None:
    if len(call.args) > 1 and str(call.constant(1)).lower() not in _FORMATS:
        return f"{call.name} takes one of the formats {', '.join(_FORMATS)}"
    return None


def _table() -> dict[str, Function]:
    return {
        **dict.fromkeys(("md5", "sha", "sha1"), Function(1, 1, "B", STRING)),
        "sha2": Function(2, 2, "BI", STRING, _digest_bits),
        "crc32": Function(1, 1, "B", BIGINT),
        "bitmap_count": Function(1, 1, "Y", BIGINT),
        "hex": Function(1, 1, "s", STRING, growth=times(2)),
        "unhex": Function(1, 1, "s", BINARY),
        "base64": Function(1, 1, "B", STRING, growth=times(1.5)),
        "unbase64": Function(1, 1, "s", BINARY, spelling=as_bytes, fails=True),
        "encode": Function(2, 2, "s", BINARY, _character_set, times(4), as_bytes, fails=True),
        "decode": Function(2, 2, "B", STRING, _character_set, times(3), as_text, fails=True),
        "try_to_binary": Function(1, 2, "s", BINARY, _format),
    }


BINARIES = _table()
