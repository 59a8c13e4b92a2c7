"""The parser of literals; its errors point at the literal in the text."""

from __future__ import annotations

import pyarrow as pa

from asc.keys.byte_strings import quoted
from asc.predicate.limits import Limits
from asc.predicate.syntax.literal import (
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Literal,
    date,
    is_never_date,
    is_never_timestamp,
    is_off_calendar,
    is_time_word,
    number,
    string,
    timestamp,
)
from asc.predicate.syntax.nodes import Node, Source, shortened
from asc.predicate.syntax.reader import TokenReader
from asc.predicate.syntax.tokens import RAW_STRING, STRING, Token


class LiteralReader(TokenReader):
    """A parser of numbers, strings, dates, timestamps and binaries. Timestamps are local times in ``time_zone``."""

    def __init__(self, source: Source, limits: Limits, time_zone: str) -> None:
        super().__init__(source, limits)
        self._time_zone = time_zone

    def _number(self) -> Node:
        start = self._token.start
        sign = "-" if self._advance().kind == "-" else ""
        token = self._advance() if sign else self._tokens[self._next - 1]
        try:
            literal = number(sign + self._text[token.start : token.end])
        except (ValueError, ArithmeticError) as error:
            raise self._source.error(
                "number", shortened(self._text[start : token.end]), str(error), start, token.end
            ) from None
        return self._node("literal", (), start, literal)

    def _string(self) -> Node:
        start = self._token.start
        parts: list[str] = []
        previous: Token | None = None
        doubled = False
        while self._token.kind in (STRING, RAW_STRING):
            token = self._advance()
            raw = self._text[token.start : token.end]
            doubled |= previous is not None and previous.end == token.start and self._text[token.start] in "'\""
            try:
                parts.append(string(raw))
            except (ValueError, OverflowError):
                raise self._source.error(
                    "string", shortened(raw), "no such character", token.start, token.end
                ) from None
            previous = token
        value = "".join(parts)
        if doubled:
            written = shortened(self._text[start : previous.end if previous else start])
            warning = f"{written} is read as {quoted(shortened(value))}, strings joined: a quote inside of one is \\'"
            self._source.warnings[warning] = None
        known = value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value)
        if not known:
            raise self._source.error(
                "string", shortened(self._text[start : start + 60]), "half a surrogate pair", start, start + 1
            )
        return self._node("literal", (), start, Literal(quoted(value), pa.string(), value))

    def _instant(self, word: str) -> Node:
        start = self._advance().start
        text: str = self._string().value.value
        end = self._tokens[self._next - 1].end
        if is_time_word(text):
            raise self._source.error("time word", text, "write the date or time itself", start, end)
        if is_off_calendar(text):
            raise self._source.error(f"{word} literal", text, "no calendar has that day", start, end)
        if is_never_date(text) if word == "DATE" else is_never_timestamp(text):
            written = "yyyy-mm-dd" if word == "DATE" else "yyyy-mm-dd hh:mm:ss"
            raise self._source.error(f"{word} literal", shortened(text), f"write {word} '{written}'", start, end)
        sql = f"{word} {quoted(text)}"
        if word == "DATE":
            literal = Literal(sql, pa.date32(), date(text), known=date(text) is not None)
        else:
            ntz = word == "TIMESTAMP_NTZ"
            value = timestamp(text, None if ntz else self._time_zone)
            literal = Literal(sql, TIMESTAMP_NTZ if ntz else TIMESTAMP, value, known=value is not None)
        return self._node("literal", (), start, literal)

    def _hex(self) -> Node:
        token = self._advance()
        digits = self._text[token.start + 2 : token.end - 1]
        value = bytes.fromhex("0" * (len(digits) % 2) + digits)
        return self._node("literal", (), token.start, Literal(f"X'{value.hex().upper()}'", pa.binary(), value))
