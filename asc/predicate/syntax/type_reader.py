"""The parser of types in casts, and of constant intervals."""

from __future__ import annotations

import re

import pyarrow as pa

from asc.errors import SchemaError
from asc.predicate.syntax import interval
from asc.predicate.syntax.interval_type import CALENDAR, FIELDS, interval_type
from asc.predicate.syntax.literal_reader import LiteralReader
from asc.predicate.syntax.nodes import Node, shortened
from asc.predicate.syntax.tokens import END, NUMBER, QUOTED, RAW_STRING, STRING, WORD
from asc.spark_types import ddl_of_type, decimal_type, fields_of_ddl, simple_type

_TEXTS = ("CHAR", "CHARACTER", "VARCHAR")
_COLLATION = re.compile(
    r"(?:system\.builtin\.)?(?:UTF8_BINARY|UTF8_LCASE|(?:UNICODE|[a-z]{2,3}(?:_[a-z]{4})?(?:_[a-z]{3})?)(?:_[CA][SI])*)",
    re.IGNORECASE,
)
_CONTAINERS = ("ARRAY", "MAP", "STRUCT")


class TypeReader(LiteralReader):
    """A parser of types in casts, and of constant intervals."""

    def _type(self) -> tuple[pa.DataType, str]:
        token = self._token
        if token.word in _CONTAINERS and self._peek().kind == "<":
            return self._container_type()
        if token.word == "INTERVAL":
            return self._interval_type()
        if token.word in _TEXTS:
            # Spark casts to STRING whatever the length
            self._advance()
            self._expect("(")
            self._expect(NUMBER)
            self._expect(")")
            return pa.string(), "STRING"
        name = self._text[token.start : token.end]
        data_type = simple_type(name)
        if token.kind != WORD or data_type is None:
            self._fail("cast to BOOLEAN, a number type, STRING, BINARY, DATE or TIMESTAMP", "cast to unsupported type")
        self._advance()
        if pa.types.is_decimal(data_type) and self._token.kind == "(":
            self._advance()
            precision, scale = self._small_integer(), 0
            if self._token.kind == ",":
                self._advance()
                scale = self._small_integer()
            self._expect(")")
            try:
                data_type = decimal_type(precision, scale)
            except SchemaError as error:
                raise self._source.error(error.subject, error.value, error.remedy, token.start, token.end) from None
        self._no_collation()
        return data_type, ddl_of_type(data_type)

    def _interval_type(self) -> tuple[pa.DataType, str]:
        """Parse INTERVAL, INTERVAL DAY or INTERVAL DAY TO SECOND."""
        start = self._advance().start
        if self._token.word not in FIELDS:
            return CALENDAR, "INTERVAL"
        first = last = self._advance().word
        if self._accept("TO"):
            last = self._expect(WORD).word
        try:
            found = interval_type(first, last)
        except ValueError as error:
            end = self._tokens[self._next - 1].end
            raise self._source.error("interval", self._text[start:end], str(error), start, end) from None
        return found, str(found)

    def _container_type(self) -> tuple[pa.DataType, str]:
        """Parse ``ARRAY<INT>`` and similar types, up to the bracket that closes the type."""
        start, level = self._token.start, 0
        while True:
            token = self._advance()
            level += token.kind.count("<") - token.kind.count(">")
            if token.kind == END or token.kind in ("<=>", ">=", "->", "<>"):
                self._fail("write ARRAY<INT>, MAP<STRING, INT> or STRUCT<a: INT>", "type:")
            if level <= 0 and ">" in token.kind:
                break
        try:
            (field,) = fields_of_ddl(f"c {self._text[start : token.end]}")
        except SchemaError as error:
            raise self._source.error(error.subject, error.value, error.remedy, start, token.end) from None
        return field.type, ddl_of_type(field.type)

    def _small_integer(self) -> int:
        token = self._expect(NUMBER)
        text = self._text[token.start : token.end]
        return int(text) if text.isdecimal() and len(text) <= 4 else 99

    def _no_collation(self) -> None:
        if self._token.word == "COLLATE" and self._peek().kind == WORD:
            self._fail("write CAST(value AS STRING) COLLATE name", "collation in a cast is not supported:")

    def _collation(self) -> str:
        """Parse the name of a collation. Return the name as the user wrote it."""
        start = self._token.start
        end = self._advance_name()
        while self._token.kind == ".":
            self._advance()
            end = self._advance_name()
        name = self._text[start:end]
        self._check_collation(name.replace("`", ""), start, end)
        return name

    def _advance_name(self) -> int:
        if self._token.kind not in (WORD, QUOTED):
            self._fail("after COLLATE comes the name of a collation: UTF8_LCASE, UNICODE_CI, ...")
        return self._advance().end

    def _check_collation(self, name: str, start: int, end: int) -> None:
        if not _COLLATION.fullmatch(name):
            remedy = "write one such as UTF8_LCASE, UNICODE_CI or DE_AI"
            raise self._source.error("unknown collation", shortened(name), remedy, start, end)

    def _at_interval(self) -> bool:
        """Return whether the word INTERVAL at the current position begins a constant, and is not a column."""
        return self._peek().kind in (STRING, RAW_STRING) or self._at_quantity(1)

    def _at_quantity(self, offset: int) -> bool:
        """Return whether a quantity of an interval, such as ``1 DAY`` or ``'1' DAY``, begins ``offset`` tokens after
        the current one.
        """
        tokens, place = self._tokens, self._next + offset
        if tokens[place].kind in ("+", "-"):
            place += 1
        if tokens[place].kind not in (NUMBER, STRING, RAW_STRING):
            return False
        return tokens[place + 1].word in interval.UNITS

    def _interval(self) -> Node:
        start = self._advance().start
        parts: list[tuple[str, str]] = []
        try:
            if self._token.kind in (STRING, RAW_STRING) and not self._at_quantity(0):
                text: str = self._string().value.value
                return self._node("interval", (), start, interval.of_words(text))
            while self._at_quantity(0):
                sign = self._advance().kind if self._token.kind in ("+", "-") else ""
                text = self._quantity()
                unit = self._advance().word
                if self._token.word == "TO" and not parts:
                    self._advance()
                    last = self._expect(WORD).word
                    return self._node("interval", (), start, interval.of_range(text, unit, last, sign == "-"))
                parts.append((interval.signed(text, sign), unit))
            return self._node("interval", (), start, interval.of_units(parts))
        except ValueError as error:
            end = self._tokens[self._next - 1].end
            raise self._source.error("interval", shortened(self._text[start:end]), str(error), start, end) from None

    def _quantity(self) -> str:
        if self._token.kind != NUMBER:
            text: str = self._string().value.value
            return text
        token = self._advance()
        return self._text[token.start : token.end]
