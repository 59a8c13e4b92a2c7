"""Calls in the texts of measures, ``f(arguments) [FILTER (WHERE predicate)] [AS name]``, and the parser of calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NoReturn, TypeAlias

from asc.errors import CubeError, PredicateError
from asc.predicate.syntax import literal
from asc.predicate.syntax.nodes import Source
from asc.predicate.syntax.tokens import END, NUMBER, QUOTED, STRING, WORD, Token, tokens_of
from asc.spark_types import folded

CHARS_MAX = 20_000
"""The largest number of characters of the text of one measure, equal to that of a predicate."""

SUBJECT = "measure"
"""The subject of the errors about calls."""

Constant: TypeAlias = bool | int | float | str
"""The value of a literal in a call: a number, a text or a boolean."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a call: its text, and its value if it is a literal. ``constant``: None for an expression."""

    text: str
    constant: Constant | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function, as a user wrote it.

    ``text``: the whole text, for errors. ``function``: the name in lower case. ``where``: the predicate of FILTER; None
    if there is no FILTER. ``name``: the name after AS; None without AS.
    """

    text: str
    function: str
    arguments: tuple[Argument, ...]
    where: str | None = None
    name: str | None = None

    def fail(self, remedy: str) -> NoReturn:
        """Raise CubeError for an invalid call. ``remedy``: the fault and the remedy, which follow the text
        of the call.
        """
        raise CubeError(SUBJECT, self.text, remedy)


def call_of(text: object, form: str) -> Call:
    """Return the call in a text. Raise CubeError if the text is no call. ``form``: the remedy, which describes valid
    calls.

    >>> call_of("quantile( temp, .5 ) AS middle", "write f(x)").arguments
    (Argument(text='temp', constant=None), Argument(text='.5', constant=0.5))
    """
    if not isinstance(text, str) or not text.strip():
        raise CubeError(SUBJECT, text, form)
    if len(text) > CHARS_MAX:
        raise CubeError(SUBJECT, text, f"is too long: write a text of at most {CHARS_MAX:,} characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        shown = text.encode("utf-8", "replace").decode()
        raise CubeError(SUBJECT, shown, "holds half of a surrogate pair: write whole characters") from None
    return _Reader(text, form).call()


def spelling(text: str) -> tuple[str, ...]:
    """Return the tokens of an expression. Two expressions have equal tokens if they differ only in white space,
    comments or the case of names.

    >>> spelling("Temp +1") == spelling("temp + 1"), spelling("'A'") == spelling("'a'")
    (True, False)
    """
    tokens = [token for token in tokens_of(Source(text)) if token.kind != END]
    parts = ((token.kind, text[token.start : token.end]) for token in tokens)
    return tuple(folded(part) if kind in (WORD, QUOTED) else part for kind, part in parts)


def constant_text(value: Constant) -> str:
    """Return the literal of a constant.

    >>> [constant_text(value) for value in (400, 0.5, True, "/a")]
    ['400', '0.5', 'true', "'/a'"]
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    return repr(value)


class _Reader:
    """A parser of one call: its tokens, and the current position in them."""

    def __init__(self, text: str, form: str) -> None:
        self._text = text
        self._form = form
        try:
            self._tokens = tokens_of(Source(text))
        except PredicateError as error:
            raise CubeError(SUBJECT, text, f"{error.subject} {str(error.value)!r}: {error.remedy}") from None
        self._next = 0

    def call(self) -> Call:
        """Return the call. Raise CubeError if the text does not end after the call."""
        function = self._function()
        if self._token.word in ("DISTINCT", "ALL"):
            remedy = "write distinct(x), an estimate, or leave DISTINCT out"
            self._fail(f"counts different values, which a cube does not keep: {remedy}")
        arguments = tuple(self._to_closing())
        where = self._where()
        name = self._name()
        if self._token.kind != END:
            self._fail(f"has {self._raw(self._token)!r} where it should end: {self._form}")
        return Call(self._text, function, arguments, where, name)

    def _function(self) -> str:
        token = self._advance()
        if token.kind != WORD or self._token.kind != "(":
            self._fail(f"is no call of a function: {self._form}")
        self._advance()
        return self._raw(token).lower()

    def _where(self) -> str | None:
        if self._token.word != "FILTER":
            return None
        self._advance()
        if self._token.kind != "(" or self._tokens[self._next + 1].word != "WHERE":
            self._fail("has an unreadable FILTER: write FILTER (WHERE predicate)")
        self._advance()
        self._advance()
        where = self._to_closing(is_list=False)[0].text
        if not where:
            self._fail("has no predicate after WHERE: write FILTER (WHERE predicate)")
        return where

    def _name(self) -> str | None:
        if self._token.word != "AS":
            return None
        self._advance()
        token = self._advance()
        raw = self._raw(token)
        if token.kind == QUOTED:
            return raw[1:-1].replace("``", "`")
        if token.kind != WORD:
            self._fail("has no name after AS: write a word, or any text in backquotes")
        return raw

    def _to_closing(self, *, is_list: bool = True) -> list[Argument]:
        """Return the arguments up to the closing parenthesis. Commas outside inner brackets separate them. Without
        ``is_list``, commas do not separate, and the result is one argument.

        The text of an argument ends with its last token. A comment after the token is dropped, because it would hide
        text that is appended to the argument.
        """
        depth = 0
        arguments: list[Argument] = []
        tokens: list[Token] = []
        while self._token.kind != END:
            token = self._advance()
            if token.kind in ("(", "["):
                depth += 1
            elif token.kind in (")", "]"):
                if not depth:
                    return [*arguments, self._argument(tokens)]
                depth -= 1
            elif token.kind == "," and not depth and is_list:
                arguments.append(self._argument(tokens))
                tokens = []
                continue
            tokens.append(token)
        return self._fail("has a parenthesis that is not closed: close it")

    def _argument(self, tokens: Sequence[Token]) -> Argument:
        if not tokens:
            return Argument("")
        text = self._text[tokens[0].start : tokens[-1].end]
        sign = tokens[0].kind if len(tokens) == 2 and tokens[0].kind in ("-", "+") else ""
        last = tokens[-1]
        raw = self._raw(last)
        if last.kind == NUMBER and (len(tokens) == 1 or sign):
            return Argument(text, self._number("-" * (sign == "-") + raw))
        if len(tokens) > 1:
            return Argument(text)
        if last.kind == STRING:
            return Argument(text, literal.string(raw))
        return Argument(text, last.word == "TRUE" if last.word in ("TRUE", "FALSE") else None)

    def _number(self, raw: str) -> int | float:
        try:
            value = literal.number(raw).value
        except ValueError as error:
            self._fail(f"has the number {raw}, {error}: write a smaller one")
        is_whole = isinstance(value, int) or (isinstance(value, Decimal) and value.as_tuple().exponent == 0)
        return int(value) if is_whole else float(value)

    @property
    def _token(self) -> Token:
        return self._tokens[self._next]

    def _advance(self) -> Token:
        token = self._token
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def _raw(self, token: Token) -> str:
        return self._text[token.start : token.end]

    def _fail(self, remedy: str) -> NoReturn:
        raise CubeError(SUBJECT, self._text, remedy)
