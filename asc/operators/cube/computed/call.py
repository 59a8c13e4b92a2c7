"""The parser of calls of computed dimensions, such as ``geohash(lat, lon, 10 > 15) AS geo``."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import NoReturn

from asc.errors import CubeError, PredicateError
from asc.predicate.syntax.nodes import Source
from asc.predicate.syntax.tokens import END, WORD, tokens_of

_BEGIN = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*\(", re.ASCII)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
NAME_CHARS_MAX = 64
"""The largest number of characters of the name of a computed dimension."""


@dataclass(frozen=True, slots=True)
class Call:
    """A parsed call of a function, with the name after AS.

    ``text``: the whole text, for errors. ``function``: the name of the function in lower case. ``arguments``: the texts
    between the commas that are outside inner brackets. ``name``: the name after AS; None without AS.
    """

    text: str
    function: str
    arguments: tuple[str, ...]
    name: str | None

    @staticmethod
    def parse(text: str, functions: Collection[str]) -> Call | None:
        """Return the call of one of ``functions``. Return None if the text does not begin with such a function and a
        parenthesis. Raise CubeError if it begins so, but is no valid call.

        >>> Call.parse("geohash(lat, lon, 10 > 15) AS geo", ["geohash"]).arguments
        ('lat', 'lon', '10 > 15')
        """
        begin = _BEGIN.match(text)
        if begin is None or begin[1].lower() not in functions:
            return None
        return _Reader(text, begin[1].lower()).call()

    def fail(self, remedy: str) -> NoReturn:
        """Raise the error for this dimension."""
        raise CubeError("dimension", self.text, remedy)


class _Reader:
    """A parser of one call, which begins with the name of a function and a parenthesis."""

    def __init__(self, text: str, function: str) -> None:
        self._text, self._function = text.strip(), function
        try:
            self._tokens = tokens_of(Source(self._text))
        except PredicateError as error:
            raise CubeError("dimension", text, f"{error.subject} {str(error.value)!r}: {error.remedy}") from None

    def call(self) -> Call:
        """Return the call. Raise CubeError if text follows the call."""
        arguments, place = self._arguments()
        name = None
        if self._tokens[place].word == "AS":
            name = self._name(place + 1)
            place += 2
        if self._tokens[place].kind != END:
            self._fail(f"goes on after its parenthesis: write {self._function}(...) AS name, as a dimension of its own")
        return Call(self._text, self._function, arguments, name)

    def _arguments(self) -> tuple[tuple[str, ...], int]:
        """Return the texts of the arguments, and the index of the token after the closing parenthesis."""
        depth, texts = 0, list[str]()
        start = end = self._tokens[2].start
        for place, token in enumerate(self._tokens[2:], 2):
            if token.kind == END:
                break
            if not depth and token.kind in (")", ","):
                texts.append(self._text[start:end])
                start = end = self._tokens[place + 1].start
                if token.kind == ")":
                    return tuple(texts), place + 1
                continue
            depth += (token.kind in ("(", "[")) - (token.kind in (")", "]"))
            end = token.end
        return self._fail("has a parenthesis that is not closed: close it")

    def _name(self, place: int) -> str:
        token = self._tokens[place]
        name = self._text[token.start : token.end]
        if token.kind != WORD or _NAME.fullmatch(name) is None or len(name) > NAME_CHARS_MAX:
            self._fail(f"has no name after AS: write letters, digits and _, at most {NAME_CHARS_MAX}, as geo")
        return name

    def _fail(self, remedy: str) -> NoReturn:
        raise CubeError("dimension", self._text, remedy)
