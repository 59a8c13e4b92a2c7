"""Fuzzing of the predicate parser. For any text, the parser must return a normal form, or refuse the text with a
message in one line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis.strategies import SearchStrategy

from asc.errors import AscError, PredicateError
from asc.plan.compiler import compile_plan
from asc.plan.plan import Query
from asc.predicate import normalise
from asc.predicate.normal_form.describe import describe, plain_form
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.predicate.normal_form.plain_reader import PlainReader
from asc.schema import Schema
from tools.fuzz.predicate_texts import DDL, texts
from tools.fuzz.target import Target, Violation

if TYPE_CHECKING:
    from typing_extensions import Self


class ParserTarget(Target):
    """Target whose inputs are texts in UTF-8, lone surrogates included.

    Invariant: a text is either parsed, and the result can be compiled and printed, or it is refused with one line and a
    position in the text. If the reader of plain conjunctions accepts it, both parsers give the same result.
    """

    name = "parser"
    input_s = 5.0
    growth_mb = 64

    def __init__(self) -> None:
        self._schema = Schema.from_ddl(DDL)
        self._plain = PlainReader(self._schema)

    def __enter__(self) -> Self:
        # Numba compiles kernels on first use. This time must not count for an input.
        for text in ("n > 5 AND city = 'Oslo'", "s LIKE '%a%b' OR d < 1.5", "flag"):
            self.check(text.encode())
        return self

    def inputs(self) -> SearchStrategy[bytes]:
        """See :class:`Target`."""
        return texts().map(encoded)

    def check(self, given: bytes) -> None:
        """See :class:`Target`."""
        text = decoded(given)
        found = outcome(text, self._schema)
        plain = self._plain.predicate(text)
        if plain is not None and plain != found:
            raise Violation(f"the plain reader reads {plain}, the parser {found}")
        if isinstance(found, Predicate):
            self._check_read(found)

    def _check_read(self, predicate: Predicate) -> None:
        describe(predicate)
        plain_form(predicate)
        try:
            plan = compile_plan([Query("q", predicate)])
        except AscError as error:
            check_line(error)
            return
        if len(plan) != 1:
            raise Violation(f"compiled into {len(plan)} queries")


def outcome(text: str, schema: Schema) -> Predicate | PredicateError:
    """Return the predicate that the parser returns, or its refusal. Raise Violation if a refusal is not well-formed."""
    try:
        return normalise(text, schema)
    except PredicateError as error:
        check_line(error)
        if error.start is not None and not 0 <= error.start <= len(text):
            raise Violation(f"refused at {error.start}, outside the text") from error
        if error.caret().count("\n") > 1:
            raise Violation("the place of the refusal is more than a line") from error
        return error


def check_line(error: AscError) -> None:
    """Raise Violation if a part of an error has a line break, or if the error has no remedy. The text of the error is
    not checked, because it hides line breaks of its parts.
    """
    line = f"{error.subject}: {error.remedy}"
    if len(line.splitlines()) != 1 or not error.remedy:
        raise Violation(f"refused with {len(line.splitlines())} lines: {line!r}") from error


def encoded(text: str) -> bytes:
    """Return a text as the bytes of an input."""
    return text.encode("utf-8", "surrogatepass")


def decoded(given: bytes) -> str:
    """Return the text that the bytes of an input encode. Any bytes are accepted, even if they are not valid UTF-8."""
    try:
        return given.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return given.decode("utf-8", "replace")
