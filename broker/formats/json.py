"""JSON records: one object each, as Spark's ``from_json`` reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from asc.spark_types import quoted_name
from broker.formats.plain_text import json_text, quoted
from broker.formats.record_parser import Encoder
from broker.formats.spelling import respelling, spelled
from broker.formats.text_columns import ColumnEncoder, holds_any, joined, mapped, mapped_unless
from broker.formats.text_format import TextFormat

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column

    from asc.schema import Schema

_NUMBER = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?"
_JSON_NUMBER = re.compile(_NUMBER)
_ESCAPED = (*range(0x20), ord('"'), ord("\\"))
"""The characters that a JSON string must escape."""


class Json(TextFormat):
    """One JSON object per record; nested fields are structs, arrays and maps."""

    name = "json"
    is_lines_of = "ndjson"
    own_options = (
        *("allowComments", "allowUnquotedFieldNames", "allowSingleQuotes", "allowNumericLeadingZeros"),
        *("allowNonNumericNumbers", "allowBackslashEscapingAnyCharacter", "allowUnquotedControlChars"),
        *("primitivesAsString", "envelope"),
    )

    def wrong_option(self, option: str, value: str, options: Mapping[str, str]) -> str | None:
        """See :class:`Format`."""
        return "name the member that holds the record, as payload" if option == "envelope" and not value else None

    def parsed_text(self, text: Column, ddl: str, options: Mapping[str, str]) -> Column:
        """See :class:`RecordFormat`."""
        from pyspark.sql import functions as sf

        envelope = options.get("envelope")
        if envelope is not None:
            ddl = f"{quoted_name(envelope)} STRUCT<{ddl}>, {options['columnNameOfCorruptRecord']} STRING"
        return sf.from_json(text, ddl, dict(options))

    def record_in(self, parsed: Column, options: Mapping[str, str]) -> Column:
        """See :class:`RecordFormat`."""
        return parsed.getField(options["envelope"]) if "envelope" in options else parsed

    def misshapen(self, fields: Schema) -> str:
        """See :class:`RecordFormat`."""
        return "it is no JSON object, or not whole"

    def sample(self, names: Sequence[str], options: Mapping[str, str]) -> bytes:
        """See :class:`RecordFormat`."""
        record = dict.fromkeys(names, "1")
        return json.dumps({options["envelope"]: record} if "envelope" in options else record).encode()

    def encoder(self, schema: Schema) -> Encoder:
        """See :class:`RecordFormat`."""
        respelled = respelling(schema)
        return lambda row: json_text(respelled(row)).encode()

    def encoder_of_texts(self, schema: Schema) -> Encoder:
        """Return an encoder of texts: it writes numbers and booleans according to the schema, and everything else as
        strings.
        """
        literal_of = {field.name: _literal_for(field.type) for field in schema.arrow}
        respelled = respelling(schema)

        def encode(row: Mapping[str, str | None]) -> bytes:
            members = (
                f"{quoted(name)}:{'null' if text is None else literal_of.get(name, quoted)(text)}"
                for name, text in respelled(row).items()
            )
            return f"{{{','.join(members)}}}".encode()

        return encode

    def encoder_of_columns(self, schema: Schema, columns: Sequence[str]) -> ColumnEncoder:
        """See :class:`RecordFormat`."""
        types = {field.name: field.type for field in schema.arrow}
        names = spelled(columns, schema)

        def encode(texts: Sequence[pa.Array]) -> pa.Array:
            pieces: list[str | pa.Array] = []
            # The text that is equal in every row, up to the next column.
            between = "{"
            for name, column in zip(names, texts, strict=True):
                before, literal, after = _literals(column, types.get(name))
                pieces += [f"{between}{quoted(name)}:{before}", literal]
                between = f"{after},"
            return joined([*pieces, f"{between.removesuffix(',')}}}"], "null")

        return encode


def _literals(texts: pa.Array, data_type: pa.DataType | None) -> tuple[str, pa.Array, str]:
    """Return the three parts of a column's JSON values: the text before each literal, the literals (NULL for null), and
    the text after each literal. The text before and after may be the quotes of a string.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    types = pa.types
    if data_type is not None:
        if types.is_integer(data_type) or types.is_floating(data_type) or types.is_decimal(data_type):
            plain = pc.match_substring_regex(texts, f"^(?:{_NUMBER})\\z")
            return "", mapped_unless(plain, texts, quoted), ""
        if types.is_boolean(data_type) or types.is_nested(data_type):
            return "", mapped(texts, _literal_for(data_type)), ""
    if holds_any(texts, _ESCAPED):
        plain = pc.invert(pc.match_substring_regex(texts, r'[\x00-\x1f"\\]'))
        texts = mapped_unless(plain, texts, lambda text: quoted(text)[1:-1])
    if texts.null_count:
        return "", pc.binary_join_element_wise('"', texts, '"', ""), ""
    return '"', texts, '"'


def _literal_for(data_type: pa.DataType) -> Callable[[str], str]:
    import pyarrow as pa

    types = pa.types
    if types.is_integer(data_type) or types.is_floating(data_type) or types.is_decimal(data_type):
        return lambda text: text if _JSON_NUMBER.fullmatch(text) else quoted(text)
    if types.is_boolean(data_type):
        return lambda text: text.lower() if text.lower() in ("true", "false") else quoted(text)
    if types.is_nested(data_type):
        return _nested
    return quoted


def _nested(text: str) -> str:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return quoted(text)
    return text
