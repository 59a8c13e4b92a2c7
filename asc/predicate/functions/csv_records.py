"""Functions that read and write CSV."""

from __future__ import annotations

import re

import pyarrow as pa

from asc.keys.byte_strings import quoted
from asc.predicate.expressions import types
from asc.predicate.functions.checks import constant_string, every
from asc.predicate.functions.document_schema import HELD, record_type
from asc.predicate.functions.function import Call, Function
from asc.predicate.functions.growth import times
from asc.predicate.functions.options import CSV_INFERRED, CSV_READ, CSV_WRITTEN, options, options_of
from asc.predicate.functions.results import STRING
from asc.predicate.functions.try_spellings import as_text

_MAX_COLUMNS = 20_000
"""The maximum number of columns of a CSV text that is parsed. Spark throws for slightly more."""
_MAX_CSV_CHARS = 2_000


def _fields(call: Call) -> pa.DataType | None:
    kind = record_type(call)
    if kind is None or not pa.types.is_struct(kind):
        return None
    return kind if all(_is_single(field.type) for field in kind) else None


def _is_single(kind: pa.DataType | None) -> bool:
    return kind is not None and not types.is_container(kind) and not types.is_interval(kind) and kind != pa.binary()


def _schema(call: Call) -> str | None:
    if _fields(call) is None:
        return f"the schema given to from_csv must be a constant such as 'a INT, b STRING', of {HELD}"
    return None


def _read(call: Call) -> str:
    given = options_of(call, 2) or {}
    separator = given.get("sep", given.get("delimiter", ","))
    record, *others = (arg.sql for arg in call.args)
    return f"from_csv({', '.join([f'substring_index({record}, {quoted(separator)}, {_MAX_COLUMNS})', *others])})"


def _writable(call: Call) -> str | None:
    kind = call.type(0)
    if kind is None or not pa.types.is_struct(kind) or not all(_is_single(field.type) for field in kind):
        return f"to_csv of {types.name(kind)}: it takes structs of {HELD}"
    if kind.num_fields < 2:
        return "to_csv of one field: where that is NULL, what Spark gives is neither a text nor NULL"
    return None


def _not_blank(call: Call) -> str | None:
    """Return the reason for refusing a constant text that is empty, or that begins with whitespace or NUL; else None.

    For such a text Spark fails when it plans the query.
    """
    text = call.constant(0)
    if isinstance(text, str) and not re.match(r"[^\s\x00]", text):
        return f"the text given to {call.name} must begin with a record"
    return None


def _table() -> dict[str, Function]:
    read = every(_schema, options(2, CSV_READ, parses=True))
    write = every(_writable, options(1, CSV_WRITTEN, parses=False))
    infer = every(constant_string(0, "text", _MAX_CSV_CHARS), _not_blank, options(1, CSV_INFERRED, parses=True))
    return {
        "from_csv": Function(2, 3, "SSm", _fields, read, times(4), _read),
        "to_csv": Function(1, 2, "xm", STRING, write, times(8), as_text),
        "schema_of_csv": Function(1, 2, "Sm", STRING, infer, spelling=as_text, fails=True),
    }


CSV_RECORDS = _table()
