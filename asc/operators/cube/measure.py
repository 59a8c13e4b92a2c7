"""Measures of cubes, ``f(argument) [FILTER (WHERE predicate)] [AS name]``: their parser and their text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from asc.errors import CubeError, PredicateError
from asc.operators.cube.aggregates import FUNCTIONS, OF_TWO_COLUMNS, SIMPLE
from asc.predicate.syntax.nodes import Source
from asc.predicate.syntax.tokens import END, QUOTED, WORD, Token, tokens_of

_LENGTH_CHARS_MAX = 20_000
"""The most characters of the text of one measure, as many as a predicate may have."""

_FORM = (
    f"write f(x), f(x) FILTER (WHERE p) or f(x) AS name, f being one of {', '.join(SIMPLE)}, var_*, stddev_*, or of "
    "two columns covar_*, corr, regr_*"
)
_TWO = "give two expressions, as in {function}(y, x)"


@dataclass(frozen=True, slots=True)
class Measure:
    """An aggregate of the records of a cell.

    ``argument``: the expression over a record, as the user wrote it; None for ``count(*)``. ``where``: the predicate of
    FILTER; None if there is no FILTER. ``name``: the name after AS; without AS, the text of the measure.
    ``second``: the second argument of a function of two.
    """

    function: str
    argument: str | None
    where: str | None
    name: str
    second: str | None = None

    @staticmethod
    def parse(text: object) -> Measure:
        """Return the measure that a text describes. Raise CubeError if the text is not a measure.

        >>> Measure.parse("sum(arr_delay) FILTER (WHERE arr_delay > 0) AS delay")
        Measure(function='sum', argument='arr_delay', where='arr_delay > 0', name='delay', second=None)
        >>> Measure.parse("count( * )").name
        'count(*)'
        """
        if not isinstance(text, str) or not text.strip() or len(text) > _LENGTH_CHARS_MAX:
            raise CubeError("measure", text, f"{_FORM}, of at most {_LENGTH_CHARS_MAX:,} characters")
        try:
            text.encode()
        except UnicodeEncodeError:
            shown = text.encode("utf-8", "replace").decode()
            raise CubeError("measure", shown, "holds half of a surrogate pair: write whole characters") from None
        return _Reader(text).measure()

    @property
    def expression(self) -> str | None:
        """Return the SQL over a record whose values the measure aggregates. Return None if the measure counts records.

        >>> Measure.parse("count(*) FILTER (WHERE delay > 0)").expression
        'CASE WHEN (delay > 0) THEN 1 END'
        """
        return self._filtered(self.argument)

    @property
    def second_expression(self) -> str | None:
        """Return the SQL over a record of the second argument's values. Return None if there is no second argument.

        >>> Measure.parse("corr(y, x) FILTER (WHERE delay > 0)").second_expression
        'CASE WHEN (delay > 0) THEN x END'
        """
        return None if self.second is None else self._filtered(self.second)

    def _filtered(self, argument: str | None) -> str | None:
        if self.where is None:
            return argument
        return f"CASE WHEN ({self.where}) THEN {'1' if argument is None else argument} END"

    @property
    def call(self) -> str:
        """Return the measure as text, without its name."""
        arguments = "*" if self.argument is None else self.argument
        if self.second is not None:
            arguments = f"{arguments}, {self.second}"
        call = f"{self.function}({arguments})"
        return call if self.where is None else f"{call} FILTER (WHERE {self.where})"

    @property
    def text(self) -> str:
        """Return the measure as text that :meth:`parse` accepts."""
        return self.call if self.name == self.call else f"{self.call} AS `{self.name.replace('`', '``')}`"


class _Reader:
    """A parser of one measure: its tokens, and the current position in them."""

    def __init__(self, text: str) -> None:
        self._text = text
        try:
            self._tokens = tokens_of(Source(text))
        except PredicateError as error:
            raise CubeError("measure", text, f"{error.subject} {str(error.value)!r}: {error.remedy}") from None
        self._next = 0

    def measure(self) -> Measure:
        """Return the measure of the whole text."""
        function = self._function()
        argument, second = self._arguments(function)
        where = self._where()
        own = Measure(function, argument, where, "", second)
        name = self._name() or own.call
        if self._token.kind != END:
            self._fail(f"has {self._raw(self._token)!r} where it should end: {_FORM}")
        return Measure(function, argument, where, name, second)

    def _function(self) -> str:
        token = self._advance()
        name = self._raw(token).lower()
        if token.kind != WORD or self._token.kind != "(":
            self._fail(f"is no call of a function: {_FORM}")
        if name not in FUNCTIONS:
            self._fail(f"has the function {name!r}, which is none of a cube: {_FORM}")
        return name

    def _arguments(self, function: str) -> tuple[str | None, str | None]:
        """Return the one or two arguments of a function; None for ``*`` and for no second argument."""
        self._advance()
        if self._token.word in ("DISTINCT", "ALL"):
            self._fail("counts different values, which a cube does not keep: leave DISTINCT out")
        arguments = self._to_closing()
        if not all(arguments):
            self._fail("has no argument: give an expression, or * to count records")
        if "*" in arguments and (function != "count" or len(arguments) > 1):
            self._fail("takes the values of an expression: * goes with count alone")
        if function in OF_TWO_COLUMNS:
            if len(arguments) != 2:
                number = "one argument" if len(arguments) == 1 else f"{len(arguments)} arguments"
                self._fail(f"has {number}: {_TWO.format(function=function)}")
            return arguments[0], arguments[1]
        if len(arguments) > 1:
            self._fail("has several arguments: give one expression")
        return None if arguments[0] == "*" else arguments[0], None

    def _where(self) -> str | None:
        if self._token.word != "FILTER":
            return None
        self._advance()
        if self._token.kind != "(" or self._tokens[self._next + 1].word != "WHERE":
            self._fail("has an unreadable FILTER: write FILTER (WHERE predicate)")
        self._advance()
        self._advance()
        where = self._to_closing(is_list=False)[0]
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

    def _to_closing(self, *, is_list: bool = True) -> list[str]:
        """Return the texts between commas outside brackets, up to the closing parenthesis. Without ``is_list``, return
        one text with all commas.

        Each text ends with its last token, because a comment at its end would hide what is appended to it.
        """
        start, end = self._token.start, self._token.start
        depth = 0
        texts: list[str] = []
        while self._token.kind != END:
            token = self._advance()
            if token.kind in ("(", "["):
                depth += 1
            elif token.kind in (")", "]"):
                if not depth:
                    return [*texts, self._text[start:end]]
                depth -= 1
            elif token.kind == "," and not depth and is_list:
                texts.append(self._text[start:end])
                start = end = self._token.start
                continue
            end = token.end
        return self._fail("has a parenthesis that is not closed: close it")

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
        raise CubeError("measure", self._text, remedy)
