"""JSON records: one object each, as Spark's ``from_json`` reads it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any

from broker.formats.plain_text import plain_text
from broker.formats.record_format import Encoder
from broker.formats.spelling import respelling
from broker.formats.text_format import TextFormat

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column

    from asc.schema import Schema

_JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


class Json(TextFormat):
    """A JSON object a record; nested fields are structs, arrays and maps."""

    name = "json"
    is_lines_of = "ndjson"
    own_options = (
        *("allowComments", "allowUnquotedFieldNames", "allowSingleQuotes", "allowNumericLeadingZeros"),
        *("allowNonNumericNumbers", "allowBackslashEscapingAnyCharacter", "allowUnquotedControlChars"),
        "primitivesAsString",
    )

    def parsed_text(self, text: Column, ddl: str, options: Mapping[str, str]) -> Column:
        """See :class:`RecordFormat`."""
        from pyspark.sql import functions as sf

        return sf.from_json(text, ddl, dict(options))

    def sample(self, names: Sequence[str], options: Mapping[str, str]) -> bytes:
        """See :class:`RecordFormat`."""
        return json.dumps(dict.fromkeys(names, "1")).encode()

    def encoder(self, schema: Schema) -> Encoder:
        """See :class:`RecordFormat`."""
        respelled = respelling(schema)
        return lambda row: json_text(respelled(row)).encode()

    def encoder_of_texts(self, schema: Schema) -> Encoder:
        """Numbers and booleans are written by the schema's types, everything else as strings."""
        literal_of = {field.name: _literal_for(field.type) for field in schema.arrow}
        respelled = respelling(schema)

        def encode(row: Mapping[str, str | None]) -> bytes:
            members = (
                f"{_quoted(name)}:{'null' if text is None else literal_of.get(name, _quoted)(text)}"
                for name, text in respelled(row).items()
            )
            return f"{{{','.join(members)}}}".encode()

        return encode


def json_text(value: Any) -> str:
    """A value of Python or Arrow as Spark reads JSON: decimals with all digits, times in ISO 8601, bytes in base64.

    >>> from datetime import date
    >>> json_text({"price": Decimal("1.10"), "at": date(2013, 1, 31), "raw": b"abc", "bad": float("nan"), "none": None})
    '{"price":1.10,"at":"2013-01-31","raw":"YWJj","bad":"NaN","none":null}'
    """
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{_quoted(str(name))}:{json_text(item)}' for name, item in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(json_text, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return _quoted(plain_text(value))
    if value is None or isinstance(value, (bool, int, float)):
        return json.dumps(value)
    if isinstance(value, Decimal):
        return plain_text(value)
    return _quoted(plain_text(value))


def _literal_for(data_type: pa.DataType) -> Callable[[str], str]:
    import pyarrow as pa

    types = pa.types
    if types.is_integer(data_type) or types.is_floating(data_type) or types.is_decimal(data_type):
        return lambda text: text if _JSON_NUMBER.fullmatch(text) else _quoted(text)
    if types.is_boolean(data_type):
        return lambda text: text.lower() if text.lower() in ("true", "false") else _quoted(text)
    if types.is_nested(data_type):
        return _nested
    return _quoted


def _nested(text: str) -> str:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return _quoted(text)
    return text


def _quoted(text: str) -> str:
    # What json.dumps(text, ensure_ascii=False) does, without making an encoder for every field of every row.
    return encode_basestring(text)
